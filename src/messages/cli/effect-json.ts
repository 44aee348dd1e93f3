import type { Effect } from '../../domain/effect/effect.ts';

/** What would be written, for scripts: the effect without the installation, which is the app's own. */
export function effectJson({ installation_id: _, ...effect }: Effect): Omit<Effect, 'installation_id'> {
  return effect;
}
