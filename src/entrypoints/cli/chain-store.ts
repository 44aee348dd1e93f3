import { CountersignError } from '../../core/errors.ts';
import type { AuditedVerb } from '../../domain/audit/entry.ts';
import { CHAIN_NAME } from '../../domain/chain/chain.ts';
import { parseChain } from '../../domain/chain/parse.ts';
import { applyingTo, type ChainStatus, type StoredChain } from '../../domain/chain/stored.ts';
import type { Run } from '../../domain/run/run.ts';
import { changeStoredChain, STATUS_VERBS } from '../../engine/configuration/change-stored-chain.ts';
import { brokenChain, notAChainName } from '../../messages/cli/cli.ts';
import {
  chainChanged,
  nameNotSeen,
  nothingToResume,
  ONE_PLACE,
  storedJson,
  storedTable,
} from '../../messages/cli/stored-chains.ts';
import type { ReadTx } from '../../ports/storage.ts';
import { type Context, type DatabaseOption, type Output, UsageError } from './context.ts';
import { readText } from './files.ts';
import { namesKnownIn } from './known-names.ts';

export interface PlaceOptions extends DatabaseOption {
  repo?: string;
  owner?: string;
}

/** Stores a chain for a repository, or for all repositories of an owner. */
export async function chainDefine(context: Context, file: string, options: PlaceOptions): Promise<Output> {
  requireOnePlace(options);
  const { cwd, tools } = context;
  const { known } = await tools.chains();
  const text = readText(cwd, file);
  const parsed = parseChain(text, file, await namesKnownIn(cwd, [], known, tools));
  if (!parsed.chain)
    throw new CountersignError('cli.broken_chain', brokenChain(file, file, parsed.diagnostics));
  return change(context, parsed.chain.name, options, 'define', (row) => ({ ...row, definition: text }));
}

/** Changes whether a chain starts runs, wherever it is defined. */
export async function chainStatus(
  context: Context,
  name: string,
  options: PlaceOptions,
  status: ChainStatus,
): Promise<Output> {
  if (!CHAIN_NAME.test(name)) throw new UsageError(notAChainName(name));
  requireOnePlace(options);
  const { shipped } = await context.tools.chains();
  const before = await context.tools.withDatabase(options.database, 'read', ({ read }) =>
    knownAt(read, options),
  );
  const where = options.repo ?? `${options.owner}/*`;
  const names = [...shipped.flatMap(({ chain }) => chain?.name ?? []), ...before.names];
  if (status === 'active' && !before.stored.includes(name))
    throw new CountersignError('cli.unknown_chain', nothingToResume(name, where, before.stored));
  const changed = await change(context, name, options, STATUS_VERBS[status], (row) => ({ ...row, status }));
  // The files of the repository are not known here, so an unknown name is no error.
  if (!names.includes(name)) context.progress(nameNotSeen(name, where, names));
  return changed;
}

/** Of how many runs the chains count as known. */
const RUNS_READ = 200;

/** The chains that the database has seen in one place. */
async function knownAt(
  { chains, runs }: ReadTx,
  { repo, owner: account = '' }: PlaceOptions,
): Promise<{ stored: string[]; names: string[] }> {
  const [owner = account, name = ''] = repo?.split('/') ?? [];
  const stored = applyingTo(await chains.all(), { owner, name }).map((row) => row.name);
  const ran = await runs.list({ ...(repo !== undefined && { repository: repo }), limit: RUNS_READ });
  const isOfOwner = ({ repository }: Run) => repository.toLowerCase().startsWith(`${owner.toLowerCase()}/`);
  return { stored, names: [...new Set([...stored, ...ran.filter(isOfOwner).map(({ chain }) => chain)])] };
}

/** What the operator says about chains. */
export function chainListStored({ tools }: Context, options: PlaceOptions): Promise<Output> {
  return tools.withDatabase(options.database, 'read', async ({ read }) => {
    const all = await read.chains.all();
    const [owner = '', name = ''] = options.repo?.split('/') ?? [];
    const rows = options.repo === undefined ? all : applyingTo(all, { owner, name });
    return { text: (screen) => storedTable(rows, screen), json: rows.map(storedJson) };
  });
}

function requireOnePlace({ repo, owner }: PlaceOptions): void {
  if ((repo === undefined) === (owner === undefined)) throw new UsageError(ONE_PLACE);
}

async function change(
  { clock, tools }: Context,
  name: string,
  { repo, owner: account, database }: PlaceOptions,
  verb: AuditedVerb,
  changed: (row: StoredChain) => StoredChain,
): Promise<Output> {
  const [owner = '', repository = null] = repo?.split('/') ?? [account];
  return tools.withDatabase(database, 'write', async (storage) => {
    const queue = await tools.enqueuer(storage);
    return storage.transaction(async (tx) => {
      const row = await changeStoredChain(
        tx,
        queue,
        { owner, repository, name },
        { verb, change: changed, now: clock.now(), by: { kind: 'operator' }, via: { kind: 'command_line' } },
      );
      return { text: chainChanged(verb, row), json: storedJson(row) };
    });
  });
}
