import { CountersignError } from '../../core/errors.ts';
import type { AuditedVerb } from '../../domain/audit/entry.ts';
import { CHAIN_NAME } from '../../domain/chain/chain.ts';
import { parseChain } from '../../domain/chain/parse.ts';
import { applyingTo, type ChainStatus, type StoredChain } from '../../domain/chain/stored.ts';
import { changeStoredChain, STATUS_VERBS } from '../../engine/configuration/change-stored-chain.ts';
import { brokenChain, notAChainName } from '../../messages/cli/cli.ts';
import { chainChanged, ONE_PLACE, storedTable } from '../../messages/cli/stored-chains.ts';
import { type Context, type DatabaseOption, type Output, UsageError } from './context.ts';
import { readText } from './files.ts';
import { namesKnownIn } from './known-names.ts';

export interface PlaceOptions extends DatabaseOption {
  repo?: string;
  owner?: string;
}

/** Stores a chain for a repository, or for all repositories of an owner. */
export async function chainDefine(context: Context, file: string, options: PlaceOptions): Promise<Output> {
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
  return change(context, name, options, STATUS_VERBS[status], (row) => ({ ...row, status }));
}

/** What the operator says about chains. */
export function chainListStored({ tools }: Context, options: PlaceOptions): Promise<Output> {
  return tools.withDatabase(options.database, 'read', async ({ read }) => {
    const all = await read.chains.all();
    const [owner = '', name = ''] = options.repo?.split('/') ?? [];
    const rows = options.repo === undefined ? all : applyingTo(all, { owner, name });
    return { text: storedTable(rows), json: rows.map(storedJson) };
  });
}

async function change(
  { clock, tools }: Context,
  name: string,
  { repo, owner: account, database }: PlaceOptions,
  verb: AuditedVerb,
  changed: (row: StoredChain) => StoredChain,
): Promise<Output> {
  if ((repo === undefined) === (account === undefined)) throw new UsageError(ONE_PLACE);
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

export function storedJson({ createdAt, updatedAt, ...row }: StoredChain) {
  return { ...row, created_at: createdAt.toISOString(), updated_at: updatedAt.toISOString() };
}
