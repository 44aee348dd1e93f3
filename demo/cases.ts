import { setTimeout as sleep } from 'node:timers/promises';
import type { GitHubStandIn } from '../test/support/github/stand-in.ts';
import type { ExpectedState } from './state.ts';
import type { Teller } from './tell.ts';
import { until, viewer } from './watch.ts';
import { CLEAN, COUNTED, PEOPLE, REPO, RISKY, RISKY_LINES, ROUNDED, ROUNDED_AGAIN } from './world.ts';

/** What must be true of a pull request at the end, read from GitHub's API and the database. */
export interface Expected {
  case: number;
  title: string;
  number: number;
  /** Every head of the pull request, oldest first. */
  heads: string[];
  state: ExpectedState;
}

const REPLACED = '⏭️ A newer comment replaces this one.';

/** A pull request with one head that was reviewed, checked, countersigned and squashed. */
const MERGED: ExpectedState = {
  merged: true,
  check_runs: [['success']],
  gates: ['success'],
  annotations: [],
  comments: ['🎉 Countersigned and merged'],
  former: REPLACED,
  merge_parents: [1],
  runs: ['completed'],
};

export interface Stage {
  github: GitHubStandIn;
  tell: Teller;
}

/** How long the demo verifies that an ineligible reaction has no effect, in milliseconds. */
const NOTHING_HAPPENS_MS = 4_000;

const short = (sha: string) => sha.slice(0, 7);

export async function cleanChange({ github, tell }: Stage): Promise<Expected> {
  const view = viewer(github);
  await tell.title(1, 'A clean change is reviewed, passes CI, is countersigned and merged');
  const { number, headSha } = await github.openPullRequest({
    repo: REPO,
    author: PEOPLE.author,
    branch: 'discounts',
    title: 'Give discounts',
    files: CLEAN,
  });
  await tell.person(1, `${PEOPLE.author} opens #${number} "Give discounts"`);
  await passCi(github, headSha);
  await tell.person(1, 'CI reports: test passed, lint passed');
  const asked = await view.asked(number, headSha);
  await tell.seen(1, 'review: APPROVE, CI: passed; the approval comment asks the maintainers');
  const pressed = await github.pressMergeButton(REPO, number, PEOPLE.writer);
  if (pressed.kind === 'merged') throw new Error('the merge button went around the gate');
  await tell.person(
    1,
    `${PEOPLE.writer} (write access) presses the merge button; GitHub: ${pressed.message}`,
  );
  await github.react(REPO, asked.id, PEOPLE.maintainer, 'rocket');
  const reacted = Date.now();
  await tell.person(1, `${PEOPLE.maintainer} (maintainer) reacts 🚀`);
  await view.merged(number);
  await tell.seen(1, `merged for ${PEOPLE.maintainer}'s countersign`, {
    ms_after_reaction: Date.now() - reacted,
  });
  return { case: 1, title: 'clean change', number, heads: [headSha], state: MERGED };
}

export async function riskyChange({ github, tell }: Stage): Promise<Expected> {
  const view = viewer(github);
  await tell.title(2, 'A change with a key, two injections and a swallowed error is sent back');
  const { number, headSha } = await github.openPullRequest({
    repo: REPO,
    author: PEOPLE.author,
    branch: 'search',
    title: 'Search products',
    files: RISKY,
  });
  await tell.person(2, `${PEOPLE.author} opens #${number} "Search products"`);
  await passCi(github, headSha);
  const check = await view.check(headSha, 'changes to be requested', (run) => run.conclusion === 'failure');
  await tell.seen(2, `the check run says: ${check.title}`);
  const places = check.annotations.map((annotation) => `${annotation.path}:${annotation.startLine}`);
  for (const [what, place] of Object.entries(RISKY_LINES)) {
    if (!places.includes(place))
      throw new Error(`no annotation for ${what} at ${place}; there are ${places}`);
    await tell.seen(2, `${what} is annotated at ${place}`);
  }
  // The comment follows some seconds after the check run, so that its first version has content.
  const botComment = await until('a comment of the app', () =>
    github.comments(REPO, number).find((comment) => comment.author === github.app.botLogin),
  );
  await github.react(REPO, botComment.id, PEOPLE.author, 'rocket');
  await github.react(REPO, botComment.id, PEOPLE.outsider, '+1');
  await tell.person(2, `${PEOPLE.author} (author) and ${PEOPLE.outsider} (outsider) react all the same`);
  await sleep(NOTHING_HAPPENS_MS);
  if (github.pullRequest(REPO, number).merged) throw new Error('it was merged without a countersign');
  await tell.seen(2, 'nothing merges');
  return {
    case: 2,
    title: 'risky change',
    number,
    heads: [headSha],
    state: {
      merged: false,
      check_runs: [['failure']],
      gates: ['failure'],
      annotations: Object.values(RISKY_LINES).toSorted(),
      comments: ['🔧 Changes requested: 3 critical, 1 medium'],
      merge_parents: [],
      runs: ['completed'],
    },
  };
}

export async function pushedAgain({ github, tell }: Stage): Promise<Expected> {
  const view = viewer(github);
  await tell.title(3, 'A push after the approval comment voids it; the new head needs its own countersign');
  const { number, headSha: first } = await github.openPullRequest({
    repo: REPO,
    author: PEOPLE.writer,
    branch: 'rounding',
    title: 'Round to cents',
    files: ROUNDED,
  });
  await tell.person(3, `${PEOPLE.writer} opens #${number} "Round to cents"`);
  await passCi(github, first);
  const asked = await view.asked(number, first);
  await tell.seen(3, `the approval comment asks about ${short(first)}`);

  const second = await github.push({
    repo: REPO,
    branch: 'rounding',
    author: PEOPLE.writer,
    files: ROUNDED_AGAIN,
  });
  await tell.person(3, `${PEOPLE.writer} pushes ${short(second)} before anybody reacted`);
  await view.check(first, 'the first run to be superseded', (run) => run.conclusion === 'cancelled');
  await github.react(REPO, asked.id, PEOPLE.maintainer, 'rocket');
  await tell.person(3, `${PEOPLE.maintainer} reacts 🚀, but on the comment about ${short(first)}`);
  await passCi(github, second);
  const askedAgain = await view.asked(number, second);
  await tell.seen(3, `the first is void; a new comment asks about ${short(second)}`);
  await sleep(NOTHING_HAPPENS_MS);
  if (github.pullRequest(REPO, number).merged) throw new Error('a countersign of another head merged it');
  await tell.seen(3, 'the countersign of the first head merges nothing');
  await github.react(REPO, askedAgain.id, PEOPLE.maintainer, 'rocket');
  await tell.person(3, `${PEOPLE.maintainer} reacts 🚀 on the new comment`);
  await view.merged(number);
  await tell.seen(3, `merged ${short(second)}`);
  return {
    case: 3,
    title: 'pushed again',
    number,
    heads: [first, second],
    state: {
      ...MERGED,
      check_runs: [['cancelled'], ['success']],
      gates: ['cancelled', 'success'],
      comments: [REPLACED, ...MERGED.comments],
      runs: ['run.cancelled.superseded', 'completed'],
    },
  };
}

export async function redCi({ github, tell }: Stage): Promise<Expected> {
  const view = viewer(github);
  await tell.title(4, 'A change whose CI fails is not put to the maintainers until CI is green');
  const { number, headSha } = await github.openPullRequest({
    repo: REPO,
    author: PEOPLE.author,
    branch: 'count',
    title: 'Count what is in the cart',
    files: COUNTED,
  });
  await tell.person(4, `${PEOPLE.author} opens #${number} "Count what is in the cart"`);
  await github.reportCheck(REPO, headSha, { name: 'test', status: 'completed', conclusion: 'failure' });
  await tell.person(4, 'CI reports: test failed');
  const red = await view.check(headSha, 'the run to end on red CI', (run) => run.status === 'completed');
  if (view.approval(number, headSha)) throw new Error('it was put to the maintainers although CI failed');
  await tell.seen(4, `nobody is asked; the check run says: ${red.title}`);
  await github.reportCheck(REPO, headSha, { name: 'test', status: 'in_progress' });
  await tell.person(4, 'the test is run again');
  await github.reportCheck(REPO, headSha, { name: 'test', status: 'completed', conclusion: 'success' });
  await tell.person(4, 'CI reports: test passed');
  const asked = await view.asked(number, headSha);
  await tell.seen(4, 'now the approval comment asks the maintainers');
  await github.react(REPO, asked.id, PEOPLE.maintainer, '+1');
  await tell.person(4, `${PEOPLE.maintainer} reacts 👍`);
  await view.merged(number);
  await tell.seen(4, 'merged');
  return {
    case: 4,
    title: 'red, then green CI',
    number,
    heads: [headSha],
    // The completed check run stays, and the continued run gets a new one.
    state: { ...MERGED, check_runs: [['failure', 'success']] },
  };
}

async function passCi(github: GitHubStandIn, sha: string): Promise<void> {
  for (const name of ['test', 'lint']) {
    await github.reportCheck(REPO, sha, { name, status: 'completed', conclusion: 'success' });
  }
}
