import { copiedDatabase, copyProgress } from '../../messages/cli/copy.ts';
import type { Context, Output } from './context.ts';

/** @param to the database of `DATABASE_URL` by default, so that no command line has to contain a password */
export async function dbCopy(
  { tools, status, progress }: Context,
  from: string,
  to: string | undefined,
): Promise<Output> {
  const done = await tools.copyDatabase(from, to, {
    onProgress: (stage, rows, of) => status(copyProgress(stage, rows, of)),
    onWarning: progress,
  });
  const { kind, from: source, to: target, ...facts } = done;
  const json =
    kind === 'copied'
      ? { from: source, to: target, ...facts }
      : { from: source, to: target, finished_at: done.finishedAt };
  return { text: copiedDatabase(done), json };
}
