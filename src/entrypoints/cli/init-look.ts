import { CountersignError, unreachable } from '../../core/errors.ts';
import type { OnGitHub, RepositoryFiles } from '../../domain/first-look/seen.ts';
import { noAnswer, rateLimitReached, TOKEN_REFUSED } from '../../messages/cli/dry-run.ts';
import {
  hiddenRepository,
  NO_COMMITS,
  NO_REPOSITORY,
  NO_TOKEN_TO_PROPOSE,
  NOT_A_CHECKOUT,
  originElsewhere,
  REPOSITORY_NOT_NAMED,
  refusedByGitHub,
  withoutGitHub,
} from '../../messages/cli/init.ts';
import { GitHubError, type Repo, SignInRefused } from '../../ports/github.ts';
import { type Checkout, checkoutAt, filesOf } from './checkout.ts';
import { type Context, UsageError } from './context.ts';

/** Where the files go, and where those are read that say how the repository works. */
type Target =
  | { kind: 'checkout'; checkout: Checkout; repo: Repo | undefined; withoutRepo: string | undefined }
  | { kind: 'pull request'; repo: Repo };

/**
 * @throws UsageError for a pull request without a repository
 * @throws CountersignError if there is nowhere to write, or no token to open a pull request with
 */
export async function targetOf(
  { cwd, tools }: Context,
  { repo: given, pr = false }: { repo?: string; pr?: boolean },
): Promise<Target> {
  const checkout = checkoutAt(cwd);
  const named = given === undefined ? await originOf(tools, checkout) : repoOf(given);
  const repo = typeof named === 'string' ? undefined : named;
  if (pr) {
    if (!repo) throw new UsageError(typeof named === 'string' && checkout?.origin ? named : NO_REPOSITORY);
    if (!tools.hasToken()) throw new CountersignError('cli.no_token', NO_TOKEN_TO_PROPOSE);
    return { kind: 'pull request', repo };
  }
  if (!checkout) throw new CountersignError('cli.no_checkout', NOT_A_CHECKOUT);
  return { kind: 'checkout', checkout, repo, withoutRepo: typeof named === 'string' ? named : undefined };
}

function repoOf(fullName: string): Repo {
  const [owner = '', name = ''] = fullName.split('/');
  return { owner, name };
}

/** The repository of the remote, or a sentence that says why it is not known. */
async function originOf(tools: Context['tools'], checkout: Checkout | undefined): Promise<Repo | string> {
  if (!checkout?.origin) return REPOSITORY_NOT_NAMED;
  const { host, owner, name } = checkout.origin;
  const { github } = await tools.pages();
  if (github === null) return { owner, name };
  const { host: own, hostname } = new URL(github);
  return host === own || host === hostname ? { owner, name } : originElsewhere(host, own);
}

/**
 * Reads what GitHub and the files say. Where the files of a checkout suffice, GitHub may be unreachable.
 * @throws CountersignError if a pull request is to be opened, and GitHub does not show the repository
 */
export async function look(
  { progress, tools }: Context,
  target: Target,
): Promise<{ github: OnGitHub | undefined; files: RepositoryFiles }> {
  if (target.kind === 'pull request') {
    const { github, files } = await tools.lookAt(target.repo, true).catch((error: unknown) => {
      throw new CountersignError('cli.github', whyHidden(error, target.repo, tools.hasToken()));
    });
    if (!files) throw new CountersignError('cli.no_commits', NO_COMMITS);
    return { github, files };
  }
  const files = filesOf(target.checkout);
  if (!target.repo) {
    progress(withoutGitHub(target.withoutRepo ?? REPOSITORY_NOT_NAMED));
    return { github: undefined, files };
  }
  try {
    return { github: (await tools.lookAt(target.repo, false)).github, files };
  } catch (error) {
    progress(withoutGitHub(whyHidden(error, target.repo, tools.hasToken())));
    return { github: undefined, files };
  }
}

/** @throws anything but what GitHub did not answer */
function whyHidden(error: unknown, { owner, name }: Repo, hasToken: boolean): string {
  if (!(error instanceof GitHubError)) throw error;
  return error.kind === 'not_found'
    ? hiddenRepository(`${owner}/${name}`, hasToken)
    : whyNoAnswer(error, hasToken);
}

/** A sentence about any other failure. */
export function whyNoAnswer(error: GitHubError, hasToken: boolean): string {
  if (error instanceof SignInRefused) return TOKEN_REFUSED;
  switch (error.kind) {
    case 'rate_limited':
      return rateLimitReached(error.retryAt, hasToken);
    case 'unavailable':
      return noAnswer(error.message);
    case 'not_found':
    case 'forbidden':
    case 'invalid':
      return refusedByGitHub(error.message);
    default:
      return unreachable(error.kind);
  }
}
