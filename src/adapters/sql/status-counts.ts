import type { Kysely } from 'kysely';
import { compiledOnce } from './compiled.ts';
import type { Database, StatusCountsTable } from './schema.ts';

const countsOf = compiledOnce((db, { subject }: { subject: StatusCountsTable['subject'] }) =>
  db.selectFrom('status_counts').select(['status', 'count']).where('subject', '=', subject),
);

/** The number of rows with each status. Triggers maintain it, so that no query has to count. */
export async function statusCounts<Status extends string>(
  db: Kysely<Database>,
  subject: StatusCountsTable['subject'],
  statuses: readonly Status[],
): Promise<Record<Status, number>> {
  const { rows } = await countsOf(db, { subject });
  const known = new Map(rows.map(({ status, count }) => [status, count]));
  return Object.fromEntries(statuses.map((status) => [status, known.get(status) ?? 0])) as Record<
    Status,
    number
  >;
}
