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
  const pr = nameIn(given) ?? (await addressIn(context, given));
  if (pr === undefined) throw new UsageError(NOT_A_PULL_REQUEST);
  return playChain(context, chain, { pr });
}

interface Named {
  repository: string;
  number: number;
}

const OWNER_AND_NAME = '[A-Za-z0-9][A-Za-z0-9-]{0,38}/[A-Za-z0-9._-]{1,100}';
const NAME = new RegExp(`^(${OWNER_AND_NAME})#([1-9]\\d{0,8})$`);
const PATH = new RegExp(`^/(${OWNER_AND_NAME})/pull/([1-9]\\d{0,8})(/|$)`);

function nameIn(text: string): Named | undefined {
  return named(NAME.exec(text));
}

/** @throws UsageError if the address is on another server than the settings name */
async function addressIn({ tools }: Context, text: string): Promise<Named | undefined> {
  if (!URL.canParse(text)) return undefined;
  const { host, pathname } = new URL(text);
  const { github } = await tools.pages();
  if (github !== null && new URL(github).host !== host)
    throw new UsageError(onAnotherServer(host, new URL(github).host));
  return named(PATH.exec(pathname));
}

function named(found: RegExpExecArray | null): Named | undefined {
  const [, repository = '', number = ''] = found ?? [];
  return found ? { repository, number: Number(number) } : undefined;
}
