import { type Harness, type HarnessOptions, REPO, startHarness } from '../test/support/harness.ts';
import { CHAINS } from './more.ts';
import { CLEAN, COUNTED, RISKY, ROUNDED, ROUNDED_AGAIN, SHOP, SORTED, WEIGHED } from './world.ts';

const MINUTE = 60_000;
const HOUR = 60 * MINUTE;

/** What is where, for pages that name it. */
export interface Shown {
  harness: Harness;
  /** Numbers of pull requests. */
  merged: number;
  sentBack: number;
  pushedAgain: number;
  redCi: number;
  rejected: number;
  asked: number;
  waiting: number;
}

/**
 * A week of a repository, with something to see on each page of Studio. Time and ids are injected, so that it is the same on each
 * machine and every time.
 */
export async function playWeek(options: HarnessOptions = {}): Promise<Shown> {
  const harness = await startHarness({
    ...options,
    files: { ...SHOP, ...CHAINS, ...options.files },
  });
  const { github, advance, sleep, settle } = harness;

  async function open(author: string, branch: string, title: string, files: Record<string, string>) {
    const opened = await github.openPullRequest({ repo: REPO, author, branch, title, files });
    await begin(opened.headSha);
    return opened;
  }
  /** CI begins, and takes a while. */
  async function begin(sha: string) {
    for (const name of ['lint', 'test']) await github.reportCheck(REPO, sha, { name, status: 'in_progress' });
    await advance(7 * MINUTE);
  }
  async function ci(sha: string, conclusion: 'success' | 'failure' = 'success') {
    for (const [name, of] of [['lint', 'success'] as const, ['test', conclusion] as const])
      await github.reportCheck(REPO, sha, { name, status: 'completed', conclusion: of });
    await advance(2 * MINUTE);
  }
  async function answer(number: number, who: string, reaction: 'rocket' | '-1') {
    const asked = github
      .comments(REPO, number)
      .findLast(
        ({ author, body }) => author === github.app.botLogin && body.includes('countersign:approval'),
      );
    if (!asked) throw new Error(`#${number} has no approval comment`);
    await github.react(REPO, asked.id, who, reaction);
    await advance(2 * MINUTE);
  }

  async function mergedAfter(ms: number, who: string, opened: { number: number; headSha: string }) {
    await ci(opened.headSha);
    await sleep(ms);
    await answer(opened.number, who, 'rocket');
    if (!github.pullRequest(REPO, opened.number).merged) throw new Error(`#${opened.number} was not merged`);
    return opened.number;
  }

  await advance(MINUTE);
  const discounts = await open('ada', 'discounts', 'Give discounts', CLEAN);
  const merged = await mergedAfter(50 * MINUTE, 'mia', discounts);

  await sleep(23 * HOUR);
  const search = await open('ada', 'search', 'Search products', RISKY);
  await ci(search.headSha);

  await sleep(3 * HOUR);
  const rounding = await open('will', 'rounding', 'Round to cents', ROUNDED);
  await ci(rounding.headSha);
  const headSha = await github.push({
    repo: REPO,
    branch: 'rounding',
    author: 'will',
    files: ROUNDED_AGAIN,
  });
  await begin(headSha);
  await mergedAfter(2 * HOUR, 'max', { number: rounding.number, headSha });

  await sleep(42 * HOUR);
  const names = { 'src/names.ts': "export const NAMES = ['apple', 'pear'] as const;\n" };
  await mergedAfter(25 * MINUTE, 'mia', await open('ada', 'names', 'Name the products', names));

  await sleep(20 * HOUR);
  const free = { 'src/free.ts': 'export const FREE_FROM = 0;\n' };
  const rejected = await open('ada', 'free', 'Deliver everything free of charge', free);
  await ci(rejected.headSha);
  await sleep(HOUR);
  await answer(rejected.number, 'mia', '-1');

  await sleep(76 * HOUR);
  const count = await open('ada', 'count', 'Count what is in the cart', COUNTED);
  await ci(count.headSha, 'failure');

  const weight = await open('will', 'weight', 'Show what a parcel weighs', WEIGHED);
  await github.comment(REPO, weight.number, 'mia', '/countersign fire weekly-image');
  await advance(5 * MINUTE);

  const sort = await open('ada', 'sort', 'Sort products by price', SORTED);
  await ci(sort.headSha);
  await sleep(38 * MINUTE);
  await settle();
  return {
    harness,
    merged,
    sentBack: search.number,
    pushedAgain: rounding.number,
    redCi: count.number,
    rejected: rejected.number,
    asked: sort.number,
    waiting: weight.number,
  };
}
