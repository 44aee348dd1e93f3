import { expect, test } from 'vitest';
import { REPO } from '../support/harness.ts';
import { CI_AND_MERGE, only, type Scene, scenes } from './support-scene.ts';

const start = scenes();

const DEPLOY = `
name: deploy
trigger: { event: manual.fired }
steps:
  - action: gh-comment
    with: { pr: "{{ trigger.pr_number }}", body: "Deploying to {{ trigger.input_environment }}." }
`;

/** A pull request whose run waits for CI. */
async function waiting(more: Record<string, string> = {}): Promise<{ scene: Scene; number: number; headSha: string }> {
  const scene = await start({ ...only({ ship: CI_AND_MERGE, deploy: DEPLOY }), ...more });
  return { scene, ...(await scene.open()) };
}

function reactions(scene: Scene, number: number, id: number): string[] {
  return scene.comment(number, id).reactions.map(({ content }) => content);
}

test('a command is seen with eyes, then done with a cheer and one reply', async () => {
  const { scene, number } = await waiting();
  const id = await scene.say(number, 'will', '/countersign ci');
  expect(reactions(scene, number, id)).toEqual(['eyes', 'hooray']);
  expect(scene.replies(number, id)).toMatchInlineSnapshot(`
    [
      "Reading the state of CI again.",
    ]
  `);
});

test('a command that fails is seen with eyes, then answered with a puzzled face and one reply', async () => {
  const { scene, number } = await waiting();
  const id = await scene.say(number, 'otto', '/countersign cancel');
  expect(reactions(scene, number, id)).toEqual(['eyes', 'confused']);
  expect(scene.replies(number, id)).toHaveLength(1);
});

test('help lists every command and who may use it', async () => {
  const { scene, number } = await waiting();
  const id = await scene.say(number, 'otto', '/countersign help');
  expect(scene.replies(number, id)[0]).toMatchInlineSnapshot(`
    "Write a command at the start of a line of a new comment. Commands never approve: to countersign, react to the approval comment.

    | command | what it does | who may |
    | --- | --- | --- |
    | \`/countersign help\` | shows this list | everybody who can read the repository |
    | \`/countersign status\` | shows where the pull request stands | everybody who can read the repository |
    | \`/countersign why\` | says why it is, or is not, being merged | everybody who can read the repository |
    | \`/countersign review\` | reviews the current head again | people with write access or the author of the pull request |
    | \`/countersign rerun [step]\` | runs a step again, or all that failed | people with write access or the author of the pull request |
    | \`/countersign ci\` | reads the state of CI again | people with write access or the author of the pull request |
    | \`/countersign cancel\` | cancels what is running for the pull request | people with write access or the author of the pull request |
    | \`/countersign pause\` | holds every merge of the pull request until \`resume\` | people with maintain access |
    | \`/countersign resume\` | lets it go on after \`pause\` | people with maintain access |
    | \`/countersign fire <chain> [key=value …]\` | fires a chain, with inputs | people with maintain access |"
  `);
});

test('status says to anybody where the pull request stands', async () => {
  const { scene, number } = await waiting();
  const id = await scene.say(number, 'otto', '/countersign status');
  expect(reactions(scene, number, id)).toEqual(['eyes', 'hooray']);
  expect(scene.replies(number, id)[0]).toMatchInlineSnapshot(`
    "### ⏳ Waiting for CI: no check has reported yet

    - ⏳ \`ci\` waiting for CI: no check has reported yet
    - ⚪ \`merge\` not started

    **Next:** Nothing to do for now: this goes on by itself when CI is done.

    <sub>Chain \`ship\` for \`d7474e0\`</sub>"
  `);
});

test('status adds no second sticky comment', async () => {
  const { scene, number } = await waiting();
  await scene.say(number, 'otto', '/countersign status');
  await scene.advance(10_000);
  const sticky = scene.github.comments(REPO, number).filter(({ body }) => body.includes('countersign:status'));
  expect(sticky).toHaveLength(1);
});

test('why says to anybody, as a tree, what the merge waits for', async () => {
  const { scene, number } = await waiting();
  const id = await scene.say(number, 'otto', '/countersign why');
  expect(scene.replies(number, id)[0]).toMatchInlineSnapshot(`
    "\`\`\`
    … not merging yet: ci waits for CI: no check has reported yet
      … ci waits for CI: no check has reported yet
      … merge has not started
    \`\`\`"
  `);
});

test('review reviews the same head again', async () => {
  const scene = await start();
  const { number, headSha } = await scene.open();
  const id = await scene.say(number, 'will', '/countersign review');
  await scene.advance(5_000);
  expect(scene.replies(number, id)).toEqual([`Reviewing \`${headSha.slice(0, 7)}\` again.`]);
  const [run, ...others] = await scene.runs('pr-review');
  expect(others).toEqual([]);
  const sessions = await scene.app.storage.read.runs.sessionsOf(run?.id ?? '');
  expect(sessions.filter(({ invocationId }) => invocationId === 'inv_1')).toHaveLength(2);
  expect(scene.github.checkRuns(REPO, headSha).filter(({ app }) => app === 'countersign')).toHaveLength(1);
});

test('review is not for somebody who can only read', async () => {
  const { scene, number } = await waiting();
  const id = await scene.say(number, 'otto', '/countersign review');
  expect(scene.replies(number, id)).toMatchInlineSnapshot(`
    [
      "\`/countersign review\` is for people with write access or the author of the pull request; you have read access.",
    ]
  `);
});

test('rerun runs again what failed, and says which steps', async () => {
  const { scene, number, headSha } = await waiting();
  await scene.github.reportCheck(REPO, headSha, { name: 'test', status: 'completed', conclusion: 'failure' });
  await scene.settle();
  expect(scene.check(headSha, 'ship')?.conclusion).toBe('failure');
  const id = await scene.say(number, 'will', '/countersign rerun');
  expect(scene.replies(number, id)).toEqual(['Running again: `ci`.']);
});

test('rerun of a named step runs it again although it has passed', async () => {
  const { scene, number, headSha } = await waiting();
  await scene.github.reportCheck(REPO, headSha, { name: 'test', status: 'completed', conclusion: 'success' });
  await scene.settle();
  const id = await scene.say(number, 'will', '/countersign rerun ci');
  expect(scene.replies(number, id)).toEqual(['Running again: `ci`.']);
  const [run] = await scene.runs('ship');
  const sessions = await scene.app.storage.read.runs.sessionsOf(run?.id ?? '');
  expect(sessions.filter(({ invocationId }) => invocationId === 'inv_1')).toHaveLength(2);
});

test('rerun of a step that does not exist names the steps', async () => {
  const { scene, number } = await waiting();
  const id = await scene.say(number, 'will', '/countersign rerun marge');
  expect(reactions(scene, number, id)).toEqual(['eyes', 'confused']);
  expect(scene.replies(number, id)).toMatchInlineSnapshot(`
    [
      "There is no step \`marge\`; did you mean \`merge\`?",
    ]
  `);
});

test('rerun with nothing failed says so', async () => {
  const { scene, number } = await waiting();
  const id = await scene.say(number, 'will', '/countersign rerun');
  expect(scene.replies(number, id)).toMatchInlineSnapshot(`
    [
      "No step has failed, so there is nothing to run again; name a step to run it all the same.",
    ]
  `);
});

test('rerun is not for somebody who can only read', async () => {
  const { scene, number } = await waiting();
  const id = await scene.say(number, 'otto', '/countersign rerun ci');
  expect(reactions(scene, number, id)).toEqual(['eyes', 'confused']);
  expect(scene.replies(number, id)).toMatchInlineSnapshot(`
    [
      "\`/countersign rerun\` is for people with write access or the author of the pull request; you have read access.",
    ]
  `);
});

test('the author may repeat work without any role on the repository', async () => {
  const scene = await start(only({ ship: CI_AND_MERGE }));
  const { number } = await scene.open({ author: 'otto', fork: 'otto/app' });
  const id = await scene.say(number, 'otto', '/countersign ci');
  expect(reactions(scene, number, id)).toEqual(['eyes', 'hooray']);
});

test('ci reads the state of CI at once', async () => {
  const { scene, number, headSha } = await waiting();
  scene.github.holdDeliveries();
  await scene.github.reportCheck(REPO, headSha, { name: 'test', status: 'completed', conclusion: 'failure' });
  const { signedDelivery } = scene.github;
  const comment = { id: 1, created_at: scene.clock.now().toISOString(), body: '/countersign ci', user: { login: 'will', type: 'User' } };
  const [run] = await scene.runs('ship');
  const sent = signedDelivery('issue_comment', {
    action: 'created',
    installation: { id: run?.installationId },
    repository: { id: run?.repositoryId, name: 'app', owner: { login: 'octo' } },
    issue: { number, pull_request: {} },
    comment,
  });
  await fetch(`${scene.app.url}/api/github/webhooks`, { method: 'POST', ...sent });
  await scene.settle();
  expect(scene.check(headSha, 'ship')?.conclusion).toBe('failure');
});

test('cancel ends the run and its check run, and says who did it', async () => {
  const { scene, number, headSha } = await waiting();
  const id = await scene.say(number, 'will', '/countersign cancel');
  await scene.advance(5_000);
  expect(scene.replies(number, id)).toEqual(['Cancelled one run.']);
  expect(scene.check(headSha, 'ship')).toMatchObject({ conclusion: 'cancelled', title: 'Cancelled by will' });
});

test('cancel with nothing running says so', async () => {
  const { scene, number } = await waiting();
  await scene.say(number, 'will', '/countersign cancel');
  const id = await scene.say(number, 'will', '/countersign cancel');
  expect(scene.replies(number, id)).toMatchInlineSnapshot(`
    [
      "Nothing is running for this pull request, so there is nothing to cancel.",
    ]
  `);
});

test('a cancelled run is not begun again by an event of the same head', async () => {
  const { scene, number } = await waiting();
  await scene.say(number, 'will', '/countersign cancel');
  await scene.github.addLabel(REPO, number, 'will', 'later');
  await scene.settle();
  expect((await scene.runs('ship')).map(({ status }) => status)).toEqual(['cancelled']);
});

test('rerun after a cancel fires the chain anew', async () => {
  const { scene, number } = await waiting();
  await scene.say(number, 'will', '/countersign cancel');
  await scene.advance(1_000);
  const id = await scene.say(number, 'will', '/countersign rerun');
  expect(reactions(scene, number, id)).toEqual(['eyes', 'hooray']);
  expect((await scene.runs('ship')).map(({ status }) => status)).toEqual(['waiting_ci', 'cancelled']);
});

test('pause holds a countersigned merge until resume', async () => {
  const { scene, number, headSha } = await waiting();
  await scene.github.reportCheck(REPO, headSha, { name: 'test', status: 'completed', conclusion: 'success' });
  await scene.settle();
  const paused = await scene.say(number, 'mia', '/countersign pause');
  expect(scene.replies(number, paused)).toMatchInlineSnapshot(`
    [
      "Paused: nothing is merged until \`/countersign resume\`.",
    ]
  `);
  const question = scene.github.comments(REPO, number).find(({ body }) => body.includes('countersign:approval'));
  await scene.github.react(REPO, question?.id ?? 0, 'mia', 'rocket');
  await scene.advance(60_000);
  expect(scene.github.pullRequest(REPO, number).merged).toBe(false);
  expect(scene.check(headSha, 'ship')?.title).toBe('Paused');

  const resumed = await scene.say(number, 'mia', '/countersign resume');
  await scene.advance(5_000);
  expect(scene.replies(number, resumed)).toEqual(['Going on.']);
  expect(scene.github.pullRequest(REPO, number).merged).toBe(true);
});

test('pause and resume are not for writers nor for the author', async () => {
  const { scene, number } = await waiting();
  const byWriter = await scene.say(number, 'will', '/countersign pause');
  const byAuthor = await scene.say(number, 'ada', '/countersign resume');
  expect([...scene.replies(number, byWriter), ...scene.replies(number, byAuthor)]).toMatchInlineSnapshot(`
    [
      "\`/countersign pause\` is for people with maintain access; you have write access.",
      "\`/countersign resume\` is for people with maintain access; you have write access.",
    ]
  `);
});

test('pausing twice names who did it first, resuming twice says there is nothing to resume', async () => {
  const { scene, number } = await waiting();
  await scene.say(number, 'mia', '/countersign pause');
  const again = await scene.say(number, 'max', '/countersign pause');
  await scene.say(number, 'max', '/countersign resume');
  const nothing = await scene.say(number, 'mia', '/countersign resume');
  expect([...scene.replies(number, again), ...scene.replies(number, nothing)]).toMatchInlineSnapshot(`
    [
      "mia has paused this pull request already.",
      "This pull request is not paused.",
    ]
  `);
});

test('fire runs a chain with its inputs', async () => {
  const { scene, number } = await waiting();
  const id = await scene.say(number, 'mia', '/countersign fire deploy environment="the staging ground"');
  expect(reactions(scene, number, id)).toEqual(['eyes', 'hooray']);
  expect(scene.replies(number, id)).toEqual(['Fired `deploy`.']);
  const bodies = scene.github.comments(REPO, number).map(({ body }) => body.split('\n').at(-1));
  expect(bodies).toContain('Deploying to the staging ground.');
});

test('fire of a chain that is not there names the chains', async () => {
  const { scene, number } = await waiting();
  const id = await scene.say(number, 'mia', '/countersign fire deplyo');
  expect(scene.replies(number, id)).toMatchInlineSnapshot(`
    [
      "There is no chain \`deplyo\` that can be fired; did you mean \`deploy\`?",
    ]
  `);
});

test('fire is not for a writer', async () => {
  const { scene, number } = await waiting();
  const id = await scene.say(number, 'will', '/countersign fire deploy environment=staging');
  expect(scene.replies(number, id)).toMatchInlineSnapshot(`
    [
      "\`/countersign fire\` is for people with maintain access; you have write access.",
    ]
  `);
  expect(await scene.runs('deploy')).toEqual([]);
});

test('an unknown command is answered with the one that was probably meant', async () => {
  const { scene, number } = await waiting();
  const id = await scene.say(number, 'will', '/countersign stauts');
  expect(reactions(scene, number, id)).toEqual(['eyes', 'confused']);
  expect(scene.replies(number, id)).toMatchInlineSnapshot(`
    [
      "There is no command \`stauts\`; did you mean \`/countersign status\`?",
    ]
  `);
});

test('there is no command that approves', async () => {
  const { scene, number, headSha } = await waiting();
  await scene.github.reportCheck(REPO, headSha, { name: 'test', status: 'completed', conclusion: 'success' });
  await scene.settle();
  const id = await scene.say(number, 'mia', '/countersign approve\n/countersign merge\n/countersign countersign');
  await scene.advance(60_000);
  expect(scene.replies(number, id)).toMatchInlineSnapshot(`
    [
      "There is no command \`approve\`; \`/countersign help\` lists the commands.

    There is no command \`merge\`; \`/countersign help\` lists the commands.

    There is no command \`countersign\`; \`/countersign help\` lists the commands.",
    ]
  `);
  expect(scene.github.merges).toEqual([]);
});

test('several commands of one comment are carried out in order and answered in one reply', async () => {
  const { scene, number } = await waiting();
  const id = await scene.say(number, 'mia', '/countersign pause\n\nand then\n\n/countersign cancel');
  expect(scene.replies(number, id)).toMatchInlineSnapshot(`
    [
      "Paused: nothing is merged until \`/countersign resume\`.

    Cancelled one run.",
    ]
  `);
});

test('a comment with one command that cannot be done gets a puzzled face, and the others are done', async () => {
  const { scene, number } = await waiting();
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
])('a command in %s is none', async (_where, body) => {
  const { scene, number } = await waiting();
  const id = await scene.say(number, 'mia', body);
  expect(scene.comment(number, id).reactions).toEqual([]);
  expect(scene.replies(number, id)).toEqual([]);
  expect((await scene.runs('ship')).map(({ status }) => status)).toEqual(['waiting_ci']);
});

test('a command that is edited into a comment is ignored', async () => {
  const { scene, number } = await waiting();
  const id = await scene.say(number, 'mia', 'I wonder.');
  await scene.github.editComment(REPO, id, 'mia', '/countersign cancel');
  await scene.settle();
  expect(scene.comment(number, id).reactions).toEqual([]);
  expect((await scene.runs('ship')).map(({ status }) => status)).toEqual(['waiting_ci']);
});

test('a bot commands nothing, whatever its role', async () => {
  const { scene, number } = await waiting();
  scene.github.addUser('helper[bot]', { type: 'Bot' });
  scene.github.setPermission(REPO, 'helper[bot]', 'admin');
  const id = await scene.say(number, 'helper[bot]', '/countersign cancel');
  expect(scene.comment(number, id).reactions).toEqual([]);
  expect((await scene.runs('ship')).map(({ status }) => status)).toEqual(['waiting_ci']);
});

test('the app does not listen to its own comments', async () => {
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
  const { scene, number } = await waiting();
  scene.github.addUser('ada-bot');
  scene.github.setPermission(REPO, 'ada-bot', 'write');
  const id = await scene.say(number, 'ada-bot', '/countersign cancel');
  expect(reactions(scene, number, id)).toEqual(['eyes', 'hooray']);
});

test('a command on an issue is ignored', async () => {
  const { scene } = await waiting();
  const issue = await scene.github.createIssue(REPO, 'otto', 'A question');
  const id = await scene.say(issue, 'mia', '/countersign help');
  expect(scene.comment(issue, id).reactions).toEqual([]);
});

test.each(['fifo', 'reverse'] as const)(
  'a command written before a newer push is refused (deliveries come %s)',
  async (order) => {
    const { scene, number } = await waiting();
    await scene.advance(60_000);
    scene.github.holdDeliveries();
    const id = await scene.github.comment(REPO, number, 'mia', '/countersign fire deploy environment=live');
    await scene.advance(60_000);
    await scene.github.push({ repo: REPO, branch: 'change', author: 'ada', files: { 'docs/page.txt': 'B\n' } });
    await scene.github.releaseDeliveries(order);
    await scene.settle();
    expect(reactions(scene, number, id)).toEqual(['eyes', 'confused']);
    expect(scene.replies(number, id)).toMatchInlineSnapshot(`
      [
        "The head moved from \`d7474e0\` to \`c39c2e0\` since you wrote this, so nothing was done; send it again if you mean the new head.",
      ]
    `);
    expect(await scene.runs('deploy')).toEqual([]);
  },
);

test.fails('a chain fired before a newer push is refused where no chain had run for the older head', async () => {
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

test('a redelivered command is carried out and answered once', async () => {
  const { scene, number } = await waiting();
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
  const { scene, number } = await waiting();
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
  const { scene, number } = await waiting();
  await scene.github.closePullRequest(REPO, number, 'ada');
  await scene.settle();
  const id = await scene.say(number, 'otto', '/countersign why');
  expect(scene.replies(number, id)[0]).toMatchInlineSnapshot(`
    "\`\`\`
    ✘ stopped: the pull request was closed
      ✘ the pull request was closed
    \`\`\`"
  `);
});

test('the buttons of a waiting check run are commands', async () => {
  const { scene, headSha } = await waiting();
  const check = scene.check(headSha, 'ship');
  expect(check?.actions.map(({ identifier }) => identifier)).toEqual(['ci', 'cancel', 'pause']);
  await scene.github.clickAction(REPO, check?.id ?? 0, 'will', 'cancel');
  await scene.advance(5_000);
  expect(scene.check(headSha, 'ship')).toMatchObject({ conclusion: 'cancelled', title: 'Cancelled by will' });
});

test('a button pressed by somebody who may not does nothing', async () => {
  const { scene, headSha } = await waiting();
  const check = scene.check(headSha, 'ship');
  await scene.github.clickAction(REPO, check?.id ?? 0, 'otto', 'cancel');
  await scene.github.clickAction(REPO, check?.id ?? 0, 'will', 'pause');
  await scene.advance(5_000);
  expect(scene.check(headSha, 'ship')?.title).toMatch(/^Waiting for CI/);
});

test('a button on a pull request from a fork works, although GitHub names no pull request then', async () => {
  const scene = await start(only({ ship: CI_AND_MERGE }));
  const { headSha } = await scene.open({ author: 'otto', fork: 'otto/app' });
  await scene.github.clickAction(REPO, scene.check(headSha, 'ship')?.id ?? 0, 'will', 'cancel');
  await scene.advance(5_000);
  expect(scene.check(headSha, 'ship')?.title).toBe('Cancelled by will');
});

test('a button of an older head does nothing to the newer one', async () => {
  const { scene, headSha } = await waiting();
  const old = scene.check(headSha, 'ship')?.id ?? 0;
  scene.github.holdDeliveries();
  await scene.github.clickAction(REPO, old, 'will', 'cancel');
  const newer = await scene.github.push({ repo: REPO, branch: 'change', author: 'ada', files: { 'a.txt': 'a\n' } });
  await scene.github.releaseDeliveries('reverse');
  await scene.advance(5_000);
  expect(scene.check(newer, 'ship')?.title).toMatch(/^Waiting for CI/);
});

test('re-running the check run on GitHub runs again what failed', async () => {
  const { scene, headSha } = await waiting();
  await scene.github.reportCheck(REPO, headSha, { name: 'test', status: 'completed', conclusion: 'failure' });
  await scene.settle();
  const [run] = await scene.runs('ship');
  const sessions = async () => (await scene.app.storage.read.runs.sessionsOf(run?.id ?? '')).length;
  const before = await sessions();
  await scene.github.rerequestCheck(REPO, scene.check(headSha, 'ship')?.id ?? 0, 'will');
  await scene.advance(5_000);
  expect(await sessions()).toBe(before + 1);
  expect(scene.github.checkRuns(REPO, headSha).filter(({ app }) => app === 'countersign')).toHaveLength(1);
});

test('the buttons of another app’s check run do nothing here', async () => {
  const { scene, headSha } = await waiting();
  const [run] = await scene.runs('ship');
  const sent = scene.github.signedDelivery('check_run', {
    action: 'requested_action',
    installation: { id: run?.installationId },
    repository: { id: run?.repositoryId, name: 'app', owner: { login: 'octo' } },
    check_run: { head_sha: headSha, external_id: run?.id, app: { id: 1 }, pull_requests: [] },
    requested_action: { identifier: 'cancel' },
    sender: { login: 'mia', type: 'User' },
  });
  await fetch(`${scene.app.url}/api/github/webhooks`, { method: 'POST', ...sent });
  await scene.advance(5_000);
  expect(scene.check(headSha, 'ship')?.title).toMatch(/^Waiting for CI/);
});
