import { vacuumed } from '../../messages/cli/cli.ts';
import type { Context, DatabaseOption, Output } from './context.ts';

/**
 * Rewrites the database file without its free pages. The new file lets retention return free pages from then
 * on.
 */
export async function dbVacuum({ tools }: Context, { database }: DatabaseOption): Promise<Output> {
  const done = await tools.vacuum(database);
  return { text: vacuumed(done), json: done };
}
