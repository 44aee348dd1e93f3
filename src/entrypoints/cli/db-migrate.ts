import { migrated } from '../../messages/cli.ts';
import type { Context, DatabaseOption, Said } from './context.ts';

export async function dbMigrate({ tools }: Context, { database }: DatabaseOption): Promise<Said> {
  const done = await tools.migrate(database);
  return { text: migrated(done), json: done };
}
