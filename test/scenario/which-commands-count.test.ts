// @module-tag slow
import { expect, test } from 'vitest';
import { REPO } from '../support/harness.ts';
import { DEPLOY, openWaitingForCi, reactions } from './support-commands.ts';
import { CI_AND_MERGE, only, type Scene, scenes } from './support-scene.ts';

const start = scenes();

test('an unknown command is answered with the closest known one', async () => {
  const { scene, number } = await openWaitingForCi(start);
  const id = await scene.say(number, 'will', '/countersign stauts');
  expect(reactions(scene, number, id)).toEqual(['eyes', 'confused']);
  expect(scene.replies(number, id)).toMatchInlineSnapshot(`
    [
      "There is no command \`stauts\`; did you mean \`/countersign status\`?",
    ]
  `);
});

test('no command approves a merge', async () => {
  const { scene, number, headSha } = await openWaitingForCi(start);
  await scene.github.reportCheck(REPO, headSha, { name: 'test', status: 'completed', conclusion: 'success' });
  await scene.settle();
  const id = await scene.say(
    number,
    'mia',
    '/countersign approve\n/countersign merge\n/countersign countersign',
  );
  await scene.advance(60_000);
  expect(scene.replies(number, id)).toMatchInlineSnapshot(`
    [
      "A merge is never approved or rejected by a command or a button: react to its approval comment.

    There is no command \`merge\`; \`/countersign help\` lists the commands.

    There is no command \`countersign\`; \`/countersign help\` lists the commands.",
    ]
  `);
  expect(scene.github.merges).toEqual([]);
});

test('several commands in one comment run in order and get one reply', async () => {
  const { scene, number } = await openWaitingForCi(start);
  const id = await scene.say(number, 'mia', '/countersign pause\n\nand then\n\n/countersign cancel');
  expect(scene.replies(number, id)).toMatchInlineSnapshot(`
    [
      "Paused: nothing is merged until \`/countersign resume\`.

    Cancelled one run.",
    ]
  `);
});

test('a comment with one impossible command gets a confused reaction, and the other commands run', async () => {
  const { scene, number } = await openWaitingForCi(start);
  const id = await scene.say(number, 'will', '/countersign pause\n/countersign cancel');
  expect(reactions(scene, number, id)).toEqual(['eyes', 'confused']);
  expect((await scene.runs('ship')).map(({ status }) => status)).toEqual(['cancelled']);
});

test.each([
  ['a quotation', '> /countersign cancel'],
  ['a fenced block', '```\n/countersign cancel\n```'],
  ['an indented block', 'Look:\n\n    /countersign cancel'],
  ['an HTML comment', '<!--\n/countersign cancel\n-->'],
  ['a folded quotation', '<details>\n\n/countersign cancel\n\n</details>'],
  ['the middle of a line', 'do not write /countersign cancel here'],
  ['a list', '- /countersign cancel'],
])('a command in %s is ignored', async (_where, body) => {
  const { scene, number } = await openWaitingForCi(start);
  const id = await scene.say(number, 'mia', body);
  expect(scene.comment(number, id).reactions).toEqual([]);
  expect(scene.replies(number, id)).toEqual([]);
  expect((await scene.runs('ship')).map(({ status }) => status)).toEqual(['waiting_ci']);
});

test('a command that is edited into a comment is ignored', async () => {
  const { scene, number } = await openWaitingForCi(start);
  const id = await scene.say(number, 'mia', 'I wonder.');
  await scene.github.editComment(REPO, id, 'mia', '/countersign cancel');
  await scene.settle();
  expect(scene.comment(number, id).reactions).toEqual([]);
  expect((await scene.runs('ship')).map(({ status }) => status)).toEqual(['waiting_ci']);
});

test('a bot cannot issue commands, whatever its role', async () => {
  const { scene, number } = await openWaitingForCi(start);
  scene.github.addUser('helper[bot]', { type: 'Bot' });
  scene.github.setPermission(REPO, 'helper[bot]', 'admin');
  const id = await scene.say(number, 'helper[bot]', '/countersign cancel');
  expect(scene.comment(number, id).reactions).toEqual([]);
  expect((await scene.runs('ship')).map(({ status }) => status)).toEqual(['waiting_ci']);
});

test('the app ignores its own comments', async () => {
  const echo = `
name: echo
trigger: { event: pr.opened }
steps:
  - action: gh-comment
    with: { body: "/countersign cancel" }
`;
  const scene = await start(only({ ship: CI_AND_MERGE, echo }));
  const { number } = await scene.open();
  const own = scene.github.comments(REPO, number).find(({ body }) => body.endsWith('/countersign cancel'));
  expect(own?.reactions).toEqual([]);
  expect((await scene.runs('ship')).map(({ status }) => status)).toEqual(['waiting_ci']);
});

test('a person whose name looks like a bot is a person', async () => {
  const { scene, number } = await openWaitingForCi(start);
  scene.github.addUser('ada-bot');
  scene.github.setPermission(REPO, 'ada-bot', 'write');
  const id = await scene.say(number, 'ada-bot', '/countersign cancel');
  expect(reactions(scene, number, id)).toEqual(['eyes', 'hooray']);
});

test('a command on an issue is ignored', async () => {
  const { scene } = await openWaitingForCi(start);
  const issue = await scene.github.createIssue(REPO, 'otto', 'A question');
  const id = await scene.say(issue, 'mia', '/countersign help');
  expect(scene.comment(issue, id).reactions).toEqual([]);
});

test.each(['fifo', 'reverse'] as const)(
  'a command written before a newer push is refused (deliveries come %s)',
  async (order) => {
    const { scene, number, headSha } = await openWaitingForCi(start);
    await scene.advance(60_000);
    scene.github.holdDeliveries();
    const id = await scene.github.comment(REPO, number, 'mia', '/countersign fire deploy environment=live');
    await scene.advance(60_000);
    const newer = await scene.github.push({
      repo: REPO,
      branch: 'change',
      author: 'ada',
      files: { 'docs/page.txt': 'B\n' },
    });
    await scene.github.releaseDeliveries(order);
    await scene.settle();
    expect(reactions(scene, number, id)).toEqual(['eyes', 'confused']);
    const [old, now] = [headSha, newer].map((sha) => sha.slice(0, 7));
    expect(scene.replies(number, id)).toEqual([
      `The head moved from \`${old}\` to \`${now}\` since you wrote this, so nothing was done; send it again if you mean the new head.`,
    ]);
    expect(await scene.runs('deploy')).toEqual([]);
  },
);

test('a chain fired before a newer push is refused if no chain had run for the older head', async () => {
  const scene = await start(only({ deploy: DEPLOY }));
  const { number } = await scene.open();
  await scene.advance(60_000);
  scene.github.holdDeliveries();
  await scene.github.comment(REPO, number, 'mia', '/countersign fire deploy environment=live');
  await scene.advance(60_000);
  await scene.github.push({ repo: REPO, branch: 'change', author: 'ada', files: { 'docs/page.txt': 'B\n' } });
  await scene.github.releaseDeliveries();
  await scene.settle();
  expect(await scene.runs('deploy')).toEqual([]);
});

test('a redelivered command runs once and is answered once', async () => {
  const { scene, number } = await openWaitingForCi(start);
  const id = await scene.say(number, 'mia', '/countersign fire deploy environment=staging');
  const delivery = scene.github.deliveries.findLast(
    ({ event, payload }) => event === 'issue_comment' && JSON.stringify(payload).includes('fire deploy'),
  );
  expect(await scene.github.redeliver(delivery?.guid ?? '')).toBe(202);
  await scene.settle();
  await sendAgainUnderAnotherGuid(scene, delivery?.payload);
  await scene.settle();
  expect(await scene.runs('deploy')).toHaveLength(1);
  expect(scene.replies(number, id)).toHaveLength(1);
});

async function sendAgainUnderAnotherGuid(scene: Scene, payload: unknown): Promise<void> {
  const sent = scene.github.signedDelivery('issue_comment', payload);
  const answer = await fetch(`${scene.app.url}/api/github/webhooks`, { method: 'POST', ...sent });
  expect(answer.status).toBe(202);
}

test('a command on a closed pull request changes nothing', async () => {
  const { scene, number } = await openWaitingForCi(start);
  await scene.github.closePullRequest(REPO, number, 'ada');
  await scene.settle();
  const id = await scene.say(number, 'mia', '/countersign fire deploy environment=live');
  expect(reactions(scene, number, id)).toEqual(['eyes', 'confused']);
  expect(scene.replies(number, id)).toMatchInlineSnapshot(`
    [
      "The pull request is closed, so there is nothing to do.",
    ]
  `);
  expect(await scene.runs('deploy')).toEqual([]);
});

test('a closed pull request still answers why', async () => {
  const { scene, number } = await openWaitingForCi(start);
  await scene.github.closePullRequest(REPO, number, 'ada');
  await scene.settle();
  const id = await scene.say(number, 'otto', '/countersign why');
  expect(scene.replies(number, id)[0]).toContain('✘ stopped: the pull request was closed\n');
});
