import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { dirname, join, resolve } from 'node:path';
import { CountersignError } from '../../core/errors.ts';
import { CHAIN_NAME } from '../../domain/chain/chain.ts';
import { calledBy, nameOfChain } from '../../domain/chain/parse.ts';
import { isRunOver, type RunState } from '../../domain/run/run.ts';
import { noSuchPath, notAChainName, notFired, unreadableFile } from '../../messages/cli/cli.ts';
import {
  dryRunBegins,
  dryRunJson,
  dryRunTable,
  dryRunText,
  gitHubRefuses,
  NEEDS_ACTOR,
  NEEDS_PULL_REQUEST,
  NEEDS_REPOSITORY,
  NO_TOKEN,
  noAnswer,
  noChainToPlay,
  noPullRequestToRead,
  noRepositoryToRead,
  REPOSITORY_IS_NAMED,
  rateLimitReached,
  stepProgress,
  TOKEN_REFUSED,
  WITHOUT_TOKEN,
  withFilesBeside,
  withoutName,
} from '../../messages/cli/dry-run.ts';
import { pullRequestsPlayed, readingRepository } from '../../messages/cli/progress.ts';
import { GitHubError, SignInRefused } from '../../ports/github.ts';
import { type Context, type DryRunRequest, type Output, UsageError } from './context.ts';

export interface ChainRunOptions {
  pr?: { repository: string; number: number };
  against?: number;
  repo?: string;
  actor?: string;
  input?: Record<string, string>;
}

/**
 * Plays a chain over one pull request, or over the newest of a repository, without writing to GitHub.
 * @param subject the path of a chain file, or the name of a chain in force there
 */
export async function chainRun(context: Context, subject: string, options: ChainRunOptions): Promise<Output> {
  if (!context.tools.hasToken()) throw new CountersignError('cli.no_token', NO_TOKEN);
  return playChain(context, subject, options);
}

/** The same, also without a token: then only what is public can be read. */
export async function playChain(
  { cwd, progress, status, tools }: Context,
  subject: string,
  options: ChainRunOptions,
): Promise<Output> {
  const hasToken = tools.hasToken();
  const { repository, pullRequests } = playedOver(options);
  const chain = chainOf(cwd, subject);
  const [owner = '', name = ''] = repository.split('/');
  const request: DryRunRequest = {
    repo: { owner, name },
    pullRequests,
    chain,
    onProgress: changesOf({ progress, status, of: options.against }),
    ...(options.actor !== undefined && { fire: { actor: options.actor, inputs: options.input ?? {} } }),
  };
  progress(dryRunBegins(repository, options.against));
  if (!hasToken) progress(WITHOUT_TOKEN);
  const [, ...beside] = chain.files ?? [];
  if (beside.length > 0) progress(withFilesBeside(beside.map((file) => file.name)));
  status(readingRepository(repository));
  const results = await tools.dryRun(request).catch((error: unknown) => {
    if (error instanceof SignInRefused) throw new CountersignError('cli.token_refused', TOKEN_REFUSED);
    if (!(error instanceof GitHubError)) throw error;
    if (error.kind !== 'not_found') throw new CountersignError('cli.github', whyNotRead(error, hasToken));
    const { pr } = options;
    throw pr
      ? new CountersignError(
          'cli.unknown_pull_request',
          noPullRequestToRead(pr.repository, pr.number, hasToken),
        )
      : new CountersignError('cli.unknown_repository', noRepositoryToRead(repository));
  });
  const isUnknown = results.length > 0 && results.every((one) => one.kind === 'not_run' && one.of === 'name');
  const [unknown] = results;
  if (isUnknown && unknown?.kind === 'not_run')
    throw new CountersignError('cli.unknown_chain', noChainToPlay(unknown.because.summary));
  const misused = results.find((played) => played.kind === 'not_run' && played.of === 'inputs');
  if (misused?.kind === 'not_run') throw new UsageError(notFired(misused.because.summary));
  const json = { dry_run: true, repository, chain: chain.name, pull_requests: results.map(dryRunJson) };
  const [only] = results;
  return options.against === undefined && only
    ? { text: (screen) => dryRunText(repository, chain.name, only, screen), json }
    : { text: (screen) => dryRunTable(repository, chain.name, results, screen), json };
}

function whyNotRead({ kind, message, retryAt }: GitHubError, hasToken: boolean): string {
  if (kind === 'rate_limited') return rateLimitReached(retryAt, hasToken);
  return kind === 'unavailable' ? noAnswer(message) : gitHubRefuses(message);
}

function playedOver({ pr, against, repo, actor, input }: ChainRunOptions): {
  repository: string;
  pullRequests: DryRunRequest['pullRequests'];
} {
  if (input && actor === undefined) throw new UsageError(NEEDS_ACTOR);
  if (pr) {
    if (repo !== undefined) throw new UsageError(REPOSITORY_IS_NAMED);
    return { repository: pr.repository, pullRequests: { numbers: [pr.number] } };
  }
  if (repo === undefined) throw new UsageError(against === undefined ? NEEDS_PULL_REQUEST : NEEDS_REPOSITORY);
  return {
    repository: repo,
    pullRequests: against === undefined ? { numbers: [null] } : { last: against },
  };
}

function chainOf(cwd: string, subject: string): DryRunRequest['chain'] {
  const path = resolve(cwd, subject);
  if (!existsSync(path)) {
    if (CHAIN_NAME.test(subject)) return { name: subject };
    throw /[/.]/.test(subject)
      ? new CountersignError('cli.no_such_file', noSuchPath(subject))
      : new UsageError(notAChainName(subject));
  }
  let file: string;
  try {
    file = readFileSync(path, 'utf8');
  } catch (error) {
    throw new CountersignError('cli.unreadable_file', unreadableFile(subject), { cause: error });
  }
  const name = nameOfChain(file);
  if (name === undefined || !CHAIN_NAME.test(name))
    throw new CountersignError('cli.no_chain_name', withoutName(subject));
  return { name, files: withCalled({ name, text: file }, path) };
}

interface NamedFile {
  name: string;
  text: string;
}

/** The file, and those beside it of the chains that its steps run, which may be as new. */
function withCalled(file: NamedFile, path: string): NamedFile[] {
  const folder = dirname(path);
  const beside = new Map<string, string>();
  if (calledBy(file.text).length > 0) {
    for (const entry of readdirSync(folder).sort()) {
      const text = /\.ya?ml$/.test(entry) ? readable(join(folder, entry)) : undefined;
      const name = text === undefined ? undefined : nameOfChain(text);
      if (text !== undefined && name !== undefined && CHAIN_NAME.test(name)) beside.set(name, text);
    }
  }
  const found = new Map([[file.name, file.text]]);
  // A map that grows is walked to its end.
  for (const text of found.values()) {
    for (const name of calledBy(text)) {
      const called = beside.get(name);
      if (called !== undefined && !found.has(name)) found.set(name, called);
    }
  }
  return [...found].map(([name, text]) => ({ name, text }));
}

function readable(path: string): string | undefined {
  try {
    return readFileSync(path, 'utf8');
  } catch {
    return undefined;
  }
}

/**
 * Says each change of a step's state once, and how many pull requests are decided.
 * @param of how many there are, if there are several
 */
function changesOf({
  progress,
  status,
  of,
}: Pick<Context, 'progress' | 'status'> & { of: number | undefined }): (state: RunState) => void {
  const said = new Map<string, string>();
  const decided = new Set<number | null>();
  return (state) => {
    for (const step of state.invocations) {
      const line = stepProgress(state.run, step);
      if (step.status === 'pending' || said.get(step.id) === line) continue;
      said.set(step.id, line);
      progress(line);
    }
    const { status: is, pullRequest, facts } = state.run;
    if (facts.parent === undefined && (isRunOver(is) || is === 'waiting_approval')) decided.add(pullRequest);
    if (of !== undefined) status(pullRequestsPlayed(decided.size, of));
  };
}
