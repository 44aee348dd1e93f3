import { InvalidArgumentError } from 'commander';
import { CountersignError } from '../../core/errors.ts';
import { timeSortedIds } from '../../core/ids.ts';
import { aboutNothing } from '../../domain/audit/entry.ts';
import { CHAIN_NAME } from '../../domain/chain/chain.ts';
import { givenExactly } from '../../domain/command/order.ts';
import type { EventOf } from '../../domain/event/event.ts';
import { OPERATOR } from '../../domain/run/actor.ts';
import { rememberCommand } from '../../engine/runs/applied-commands.ts';
import {
  branchToFire,
  cannotFire,
  cannotFireForBranch,
  noSuchPullRequest,
  type Refused,
} from '../../engine/runs/fire-by-hand.ts';
import { fireAsked, fireBegun, notAChainName, notFired } from '../../messages/cli/cli.ts';
import { GitHubError } from '../../ports/github.ts';
import { repositoryEventJob } from '../../ports/jobs.ts';
import type { ReadTx, Storage } from '../../ports/storage.ts';
import { type Context, type DatabaseOption, type Output, UsageError } from './context.ts';
import { findInstallation } from './find-installation.ts';
import { input } from './options.ts';

export interface FireOptions extends DatabaseOption {
  repo: string;
  /** Without it, the chain is fired for a branch. */
  pr?: number;
  /** The branch, if not the default one. */
  ref?: string;
  input?: Record<string, string>;
  /** `false` with `--no-wait`. */
  wait?: boolean;
}

/** A wrong argument among the inputs ends the command as a wrong option does. */
function asUsage<T>(read: () => T): T {
  try {
    return read();
  } catch (error) {
    throw error instanceof InvalidArgumentError ? new UsageError(error.message) : error;
  }
}

/** How long the command waits for the app's answer, and how often it looks for it. */
const PATIENCE_MS = 60_000;
const POLL_MS = 250;

/**
 * Enqueues the same event for the running app as `/countersign fire` in a comment. What the command can find out
 * itself fails at once. Otherwise it waits until the app has begun the run or says why it does not.
 */
export function chainFire(
  context: Context,
  chain: string,
  given: readonly string[],
  options: FireOptions,
): Promise<Output> {
  if (!CHAIN_NAME.test(chain)) throw new UsageError(notAChainName(chain));
  const { clock, tools } = context;
  const inputs = given.reduce((before, one) => asUsage(() => input(one, before)), options.input ?? {});
  const { pr = null, ref, repo } = options;
  return tools.withDatabase(options.database, 'write', async (storage) => {
    const found = await findInstallation(context, storage.read, repo, options.pr);
    const known = await knownBefore(context, storage.read, { ...found, pr, ref, chain, inputs });
    if (known) throw notFiredError(known);
    const queue = await tools.enqueuer(storage);
    const askedAt = clock.now();
    const event = {
      kind: 'manual.fired',
      installation_id: found.installationId,
      repository: found.repository,
      run_id: timeSortedIds(() => clock.now()).next('run'),
      asked_by: { verb: 'fire', given: givenExactly(askedAt) },
      chain,
      pull_request: pr,
      ...(ref !== undefined && { ref }),
      actor: OPERATOR,
      inputs,
    } satisfies EventOf<'manual.fired'>;
    await storage.transaction(async (tx) => {
      await queue.enqueue(tx, repositoryEventJob(event));
      if (pr !== null)
        await rememberCommand(
          tx,
          { repositoryId: found.repository.id, pullRequest: pr },
          { kind: 'begin', verb: 'fire', chain, newRun: true },
          { actor: OPERATOR, given: event.asked_by.given },
        );
      await tx.audit.record({
        kind: 'command.carried_out',
        ...aboutNothing({ kind: 'operator' }),
        repository: { id: found.repository.id, name: repo },
        pull_request: pr,
        run_id: event.run_id,
        verb: 'fire',
        via: { kind: 'command_line' },
        chain,
        inputs,
      });
    });
    const begun = options.wait === false ? undefined : await answerOf(context, storage, event, askedAt);
    return {
      text: begun
        ? fireBegun(chain, { repo, pr, ref }, event.run_id)
        : fireAsked(chain, { repo, pr, ref }, options.wait === false ? 0 : PATIENCE_MS),
      json: {
        queued: true,
        begun: begun ?? null,
        run_id: event.run_id,
        chain,
        repository: repo,
        pull_request: pr,
        ...(ref !== undefined && { ref }),
        inputs,
      },
      failed: options.wait !== false && !begun,
    };
  });
}

/**
 * Whether the run began; `undefined` if the app has not answered in time.
 * @throws CountersignError with the app's reason if it cannot run
 */
async function answerOf(
  { tools }: Context,
  { read }: Storage,
  event: EventOf<'manual.fired'> & { run_id: string },
  askedAt: Date,
): Promise<true | undefined> {
  const repository = `${event.repository.owner}/${event.repository.name}`;
  for (let waited = 0; waited <= PATIENCE_MS; waited += POLL_MS) {
    if (await read.runs.get(event.run_id)) return true;
    // The app records its answer for as long as people ask who did what.
    const since = new Date(askedAt.getTime() - 1_000);
    for (const { kind, entry } of await read.audit.page({ after: 0, limit: 1_000, since, repository })) {
      if (kind === 'command.refused' && entry.run_id === event.run_id)
        throw notFiredError({
          because: String(entry.because),
          ...(entry.of === 'inputs' && { of: entry.of }),
        });
    }
    await tools.pause(POLL_MS);
  }
  return undefined;
}

function notFiredError({ because, of }: Refused): CountersignError {
  return of === 'inputs'
    ? new UsageError(notFired(because))
    : new CountersignError('cli.not_fired', notFired(because));
}

/** Why the chain cannot be fired, as far as this process may ask GitHub: if the App's settings are here. */
async function knownBefore(
  { tools }: Context,
  read: ReadTx,
  asked: Awaited<ReturnType<typeof findInstallation>> & {
    pr: number | null;
    ref: string | undefined;
    chain: string;
    inputs: Record<string, string>;
  },
): Promise<Refused | undefined> {
  try {
    const { github, configuration } = await tools.policy(read);
    const { installationId, repository, ref } = asked;
    if (asked.pr === null) {
      const where = { installation_id: installationId, repository, ...(ref !== undefined && { ref }) };
      return cannotFireForBranch(await branchToFire({ github, configuration }, where), asked);
    }
    const pullRequest = await github.reader(installationId, 'person').pullRequest(repository, asked.pr);
    const found = await configuration.forPullRequest(installationId, repository, pullRequest);
    return cannotFire(found, pullRequest, asked);
  } catch (error) {
    if (error instanceof GitHubError && error.kind === 'not_found' && asked.pr !== null)
      return { because: noSuchPullRequest(asked.repository, asked.pr) };
    // The app can ask, or will say why it cannot.
    if (error instanceof CountersignError || error instanceof GitHubError) return undefined;
    throw error;
  }
}
