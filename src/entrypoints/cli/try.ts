import { readName } from '../../core/github-names.ts';
import { NOT_A_PULL_REQUEST, onAnotherServer } from '../../messages/cli/dry-run.ts';
import { playChain } from './chain-run.ts';
import { type Context, type Output, UsageError } from './context.ts';

/**
 * Shows what a chain would do for a real pull request, without a token if it is public. Nothing is installed or written.
 * @param given `owner/name#12`, or the address of the page on GitHub
 */
export async function tryPullRequest(
  context: Context,
  given: string,
  { chain }: { chain: string },
): Promise<Output> {
  const named = readName(given);
  if (named === undefined || named.pullRequest === null) throw new UsageError(NOT_A_PULL_REQUEST);
  const { repository, pullRequest, host } = named;
  const { github } = await context.tools.pages();
  if (host !== null && github !== null && new URL(github).host !== host)
    throw new UsageError(onAnotherServer(host, new URL(github).host));
  return playChain(context, chain, { pr: { repository, number: pullRequest } });
}
