import { vacuumed } from '../../messages/cli.ts';
import type { Context, DatabaseOption, Said } from './context.ts';

/** Writes the database file anew without its free pages, and so that retention can give room back from then on. */
export async function dbVacuum({ tools }: Context, { database }: DatabaseOption): Promise<Said> {
  const done = await tools.vacuum(database);
  return { text: vacuumed(done), json: done };
}
