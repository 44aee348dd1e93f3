import { createHash } from 'node:crypto';

/** The trace of something, by its own id. The same before and after a restart, and in each thread. */
export function traceIdOf(kind: 'delivery' | 'run' | 'effect', id: string): string {
  return digest('trace', kind, id).slice(0, 32);
}

/** The span of something, by its own id and what else tells it apart. */
export function spanIdOf(
  kind: 'delivery' | 'run' | 'session' | 'effect' | 'request',
  ...ids: readonly (string | number)[]
): string {
  return digest('span', kind, ...ids).slice(0, 16);
}

/** Never only zeros, which OpenTelemetry forbids, for anything that can be found by chance. */
function digest(...parts: readonly (string | number)[]): string {
  return createHash('sha256').update(JSON.stringify(parts)).digest('hex');
}
