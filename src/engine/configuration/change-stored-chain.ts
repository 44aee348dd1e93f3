import { timeSortedIds } from '../../core/ids.ts';
import { type AuditEntry, type AuditedVerb, aboutNothing } from '../../domain/audit/entry.ts';
import type { ChainStatus, StoredChain } from '../../domain/chain/stored.ts';
import type { Actor } from '../../domain/run/actor.ts';
import type { Queue } from '../../ports/queue.ts';
import type { Tx } from '../../ports/storage.ts';

/** What an operator does to give a chain a status. */
export const STATUS_VERBS = {
  active: 'resume',
  paused: 'pause',
  disabled: 'disable',
} as const satisfies Record<ChainStatus, AuditedVerb>;

/** Who asks, and how. */
export interface AskedBy {
  by: Actor;
  via: Extract<AuditEntry, { kind: 'command.carried_out' }>['via'];
}

/** Otherwise the app learns of the schedule, or of its end, with its hourly comparison. */
const MAY_HAVE_SCHEDULE = /\bschedule\b/;

/** Changes what is stored about a chain in one place, and has the app read it again. */
export async function changeStoredChain(
  tx: Tx,
  queue: Pick<Queue, 'enqueue'>,
  { owner, repository, name }: Pick<StoredChain, 'owner' | 'repository' | 'name'>,
  {
    verb,
    change,
    now,
    by,
    via,
  }: AskedBy & { verb: AuditedVerb; change: (row: StoredChain) => StoredChain; now: Date },
): Promise<StoredChain> {
  const same = (one: string | null, other: string | null) => one?.toLowerCase() === other?.toLowerCase();
  const found = (await tx.chains.all()).find(
    (row) => row.name === name && same(row.owner, owner) && same(row.repository, repository),
  );
  const id = timeSortedIds(() => now).next('chn');
  const fresh: StoredChain = {
    id,
    owner,
    repository,
    name,
    definition: null,
    status: 'active',
    createdAt: now,
    updatedAt: now,
  };
  const row = { ...change(found ?? fresh), updatedAt: now };
  await tx.chains.put(row);
  // The app keeps the rows in memory.
  const schedules =
    verb === 'resume' || [found, row].some((one) => MAY_HAVE_SCHEDULE.test(one?.definition ?? ''));
  const payload = schedules ? { schedules } : {};
  await queue.enqueue(tx, { kind: 'chains', installationId: null, key: 'chains', payload, runAt: now });
  await tx.audit.record({
    kind: 'command.carried_out',
    ...aboutNothing(by),
    repository: { id: null, name: `${row.owner}/${row.repository ?? '*'}` },
    verb,
    via,
    chain: name,
  });
  return row;
}
