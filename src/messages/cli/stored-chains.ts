import { z } from 'zod';
import { nearest } from '../../core/diagnostic.ts';
import { CHAIN_STATUSES, type StoredChain } from '../../domain/chain/stored.ts';
import type { Actor } from '../../domain/run/actor.ts';
import { plainLine } from '../../domain/run/explain.ts';
import type { Run } from '../../domain/run/run.ts';
import { utc } from '../text/pretty.ts';
import { PLAIN, type Screen } from '../text/screen.ts';
import { actorInWords } from './history.ts';
import { table } from './table.ts';
import { runList } from './terminal.ts';

export const ONE_PLACE =
  'Say where: either --repo <owner/name>, or --owner <login> for all repositories of an owner.';

export const storedJsonSchema = z.strictObject({
  id: z.string(),
  owner: z.string(),
  /** `null`: every repository of the owner. */
  repository: z.string().nullable(),
  name: z.string(),
  /** The text of a chain file; `null` if the chain is only in files. */
  definition: z.string().nullable(),
  status: z.enum(CHAIN_STATUSES),
  created_at: z.iso.datetime(),
  updated_at: z.iso.datetime(),
});

/** What is stored about a chain, for the command line and the API. */
export function storedJson(row: StoredChain): z.infer<typeof storedJsonSchema> {
  return {
    id: row.id,
    owner: row.owner,
    repository: row.repository,
    name: row.name,
    definition: row.definition,
    status: row.status,
    created_at: row.createdAt.toISOString(),
    updated_at: row.updatedAt.toISOString(),
  };
}

export function storedTable(rows: readonly StoredChain[], screen: Screen = PLAIN): string {
  if (rows.length === 0) return 'Nothing is stored about chains; those in files run.';
  return table(
    ['CHAIN', 'WHERE', 'STATUS', 'DEFINED', 'CHANGED'],
    rows.map((row) => [
      row.name,
      placeOf(row),
      row.status,
      row.definition === null ? 'in files' : 'here',
      utc(row.updatedAt),
    ]),
    { screen },
  );
}

/** `chain show`: what is stored about a chain in one place. */
export function storedText(
  {
    row,
    since,
    runs,
  }: { row: StoredChain; since: { at: Date; by: Actor | undefined } | undefined; runs: readonly Run[] },
  now: Date,
  screen: Screen = PLAIN,
): string {
  const by = since?.by === undefined ? '' : `, by ${actorInWords(since.by)}`;
  return [
    `Stored for ${placeOf(row)}: ${row.status} since ${utc(since?.at ?? row.updatedAt)}${by}.`,
    ...(row.definition === null
      ? ['It is defined in files.']
      : [
          'Definition:',
          ...row.definition
            .trimEnd()
            .split('\n')
            .map((line) => `    ${plainLine(line)}`),
        ]),
    ...(runs.length === 0
      ? ['No runs yet.']
      : [
          'Last runs:',
          runList(
            runs.map((run) => ({ run })),
            now,
            screen,
          ),
        ]),
  ].join('\n');
}

/** @param verb what was done, such as `pause` */
export function chainChanged(verb: string, row: StoredChain): string {
  const where = `for ${placeOf(row)}`;
  switch (verb) {
    case 'define':
      return `Defined ${row.name} ${where}. A file of that name in the repository or its organisation takes precedence.${
        row.status === 'active' ? '' : ` It is ${row.status}: countersign chain resume lets it start runs.`
      }`;
    case 'pause':
      return `Paused ${row.name} ${where}: it starts no run until countersign chain resume. Runs that have begun go on.`;
    case 'disable':
      return `Disabled ${row.name} ${where}: it counts as removed until countersign chain resume, and its runs can merge nothing.`;
    default:
      return `Resumed ${row.name} ${where}: it starts runs again, with the next event of each pull request.`;
  }
}

/** @param stored the names of chains about which something is stored there */
export function nothingToResume(name: string, where: string, stored: readonly string[]): string {
  const meant = nearest(name, stored);
  const hint =
    meant === undefined ? 'countersign chain list --stored shows what is.' : `Did you mean ${meant}?`;
  return `Nothing is stored about a chain ${plainLine(name)} for ${plainLine(where)}, so there is nothing to resume. ${hint}`;
}

/** Said beside the answer, because only GitHub knows the chains in files. */
export function nameNotSeen(name: string, where: string, seen: readonly string[]): string {
  const meant = nearest(name, seen);
  const hint = meant === undefined ? '' : ` Did you mean ${meant}?`;
  return `No chain ${plainLine(name)} has run for ${plainLine(where)} so far, and none is stored or ships with Countersign.${hint}`;
}

export function placeOf({ owner, repository }: StoredChain): string {
  return plainLine(repository === null ? `${owner}/*` : `${owner}/${repository}`);
}
