import { CountersignError } from '../../core/errors.ts';
import type { Approval } from '../../domain/policy/approval.ts';
import type { RunState } from '../../domain/run/run.ts';
import { unknownRun } from '../../messages/cli/cli.ts';
import type { ReadTx } from '../../ports/storage.ts';

/**
 * A run with its newest approval.
 * @throws CountersignError `cli.unknown_run` if there is no run with this id
 */
export async function findRun(
  read: ReadTx,
  id: string,
): Promise<{ state: RunState; approval: Approval | null }> {
  const state = await read.runs.load(id);
  if (!state) throw new CountersignError('cli.unknown_run', unknownRun(id));
  return { state, approval: (await read.approvals.ofRun(id)).at(-1) ?? null };
}
