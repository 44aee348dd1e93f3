/**
 * The table of commits has a row for each writer, with its last commit that has changed something. Their numbers rise in the order of
 * commits. It says whether anybody else has written, and what became of a commit whose answer was lost (ADR 66).
 */

/** Says which commit is the newest: another text after each, of this process or another. */
export const NEWEST = `SELECT writer || ' ' || own FROM commits ORDER BY number DESC LIMIT 1`;

/** How long the last commit of a writer can matter that does not write any more. */
const OLD_WRITER = '1 day';

/** For a transaction that is none of a storage's: has each process forget the rows that it keeps in memory, and look for changes. */
export const noteCommit = (writer: string) => `
  INSERT INTO commits VALUES ('${writer}', 1, nextval('commit_numbers'), now())
    ON CONFLICT (writer) DO UPDATE SET own = commits.own + 1, number = excluded.number, at = excluded.at;`;

/**
 * The server gives a transaction an id with the first thing that it writes, so one without an id has changed nothing. Nobody has to
 * hear of that: the queue looks for work every second, in each process.
 * https://www.postgresql.org/docs/current/functions-info.html#FUNCTIONS-PG-SNAPSHOT
 */
const HAS_WRITTEN = 'pg_current_xact_id_if_assigned() IS NOT NULL';

/** Inserts a row, or updates it, if the transaction has changed something. @param own the number of the commit among the writer's */
export const noteOwnCommit = (writer: string, own: number) => `
  INSERT INTO commits SELECT '${writer}', ${own}, nextval('commit_numbers'), now() WHERE ${HAS_WRITTEN}
    ON CONFLICT (writer) DO UPDATE SET own = excluded.own, number = excluded.number, at = excluded.at;`;

/** Removes what can matter no more, if the transaction has changed something. */
export const REMOVE_OLD = `DELETE FROM commits WHERE at < now() - interval '${OLD_WRITER}' AND ${HAS_WRITTEN};`;
