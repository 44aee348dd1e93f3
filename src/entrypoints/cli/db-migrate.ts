import { migrated } from '../../messages/cli/cli.ts';
import { migrationWaits } from '../../messages/cli/process.ts';
import type { Context, DatabaseOption, Output } from './context.ts';

export async function dbMigrate({ tools, progress }: Context, { database }: DatabaseOption): Promise<Output> {
  const done = await tools.migrate(database, (by) => progress(migrationWaits(by)));
  return { text: migrated(done), json: done };
}
