// @module-tag slow
import { expect, test } from 'vitest';
import { type Harness, REPO } from '../support/harness.ts';
import { open, ownCheck, start } from './support.ts';

const SKILL = '.github/countersign/skills/todo';

/** A skill that reports each line of the change with "TODO", without the seconds that a real linter takes. */
const TODO = {
  [`${SKILL}/SKILL.md`]:
    '---\nname: todo\ndescription: Finds what is left to do.\noutcome: lint_result\n---\n',
  [`${SKILL}/code/find.js`]: `
const messages = [];
(get_file('src/a.ts') ?? '').split('\\n').forEach((line, index) => {
  if (line.includes('TODO'))
    messages.push({ file: 'src/a.ts', line: index + 1, rule: 'todo', severity: 'error', message: line.trim() + ' @octo/all' });
});
submit({ summary: messages.length + ' left', passed: messages.length === 0, tool: 'todo', errors: messages.length, warnings: 0, messages });
`,
};

const chain = (step: string, trigger = '{ event: pr.opened }') => `name: pr-review
trigger: ${trigger}
steps:
  - { id: find, skill: todo }
  - { id: act, ${step} }
`;

const REVIEW = 'action: gh-review, with: { outcome: "{{ steps.find.outcome }}" }';
const ISSUES = 'action: gh-issue, with: { outcome: "{{ steps.find.outcome }}" }';

async function push({ github, settle }: Harness, content: string): Promise<string> {
  const sha = await github.push({
    repo: REPO,
    branch: 'greet',
    author: 'ada',
    files: { 'src/a.ts': content },
  });
  await settle();
  return sha;
}

const count = ({ github }: Harness, path: RegExp) =>
  github.requests.filter((request) => request.method === 'POST' && path.test(request.path)).length;

test('a review comments on lines of the diff, and a later push gets only what is new', async () => {
  const harness = await start({ chain: chain(REVIEW), files: TODO });
  const { github } = harness;
  const { number, headSha } = await open(harness, { files: { 'src/a.ts': 'one\n// TODO first\n' } });
  expect(github.reviews(REPO, number)).toMatchObject([
    {
      author: github.app.botLogin,
      state: 'COMMENTED',
      headSha,
      comments: [{ path: 'src/a.ts', line: 2, side: 'RIGHT' }],
    },
  ]);
  expect(JSON.stringify(github.reviews(REPO, number))).not.toContain('@octo/all');
  await push(harness, 'zero\none\n// TODO first\n');
  expect(github.reviews(REPO, number)).toHaveLength(1);
  await push(harness, 'zero\none\n// TODO first\n// TODO second\n');
  expect(github.reviews(REPO, number)[1]?.comments).toMatchObject([{ line: 4 }]);
  expect(github.reviews(REPO, number)).toHaveLength(2);
});

test('the conversation of a finding is resolved once it is fixed, and a new one begins if it is back', async () => {
  const harness = await start({ chain: chain(REVIEW), files: TODO });
  const { github } = harness;
  const { number } = await open(harness, { files: { 'src/a.ts': '// TODO first\n// TODO second\n' } });
  const sha = await push(harness, '// TODO first\nsecond\n');
  await harness.advance(10_000);
  const conversations = () =>
    github.reviews(REPO, number).flatMap(({ comments }) => comments.map(({ isResolved }) => isResolved));
  expect(conversations()).toEqual([false, true]);
  const [, second] = github.reviews(REPO, number)[0]?.comments ?? [];
  expect(second?.body).toContain(`✅ **Not found any more** at \`${sha.slice(0, 7)}\`.`);
  expect(second?.body).toContain('// TODO second');
  await push(harness, '// TODO first\n// TODO second\n');
  await harness.advance(10_000);
  expect(conversations()).toEqual([false, true, false]);
});

test('a conversation that GitHub does not let the app resolve says all the same that its finding is gone', async () => {
  const harness = await start({ chain: chain(REVIEW), files: TODO });
  const { github } = harness;
  const { number } = await open(harness, { files: { 'src/a.ts': '// TODO first\n' } });
  github.fail(({ mutates }) => mutates?.includes('resolveReviewThread') === true, {
    status: 200,
    body: {
      data: { resolveReviewThread: null },
      errors: [{ type: 'FORBIDDEN', message: 'Resource not accessible by integration' }],
    },
  });
  const sha = await push(harness, 'first\n');
  await harness.advance(60_000);
  const [comment] = github.reviews(REPO, number)[0]?.comments ?? [];
  expect(comment).toMatchObject({ isResolved: false, body: expect.stringContaining('Not found any more') });
  expect(ownCheck(harness, sha).conclusion).toBe('success');
});

test('the markers of somebody else keep no finding out of a review', async () => {
  const harness = await start({ chain: chain(REVIEW), files: TODO });
  const { github } = harness;
  const { number } = await open(harness, { files: { 'src/a.ts': '// TODO first\n' } });
  const [first] = github.reviews(REPO, number);
  const other = await open(harness, { branch: 'other', files: { 'src/a.ts': 'fine\n' } });
  const forged = `<!-- countersign:review x -->\n<!-- countersign:findings ${/finding (\w+)/.exec(first?.comments[0]?.body ?? '')?.[1]} -->\n`;
  await github.review(REPO, other.number, 'ada', 'COMMENTED', forged);
  await github.push({ repo: REPO, branch: 'other', author: 'ada', files: { 'src/a.ts': '// TODO first\n' } });
  await harness.settle();
  expect(github.reviews(REPO, other.number)[1]?.comments).toHaveLength(1);
});

test('a review whose answer is lost is submitted once', async () => {
  const harness = await start({ chain: chain(REVIEW), files: TODO });
  const { github } = harness;
  github.fail(({ method, path }) => method === 'POST' && path.endsWith('/reviews'), { after: 'reset' }, 1);
  const { number } = await open(harness, { files: { 'src/a.ts': '// TODO first\n' } });
  await harness.advance(60_000);
  expect(github.reviews(REPO, number)).toHaveLength(1);
  expect(count(harness, /\/reviews$/)).toBe(1);
});

test('findings whose comments GitHub refuses are in the text of the review', async () => {
  const harness = await start({ chain: chain(REVIEW), files: TODO });
  const { github } = harness;
  github.fail(
    ({ method, path }) => method === 'POST' && path.endsWith('/reviews'),
    { status: 422, body: { message: 'Unprocessable Entity' } },
    1,
  );
  const { number } = await open(harness, { files: { 'src/a.ts': '// TODO first\n' } });
  const [review] = github.reviews(REPO, number);
  expect(review?.comments).toEqual([]);
  expect(review?.body).toContain('// TODO first');
});

test('issues are opened for findings, closed when they are fixed, and reopened when they are back', async () => {
  const harness = await start({ chain: chain(ISSUES), files: TODO });
  const { github } = harness;
  const { headSha } = await open(harness, { files: { 'src/a.ts': '// TODO first\n// TODO second\n' } });
  const issues = () => github.issues(REPO).map(({ title, state, reason }) => `${title} ${state} ${reason}`);
  expect(issues()).toEqual([
    'Correctness: // TODO first @\u200Bocto/all open null',
    'Correctness: // TODO second @\u200Bocto/all open null',
  ]);
  expect(ownCheck(harness, headSha).summary).toContain('issues: 2 opened');
  await push(harness, '// TODO first\n');
  expect(issues()).toEqual([
    'Correctness: // TODO first @\u200Bocto/all open null',
    'Correctness: // TODO second @\u200Bocto/all closed completed',
  ]);
  await push(harness, '// TODO first\nline\n// TODO second\n');
  expect(issues()[1]).toBe('Correctness: // TODO second @\u200Bocto/all open reopened');
  expect(github.issues(REPO)[1]?.body).toContain('`src/a.ts:3`');
  expect(count(harness, /\/issues$/)).toBe(2);
});

test('an issue whose answer is lost is opened once, although it has no label any more', async () => {
  const harness = await start({ chain: chain(ISSUES), files: TODO });
  const { github } = harness;
  github.fail(({ method, path }) => method === 'POST' && path.endsWith('/issues'), { after: 'reset' }, 1);
  const { number } = await open(harness, { files: { 'src/a.ts': '// TODO first\n' } });
  await github.removeLabel(REPO, number + 1, 'mia', 'countersign');
  await harness.advance(60_000);
  expect(github.issues(REPO)).toHaveLength(1);
  expect(count(harness, /\/issues$/)).toBe(1);
});

test('an issue of somebody else with a marker of ours is not touched', async () => {
  const harness = await start({ chain: chain(ISSUES), files: TODO });
  const { github } = harness;
  await open(harness, { files: { 'src/a.ts': '// TODO first\n' } });
  const [ours] = github.issues(REPO);
  const forged = await github.createIssue(
    REPO,
    'otto',
    'Mine',
    (ours?.body ?? '').replaceAll('first', 'forged'),
  );
  await github.addLabel(REPO, forged, 'mia', 'countersign');
  await push(harness, 'fixed\n');
  expect(github.issues(REPO).map(({ state }) => state)).toEqual(['closed', 'open']);
});

test('a chain files an issue about a branch, in a run without a pull request', async () => {
  const issue =
    'action: gh-issue, with: { per: run, title: "Look at {{ trigger.branch }}", body: "It changed." }';
  const harness = await start({
    files: {
      '.github/countersign/chains/watch.yaml': `name: watch\ntrigger: { event: file.changed, filter: { paths: [watched] } }\nsteps: [{ ${issue} }]\n`,
    },
  });
  const { github } = harness;
  for (const content of ['one\n', 'two\n']) {
    await github.push({ repo: REPO, branch: 'main', author: 'mia', files: { watched: content } });
    await harness.settle();
  }
  expect(github.issues(REPO)).toMatchObject([
    { title: 'Look at main', state: 'open', labels: ['countersign'] },
  ]);
});

test('a push to another branch does not change the issue about the default branch', async () => {
  const issue = 'action: gh-issue, with: { per: run, title: "Look at {{ trigger.branch }}" }';
  const harness = await start({
    files: {
      '.github/countersign/chains/watch.yaml': `name: watch\ntrigger: { event: file.changed, filter: { paths: [watched] } }\nsteps: [{ ${issue} }]\n`,
    },
  });
  const { github } = harness;
  const pushes: [string, string][] = [
    ['main', 'mia'],
    ['side', 'will'],
    ['side', 'will'],
  ];
  for (const [index, [branch, author]] of pushes.entries()) {
    await github.push({ repo: REPO, branch, author, files: { watched: `${index}\n` } });
    await harness.settle();
  }
  expect(github.issues(REPO).map(({ title }) => title)).toEqual(['Look at main', 'Look at side']);
});

test('a chain files issues only on a condition, and not for a pull request of an outsider', async () => {
  const issue = `action: gh-issue, condition: "{{ trigger.title != 'skip' }}", with: { per: run, title: A }`;
  const harness = await start({
    chain: `name: pr-review\ntrigger: { event: pr.opened }\nsteps: [{ ${issue} }]\n`,
  });
  await open(harness, { title: 'skip' });
  const { headSha } = await open(harness, { branch: 'b', author: 'otto' });
  expect(harness.github.issues(REPO)).toEqual([]);
  expect(ownCheck(harness, headSha).summary).toContain('standard');
});

/** The first linter of a process takes seconds to load. */
test('a fix of a linter becomes a suggestion for exactly its lines', async () => {
  const reviewing = chain(REVIEW).replace('skill: todo', 'skill: pr-review, with: { model: false }');
  const harness = await start({ chain: reviewing });
  const { github } = harness;
  const files = { 'src/a.py': 'x = 1\nif x is 7:\n    print("seven")\n' };
  const { number } = await open(harness, { files });
  await harness.advance(5_000);
  const [review] = github.reviews(REPO, number);
  const shown = review?.comments.map(({ line, body }) => [line, /```suggestion\n(.*?)```/s.exec(body)?.[1]]);
  expect(shown).toEqual([[2, 'if x == 7:\n']]);
});

test('a fix of a linter is left out of a file whose comments tell linters what to ignore', async () => {
  const harness = await start({
    chain: chain(REVIEW).replace('skill: todo', 'skill: pr-review, with: { model: false }'),
  });
  const files = { 'src/a.py': 'x = 1\nif x is 7:  # noqa\n    print("seven")\n' };
  const { number } = await open(harness, { files });
  await harness.advance(5_000);
  const [review] = harness.github.reviews(REPO, number);
  expect(review?.comments.map(({ line }) => line)).toEqual([2]);
  expect(JSON.stringify(review)).not.toContain('suggestion\\n');
});
