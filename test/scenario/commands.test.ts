import { expect, test } from 'vitest';
import { REPO } from '../support/harness.ts';
import { openWaitingForCi, reactions } from './support-commands.ts';
import { CI_AND_MERGE, only, scenes, UPDATES_SHOWN_MS } from './support-scene.ts';

const start = scenes();

test('a command gets eyes when it is read, then a hooray and one reply when it is done', {
  tags: 'slow',
}, async () => {
  const { scene, number } = await openWaitingForCi(start);
  const id = await scene.say(number, 'will', '/countersign ci');
  expect(reactions(scene, number, id)).toEqual(['eyes', 'hooray']);
  expect(scene.replies(number, id)).toMatchInlineSnapshot(`
    [
      "Reading the state of CI again.",
    ]
  `);
});

test('a command that fails gets eyes, then a confused reaction and one reply', { tags: 'slow' }, async () => {
  const { scene, number } = await openWaitingForCi(start);
  const id = await scene.say(number, 'otto', '/countersign cancel');
  expect(reactions(scene, number, id)).toEqual(['eyes', 'confused']);
  expect(scene.replies(number, id)).toHaveLength(1);
});

test('help lists every command and who may use it', { tags: 'slow' }, async () => {
  const { scene, number } = await openWaitingForCi(start);
  const id = await scene.say(number, 'otto', '/countersign help');
  expect(scene.replies(number, id)[0]).toMatchInlineSnapshot(`
    "Write a command at the start of a line of a new comment. Commands never approve a merge: to countersign one, react to the approval comment.

    | command | what it does | who may |
    | --- | --- | --- |
    | \`/countersign help\` | shows this list | everybody who can read the repository |
    | \`/countersign status\` | shows where the pull request stands | everybody who can read the repository |
    | \`/countersign why\` | says why it is, or is not, being merged | everybody who can read the repository |
    | \`/countersign review [file]\` | reviews the current head again, or one file of it | people with write access or the author of the pull request |
    | \`/countersign rerun [step]\` | runs a step again, or all that failed | people with write access or the author of the pull request |
    | \`/countersign ci\` | reads the state of CI again | people with write access or the author of the pull request |
    | \`/countersign approve [step]\` | lets a step go on that asks and merges nothing | whoever may countersign |
    | \`/countersign reject [step]\` | stops a step that asks and merges nothing | whoever may countersign |
    | \`/countersign accept <finding> because <reason>\` | lets a finding of the review pass, for this commit | whoever may countersign |
    | \`/countersign withdraw <finding>\` | takes back that a finding was accepted | whoever may countersign |
    | \`/countersign forget <rule>\` | shows findings of a rule again that are not shown, because people accepted it before | people with write access |
    | \`/countersign cancel\` | cancels what is running for the pull request | people with write access or the author of the pull request |
    | \`/countersign pause\` | holds every merge of the pull request until \`resume\` | people with maintain access |
    | \`/countersign resume\` | lets it go on after \`pause\` | people with maintain access |
    | \`/countersign fire <chain> [key=value …]\` | fires a chain, with inputs | people with maintain access |
    | \`/countersign ask <question>\` | has the skill that fits best answer a question | people with write access |"
  `);
});

test('status tells anybody the state of the pull request', { tags: 'slow' }, async () => {
  const { scene, number } = await openWaitingForCi(start);
  const id = await scene.say(number, 'otto', '/countersign status');
  expect(reactions(scene, number, id)).toEqual(['eyes', 'hooray']);
  expect(scene.replies(number, id)[0]).toMatchInlineSnapshot(`
    "### ⏳ Waiting for CI: no check has reported yet

    - ⏳ \`ci\` waiting for CI: no check has reported yet
    - ⚪ \`merge\` not started

    **Next:** Nothing to do: this continues when CI is done.

    <sub>Chain \`ship\` for \`d7474e0\`</sub>"
  `);
});

test('status adds no second sticky comment', { tags: 'slow' }, async () => {
  const { scene, number } = await openWaitingForCi(start);
  await scene.say(number, 'otto', '/countersign status');
  await scene.advance(10_000);
  const sticky = scene.github
    .comments(REPO, number)
    .filter(({ body }) => body.includes('countersign:status'));
  expect(sticky).toHaveLength(1);
});

test('why tells anybody, as a tree, what the merge waits for', { tags: 'slow' }, async () => {
  const { scene, number } = await openWaitingForCi(start);
  const id = await scene.say(number, 'otto', '/countersign why');
  expect(scene.replies(number, id)[0]).toMatchInlineSnapshot(`
    "\`\`\`
    … not merging yet: ci waits for CI: no check has reported yet
      … ci waits for CI: no check has reported yet
      … merge has not started
    \`\`\`"
  `);
});

test('review reviews the same head again', { tags: 'slow' }, async () => {
  const scene = await start();
  const { number, headSha } = await scene.open();
  const id = await scene.say(number, 'will', '/countersign review');
  await scene.advance(5_000);
  expect(scene.replies(number, id)).toEqual([`Reviewing \`${headSha.slice(0, 7)}\` again.`]);
  const [run, ...others] = await scene.runs('pr-review');
  expect(others).toEqual([]);
  const sessions = await scene.app.storage.read.runs.sessionsOf(run?.id ?? '');
  expect(sessions.filter(({ invocationId }) => invocationId === 'inv_1')).toHaveLength(2);
  const names = scene.github.checkRuns(REPO, headSha).map(({ name }) => name);
  expect(names.filter((name) => name === 'countersign / pr-review')).toHaveLength(1);
});

test('review is refused for somebody who can only read', { tags: 'slow' }, async () => {
  const { scene, number } = await openWaitingForCi(start);
  const id = await scene.say(number, 'otto', '/countersign review');
  expect(scene.replies(number, id)).toMatchInlineSnapshot(`
    [
      "\`/countersign review\` is for people with write access or the author of the pull request; you have read access.",
    ]
  `);
});

test('rerun runs again what failed, and names the steps', { tags: 'slow' }, async () => {
  const { scene, number, headSha } = await openWaitingForCi(start);
  await scene.github.reportCheck(REPO, headSha, { name: 'test', status: 'completed', conclusion: 'failure' });
  await scene.settle();
  expect(scene.check(headSha, 'ship')?.conclusion).toBe('failure');
  const id = await scene.say(number, 'will', '/countersign rerun');
  expect(scene.replies(number, id)).toEqual(['Running again: `ci`.']);
});

test('rerun of a named step runs it again although it has passed', { tags: 'slow' }, async () => {
  const { scene, number, headSha } = await openWaitingForCi(start);
  await scene.github.reportCheck(REPO, headSha, { name: 'test', status: 'completed', conclusion: 'success' });
  await scene.settle();
  const id = await scene.say(number, 'will', '/countersign rerun ci');
  expect(scene.replies(number, id)).toEqual(['Running again: `ci`.']);
  const [run] = await scene.runs('ship');
  const sessions = await scene.app.storage.read.runs.sessionsOf(run?.id ?? '');
  expect(sessions.filter(({ invocationId }) => invocationId === 'inv_1')).toHaveLength(2);
});

test('rerun of a step that does not exist names the steps', { tags: 'slow' }, async () => {
  const { scene, number } = await openWaitingForCi(start);
  const id = await scene.say(number, 'will', '/countersign rerun marge');
  expect(reactions(scene, number, id)).toEqual(['eyes', 'confused']);
  expect(scene.replies(number, id)).toMatchInlineSnapshot(`
    [
      "There is no step \`marge\`; did you mean \`merge\`?",
    ]
  `);
});

test('rerun without a failure says so', { tags: 'slow' }, async () => {
  const { scene, number } = await openWaitingForCi(start);
  const id = await scene.say(number, 'will', '/countersign rerun');
  expect(scene.replies(number, id)).toMatchInlineSnapshot(`
    [
      "No step has failed, so there is nothing to run again; name a step to run it all the same.",
    ]
  `);
});

test('rerun on a draft of a chain that is not for drafts says so, and asks nobody', {
  tags: 'slow',
}, async () => {
  const forReady = CI_AND_MERGE.replace('event: pr.opened', 'event: pr.opened, filter: { draft: false }');
  const note =
    'name: note\ntrigger: { event: pr.opened }\nsteps:\n  - { id: hello, action: gh-comment, with: { body: Hello. } }\n';
  const scene = await start(only({ ship: forReady, note }));
  const { number, headSha } = await scene.open();
  await scene.github.reportCheck(REPO, headSha, { name: 'test', status: 'completed', conclusion: 'failure' });
  await scene.settle();
  await scene.github.convertToDraft(REPO, number, 'ada');
  await scene.settle();
  for (const command of ['rerun', 'rerun ci']) {
    const id = await scene.say(number, 'will', `/countersign ${command}`);
    expect(scene.replies(number, id)).toEqual([
      'The pull request is a draft, and the chain of that step is not for drafts; mark it as ready for review, and it runs by itself.',
    ]);
  }
  expect(scene.check(headSha, 'ship')?.conclusion).toBe('failure');
});

test('rerun is refused for somebody who can only read', { tags: 'slow' }, async () => {
  const { scene, number } = await openWaitingForCi(start);
  const id = await scene.say(number, 'otto', '/countersign rerun ci');
  expect(reactions(scene, number, id)).toEqual(['eyes', 'confused']);
  expect(scene.replies(number, id)).toMatchInlineSnapshot(`
    [
      "\`/countersign rerun\` is for people with write access or the author of the pull request; you have read access.",
    ]
  `);
});

test('the author may rerun work without any role on the repository', { tags: 'slow' }, async () => {
  const scene = await start(only({ ship: CI_AND_MERGE }));
  const { number } = await scene.open({ author: 'otto', fork: 'otto/app' });
  const id = await scene.say(number, 'otto', '/countersign ci');
  expect(reactions(scene, number, id)).toEqual(['eyes', 'hooray']);
});

test('ci reads the state of CI at once', { tags: 'slow' }, async () => {
  const { scene, number, headSha } = await openWaitingForCi(start);
  scene.github.holdDeliveries();
  await scene.github.reportCheck(REPO, headSha, { name: 'test', status: 'completed', conclusion: 'failure' });
  const { signedDelivery } = scene.github;
  const comment = {
    id: 1,
    created_at: scene.clock.now().toISOString(),
    body: '/countersign ci',
    user: { login: 'will', type: 'User' },
  };
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

test('cancel ends the run and its check run, and names who did it', { tags: 'slow' }, async () => {
  const { scene, number, headSha } = await openWaitingForCi(start);
  const id = await scene.say(number, 'will', '/countersign cancel');
  await scene.advance(5_000);
  expect(scene.replies(number, id)).toEqual(['Cancelled one run.']);
  expect(scene.check(headSha, 'ship')).toMatchObject({ conclusion: 'cancelled', title: 'Cancelled by will' });
});

test('cancel without a run says so', { tags: 'slow' }, async () => {
  const { scene, number } = await openWaitingForCi(start);
  await scene.say(number, 'will', '/countersign cancel');
  const id = await scene.say(number, 'will', '/countersign cancel');
  expect(scene.replies(number, id)).toMatchInlineSnapshot(`
    [
      "Nothing is running for this pull request, so there is nothing to cancel.",
    ]
  `);
});

test('an event of the same head does not start a cancelled run again', async () => {
  const { scene, number } = await openWaitingForCi(start);
  await scene.say(number, 'will', '/countersign cancel');
  await scene.github.addLabel(REPO, number, 'will', 'later');
  await scene.settle();
  expect((await scene.runs('ship')).map(({ status }) => status)).toEqual(['cancelled']);
});

test('rerun after a cancel fires the chain again', { tags: 'slow' }, async () => {
  const { scene, number } = await openWaitingForCi(start);
  await scene.say(number, 'will', '/countersign cancel');
  await scene.advance(1_000);
  const id = await scene.say(number, 'will', '/countersign rerun');
  expect(reactions(scene, number, id)).toEqual(['eyes', 'hooray']);
  expect((await scene.runs('ship')).map(({ status }) => status)).toEqual(['waiting_ci', 'cancelled']);
});

async function pausedAndCountersigned() {
  const opened = await openWaitingForCi(start);
  const { scene, number, headSha } = opened;
  await scene.github.reportCheck(REPO, headSha, { name: 'test', status: 'completed', conclusion: 'success' });
  await scene.settle();
  const id = await scene.say(number, 'mia', '/countersign pause');
  const questions = () =>
    scene.github.comments(REPO, number).filter(({ body }) => body.includes('countersign:question'));
  await scene.github.react(REPO, questions()[0]?.id ?? 0, 'mia', 'rocket');
  await scene.advance(20_000);
  return { ...opened, id, questions };
}

test('a countersigned merge waits while the pull request is paused', { tags: 'slow' }, async () => {
  const { scene, number, headSha, id, questions } = await pausedAndCountersigned();
  expect(scene.replies(number, id)).toMatchInlineSnapshot(`
    [
      "Paused: nothing is merged until \`/countersign resume\`.",
    ]
  `);
  expect(scene.github.pullRequest(REPO, number).merged).toBe(false);
  expect(scene.check(headSha, 'ship')).toMatchObject({ status: 'in_progress', title: 'Paused' });
  expect(questions()[0]?.body).toContain('> **On hold:** the pull request is paused.');
});

test('the approval comment stays the same while the pull request is paused', { tags: 'slow' }, async () => {
  const { questions } = await pausedAndCountersigned();
  expect(questions()).toHaveLength(1);
});

test('resume merges what was countersigned while the pull request was paused', { tags: 'slow' }, async () => {
  const { scene, number } = await pausedAndCountersigned();
  const id = await scene.say(number, 'mia', '/countersign resume');
  await scene.advance(5_000);
  expect(scene.replies(number, id)).toEqual(['Going on.']);
  expect(scene.github.pullRequest(REPO, number).merged).toBe(true);
});

test('pause and resume are refused for writers and for the author', { tags: 'slow' }, async () => {
  const { scene, number } = await openWaitingForCi(start);
  const byWriter = await scene.say(number, 'will', '/countersign pause');
  const byAuthor = await scene.say(number, 'ada', '/countersign resume');
  expect([...scene.replies(number, byWriter), ...scene.replies(number, byAuthor)]).toMatchInlineSnapshot(`
    [
      "\`/countersign pause\` is for people with maintain access; you have write access.",
      "\`/countersign resume\` is for people with maintain access; you have write access.",
    ]
  `);
});

test('the status comment of a paused pull request says who may resume it', { tags: 'slow' }, async () => {
  const { scene, number } = await openWaitingForCi(start);
  await scene.say(number, 'mia', '/countersign pause');
  await scene.advance(UPDATES_SHOWN_MS);
  expect(scene.status(number)).not.toContain('Whoever may write here');
});

test('a second pause names who paused first, and a second resume says that there is nothing to resume', {
  tags: 'slow',
}, async () => {
  const { scene, number } = await openWaitingForCi(start);
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

test('fire runs a chain with its inputs', { tags: 'slow' }, async () => {
  const { scene, number } = await openWaitingForCi(start);
  const id = await scene.say(number, 'mia', '/countersign fire deploy environment="the staging ground"');
  expect(reactions(scene, number, id)).toEqual(['eyes', 'hooray']);
  expect(scene.replies(number, id)).toEqual(['Fired `deploy`.']);
  const bodies = scene.github.comments(REPO, number).map(({ body }) => body.split('\n').at(-1));
  expect(bodies).toContain('Deploying to the staging ground.');
});

test('fire of an unknown chain names the chains', { tags: 'slow' }, async () => {
  const { scene, number } = await openWaitingForCi(start);
  const id = await scene.say(number, 'mia', '/countersign fire deplyo');
  expect(scene.replies(number, id)).toMatchInlineSnapshot(`
    [
      "There is no chain \`deplyo\` that can be fired; did you mean \`deploy\`?",
    ]
  `);
});

test('fire is refused for a writer', { tags: 'slow' }, async () => {
  const { scene, number } = await openWaitingForCi(start);
  const id = await scene.say(number, 'will', '/countersign fire deploy environment=staging');
  expect(scene.replies(number, id)).toMatchInlineSnapshot(`
    [
      "\`/countersign fire\` is for people with maintain access; you have write access.",
    ]
  `);
  expect(await scene.runs('deploy')).toEqual([]);
});
