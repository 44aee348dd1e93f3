import { readFileSync } from 'node:fs';
import { resolve } from 'node:path';
import { CountersignError } from '../../core/errors.ts';
import { PACKAGE_ROOT } from '../../core/package-root.ts';
import type { KnownNames } from '../../domain/chain/known-names.ts';
import { parseChain } from '../../domain/chain/parse.ts';
import { applyingTo, type StoredChain } from '../../domain/chain/stored.ts';
import { type Actor, actorSchema } from '../../domain/run/actor.ts';
import type { Run } from '../../domain/run/run.ts';
import { STATUS_VERBS } from '../../engine/configuration/change-stored-chain.ts';
import { chainJson } from '../../messages/cli/chain-json.ts';
import { brokenChain, chainText, unknownChain } from '../../messages/cli/cli.ts';
import { placeOf, storedJson, storedText } from '../../messages/cli/stored-chains.ts';
import type { Storage } from '../../ports/storage.ts';
import { type LocalChain, localChains } from './chain-files.ts';
import type { PlaceOptions } from './chain-store.ts';
import type { Context, Output } from './context.ts';
import { namesKnownIn } from './known-names.ts';

/** What the database says about a chain in one place. */
interface Stored {
  row: StoredChain;
  /** Who gave it its status, and when; `undefined` if the audit log does not say. */
  since: { at: Date; by: Actor | undefined } | undefined;
  /** The newest runs, newest first. */
  runs: Run[];
}

const RUNS_SHOWN = 5;
/** Of which those of one owner are selected. */
const RUNS_READ = 200;
const AUDIT_PAGE = 500;

export interface ChainShowOptions extends PlaceOptions {
  source?: boolean;
}

export async function chainShow(
  { cwd, tools, clock }: Context,
  name: string,
  options: ChainShowOptions,
): Promise<Output> {
  const { known, shipped } = await tools.chains();
  const names = await namesKnownIn(cwd, [], known, tools);
  const chains = localChains(cwd, names, shipped);
  const asksDatabase =
    options.database !== undefined || options.repo !== undefined || options.owner !== undefined;
  const stored =
    asksDatabase || (await tools.hasDatabase())
      ? await tools.withDatabase(options.database, 'read', (storage) => storedOf(storage, name, options))
      : [];
  const found = chains.find((one) => one.name === name);
  // A file of the repository takes precedence over the operator's definition, which replaces a shipped chain.
  const defined = found && found.scope !== 'shipped' ? undefined : definedIn(stored, names);
  if (!found && !defined && stored.length === 0) {
    const elsewhere = asksDatabase || (await tools.hasDatabase()) ? await storedNames(tools, options) : [];
    const others = [...new Set([...chains.map((one) => one.name), ...elsewhere])];
    throw new CountersignError('cli.unknown_chain', unknownChain(name, others));
  }
  const shown = defined ?? found;
  if (shown && !shown.chain)
    throw new CountersignError('cli.broken_chain', brokenChain(name, shown.file, shown.diagnostics));
  if (options.source) return sourceOf(cwd, name, shown, stored);
  const { chain, scope, file } = shown ?? {};
  return {
    text: (screen) =>
      [
        ...(chain && scope && file !== undefined ? [chainText(chain, scope, file)] : []),
        ...stored.map((one) => storedText(one, clock.now(), screen)),
      ].join('\n\n'),
    json: {
      ...(chain && scope && file !== undefined ? chainJson(chain, scope, file) : { name }),
      stored: stored.map(({ row, since, runs }) => ({
        ...storedJson(row),
        status_since: since?.at.toISOString() ?? null,
        status_by: since?.by ?? null,
        runs: runs.map(({ id, status, repository, pullRequest, createdAt }) => ({
          id,
          status,
          repository,
          pull_request: pullRequest,
          created_at: createdAt.toISOString(),
        })),
      })),
    },
  };
}

function storedNames(tools: Context['tools'], { database }: PlaceOptions): Promise<string[]> {
  return tools.withDatabase(database, 'read', async ({ read }) =>
    (await read.chains.all()).map(({ name }) => name),
  );
}

/** The text of the chain, to be copied. */
function sourceOf(
  cwd: string,
  name: string,
  shown: Pick<LocalChain, 'scope' | 'file'> | undefined,
  stored: readonly Stored[],
): Output {
  const definition = stored.find(({ row }) => row.definition !== null)?.row.definition;
  const read = ({ scope, file }: Pick<LocalChain, 'scope' | 'file'>) =>
    readFileSync(resolve(scope === 'shipped' ? PACKAGE_ROOT : cwd, file), 'utf8');
  const text = shown && shown.scope !== 'stored' ? read(shown) : definition;
  if (text === null || text === undefined)
    throw new CountersignError('cli.unknown_chain', unknownChain(name, []));
  return { text: text.trimEnd(), json: { name, source: text } };
}

/** The chain as the nearest of these places defines it. */
function definedIn(stored: readonly Stored[], names: KnownNames) {
  const row = stored.find(({ row: { definition } }) => definition !== null)?.row;
  if (!row) return undefined;
  const file = placeOf(row);
  return { scope: 'stored' as const, file, ...parseChain(row.definition ?? '', file, names) };
}

async function storedOf({ read }: Storage, name: string, { repo, owner }: PlaceOptions): Promise<Stored[]> {
  const all = (await read.chains.all()).filter((row) => row.name === name);
  const [account = '', repository = ''] = repo?.split('/') ?? [];
  const rows =
    repo !== undefined
      ? applyingTo(all, { owner: account, name: repository })
      : all.filter((row) => owner === undefined || row.owner.toLowerCase() === owner.toLowerCase());
  // The places of one repository before those of all of an owner, as they take precedence.
  const nearestFirst = rows.toSorted((a, b) => Number(a.repository === null) - Number(b.repository === null));
  const stored: Stored[] = [];
  for (const row of nearestFirst)
    stored.push({ row, since: await statusSince(read, row), runs: await newestRuns(read, row) });
  return stored;
}

/** The last change of the status, or the definition if there was none. */
async function statusSince({ audit }: Storage['read'], row: StoredChain): Promise<Stored['since']> {
  let since: Stored['since'];
  for (let after = 0; ; ) {
    const lines = await audit.page({ after, limit: AUDIT_PAGE, repository: placeOf(row) });
    for (const { kind, entry, at } of lines) {
      if (kind !== 'command.carried_out' || entry.chain !== row.name) continue;
      if (entry.verb === STATUS_VERBS[row.status] || (entry.verb === 'define' && !since))
        since = { at, by: actorSchema.safeParse(entry.by).data };
    }
    const last = lines.at(-1);
    if (!last || lines.length < AUDIT_PAGE) return since;
    after = last.id;
  }
}

async function newestRuns({ runs }: Storage['read'], row: StoredChain): Promise<Run[]> {
  const { owner, repository, name: chain } = row;
  if (repository !== null)
    return runs.list({ repository: `${owner}/${repository}`, chain, limit: RUNS_SHOWN });
  const newest = await runs.list({ chain, limit: RUNS_READ });
  const isOwn = (run: Run) => run.repository.toLowerCase().startsWith(`${owner.toLowerCase()}/`);
  return newest.filter(isOwn).slice(0, RUNS_SHOWN);
}
