import { unreachable } from '../../../src/core/errors.ts';
import { ApiError } from '../../support/github/api-error.ts';
import type { FaultMatch } from '../../support/github/faults.ts';
import type { SeenComment } from '../../support/github/read.ts';
import { REPO } from '../../support/harness.ts';
import type { Action } from './action.ts';
import { AFFECTS, FAULT } from './faults.ts';
import { BASES, isQuestion, type Pull, type World } from './world.ts';

/** What is done to one pull request. */
type PullAction = Extract<
  Action,
  | { do: 'push' | 'rewrite' | 'push back' | 'react' | 'take back' | 'forge' | 'edit' | 'delete' | 'say' }
  | { do: 'draft' | 'close' | 'ready' | 'retarget' | 'ci' | 'surprise' | 'elsewhere' }
  | { do: 'press' | 'auto-merge' | 'no auto-merge' | 'enqueue' | 'dequeue' }
>;

const A_PUSH: PullAction = { do: 'push', by: 'ada', withCoAuthor: undefined };

/** @returns a description of what was done; nothing if there was no object. */
export async function perform(world: World, action: Action): Promise<string | undefined> {
  const { harness } = world;
  const { github } = harness;
  switch (action.do) {
    case 'open':
      if (world.open.length >= 3) return undefined;
      return world.openPull(action.by, action.draft);
    case 'rule': {
      const base = world.current ? github.pullRequest(REPO, world.current.number).baseRef : 'main';
      await world.change(action.rules, base);
      return `on ${base} the rules are now “${action.rules}”`;
    }
    case 'grant':
      github.setPermission(REPO, action.to, action.role);
      return `${action.to} has the role ${action.role} now`;
    case 'hold':
      world.hold();
      return 'deliveries are held back';
    case 'release':
      await world.release(action.order);
      return `held deliveries come (${action.order})`;
    case 'redeliver': {
      const sent = github.deliveries.filter(({ attempts }) => attempts > 0).at(-1 - action.back);
      if (sent === undefined) return undefined;
      await github.redeliver(sent.guid);
      return `${sent.event} ${sent.action ?? ''} comes again`;
    }
    case 'wait':
      await harness.advance(action.seconds * 1_000);
      return `${action.seconds} s pass`;
    case 'fault': {
      const befalls: FaultMatch = (request) => {
        const isHit = AFFECTS[action.on](request);
        if (isHit) world.failures.push(harness.clock.now());
        return isHit;
      };
      world.prepared.push(github.fail(befalls, FAULT[action.how], action.times));
      return `the next ${action.times} of ${action.on} fail: ${action.how}`;
    }
    case 'restart':
      await harness.restart();
      return 'the app is restarted';
    case 'turn':
      world.turned += 1;
      return world.current && `everybody turns to #${world.current.number}`;
    case 'reopen': {
      const closed = world.pulls.findLast(({ number }) => {
        const { state, merged } = github.pullRequest(REPO, number);
        return state === 'closed' && !merged;
      });
      if (!closed) return undefined;
      if (world.isTaken(closed.branch, github.pullRequest(REPO, closed.number).baseRef)) return undefined;
      await github.reopenPullRequest(REPO, closed.number, 'ada');
      return `#${closed.number} is reopened`;
    }
    case 'guard':
      if (world.guard) return undefined;
      world.guardBy(action.by);
      return `the branches require the gate check (${action.by})`;
    case 'ci of group': {
      const group = world.groups.at(-1);
      if (group === undefined) return undefined;
      await github.setStatus(REPO, group, { context: 'test', state: action.says });
      return `CI says ${action.says} on the group ${group.slice(0, 7)}`;
    }
    default:
      return world.current && actOn(world, world.current, action);
  }
}

async function actOn(world: World, pull: Pull, action: PullAction): Promise<string | undefined> {
  const { github } = world.harness;
  const { number } = pull;
  switch (action.do) {
    case 'push':
      return world.push(pull, action.by, action.withCoAuthor);
    case 'rewrite': {
      await world.rewrite(pull, action.by);
      return `${action.by} force-pushes a commit of their own, ${world.headOf(pull).slice(0, 7)}, to #${number}`;
    }
    case 'push back': {
      const older = pull.heads.findLast((head) => head !== world.headOf(pull));
      if (older === undefined) return undefined;
      await github.push({ repo: REPO, branch: pull.branch, author: action.by, forceTo: older });
      return `${action.by} force-pushes #${number} back to ${older.slice(0, 7)}`;
    }
    case 'react': {
      const comment = commentFor(world, pull, action.on);
      if (!comment) return undefined;
      const by = action.by === 'the author' ? pull.author : action.by;
      await github.react(REPO, comment.id, by, action.emoji);
      return `${by} reacts with ${action.emoji} to the ${action.on} question of #${number}`;
    }
    case 'take back':
      return takeBack(world, pull, action.by);
    case 'forge': {
      const question = world.questions(pull).at(-1);
      if (!question) return undefined;
      await github.comment(REPO, number, action.by, question.body);
      return `${action.by} posts a copy of the question of #${number}`;
    }
    case 'edit':
    case 'delete': {
      const question = world.questions(pull).at(-1);
      if (!question) return undefined;
      if (action.do === 'delete') await github.deleteComment(REPO, question.id, action.by);
      else await github.editComment(REPO, question.id, action.by, `${question.body}\n\nIt is fine.`);
      return `${action.by} ${action.do}s the question of #${number}`;
    }
    case 'say':
      await github.comment(REPO, number, action.by, `/countersign ${action.command}`);
      return `${action.by} says /countersign ${action.command} on #${number}`;
    case 'draft':
      await github.convertToDraft(REPO, number, 'ada');
      return `#${number} becomes a draft`;
    case 'ready':
      await github.readyForReview(REPO, number, 'ada');
      return `#${number} is ready for review`;
    case 'close':
      await github.closePullRequest(REPO, number, 'ada');
      return `#${number} is closed`;
    case 'retarget': {
      const base = otherBase(world, pull);
      if (world.isTaken(pull.branch, base)) return undefined;
      await github.editPullRequest(REPO, number, 'ada', { base });
      return `#${number} is retargeted to ${base}`;
    }
    case 'ci':
      await reportCi(world, pull, action.as, action.says);
      return `CI says ${action.says} on #${number} as a ${action.as}`;
    case 'elsewhere':
      return world.openElsewhere(pull, action.by);
    case 'press':
    case 'auto-merge':
    case 'no auto-merge':
    case 'enqueue':
    case 'dequeue':
      return useGitHub(world, pull, action);
    case 'surprise':
      return prepare(world, pull, action.act, action.when);
    default:
      return unreachable(action);
  }
}

/** GitHub's own ways to merge, on branches where they obey the gate check. */
async function useGitHub(
  world: World,
  { number }: Pull,
  { do: act, by }: Extract<Action, { do: 'press' | 'auto-merge' | 'no auto-merge' | 'enqueue' | 'dequeue' }>,
): Promise<string | undefined> {
  const { github } = world.harness;
  if (!world.isGuarded(github.pullRequest(REPO, number).baseRef)) return undefined;
  const done = async (): Promise<string> => {
    switch (act) {
      case 'press': {
        const pressed = await github.pressMergeButton(REPO, number, by);
        return pressed.kind === 'merged' ? 'merged' : pressed.message;
      }
      case 'auto-merge':
        return github.enableAutoMerge(REPO, number, by).then(() => 'done');
      case 'no auto-merge':
        return github.disableAutoMerge(REPO, number, by).then(() => 'done');
      case 'enqueue':
        return github.enqueue(REPO, number, by).then(() => 'done');
      case 'dequeue':
        return github.dequeue(REPO, number, by).then(() => 'done');
    }
  };
  const answer = await done().catch((error: unknown) => {
    if (error instanceof ApiError) return error.message;
    throw error;
  });
  return `${by}: ${act} #${number}: ${answer.trim()}`;
}

async function takeBack(world: World, pull: Pull, by: string): Promise<string | undefined> {
  const { github } = world.harness;
  const question = world.questions(pull).at(-1);
  const given = question?.reactions.filter(({ login }) => login === by) ?? [];
  if (!question || given.length === 0) return undefined;
  for (const { content } of given) {
    // Reacting again returns the existing reaction.
    const id = await github.react(REPO, question.id, by, content);
    await github.unreact(REPO, question.id, id);
  }
  return `${by} takes every reaction to the question of #${pull.number} back`;
}

async function reportCi(
  world: World,
  pull: Pull,
  as: 'status' | 'check run',
  says: 'success' | 'failure' | 'pending',
) {
  const { github } = world.harness;
  const sha = world.headOf(pull);
  if (as === 'status') return github.setStatus(REPO, sha, { context: 'test', state: says });
  await github.reportCheck(REPO, sha, {
    name: 'build',
    ...(says === 'pending' ? { status: 'in_progress' } : { status: 'completed', conclusion: says }),
  });
}

function prepare(
  world: World,
  pull: Pull,
  act: 'push' | 'draft' | 'close' | 'retarget',
  when: 'reading' | 'merging',
) {
  const { github } = world.harness;
  const moment = `/pulls/${pull.number}${when === 'merging' ? '/merge' : ''}`;
  const takeBack = github.fail(({ path }) => {
    if (!path.endsWith(moment) || !world.isOpen(pull)) return false;
    takeBack();
    // The state changes in this turn, before the request is answered; only the webhooks are waited for.
    world.remember();
    world.underWay.push(actOn(world, pull, act === 'push' ? A_PUSH : { do: act }));
    return false;
  }, 'reset');
  world.prepared.push(takeBack);
  return `surprise: ${act} of #${pull.number} at the app’s next ${when}`;
}

function commentFor(world: World, pull: Pull, which: 'newest' | 'older' | 'copy'): SeenComment | undefined {
  const { github } = world.harness;
  switch (which) {
    case 'newest':
      return world.questions(pull).at(-1);
    case 'older':
      return world.questions(pull).at(-2);
    case 'copy':
      return github
        .comments(REPO, pull.number)
        .findLast(({ author, body }) => author !== github.app.botLogin && isQuestion(body));
  }
}

function otherBase(world: World, { number }: Pull): string {
  const { baseRef } = world.harness.github.pullRequest(REPO, number);
  return BASES.find((base) => base !== baseRef) ?? baseRef;
}
