import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { countersign } from '../entrypoints/cli/support.ts';

const FLOW = `name: flow
trigger: { event: pr.opened, filter: { base: main } }
steps:
  - { id: review, skill: pr-review }
  - { id: ci, skill: ci, condition: "{{ steps.review.outcome.passed }}" }
  - { id: merge, action: gh-merge, condition: "{{ steps.ci.outcome.passed }}", requires_approval: true }
  - { id: say, action: gh-comment, condition: "{{ steps.review.outcome.verdict == 'REQUEST_CHANGES' }}", with: { body: "Sorry: {{ steps.review.outcome.summary }}" } }
`;

/** Runs `chain test` in a folder with the chain and these cases. */
async function cases(
  text: string,
  { args = [], files = {} }: { args?: string[]; files?: Record<string, string> } = {},
) {
  const cwd = mkdtempSync(join(tmpdir(), 'countersign-test-'));
  onTestFinished(() => rmSync(cwd, { recursive: true }));
  const all = {
    '.github/countersign/chains/flow.yaml': FLOW,
    '.github/countersign/tests/flow.yml': text,
    ...files,
  };
  for (const [path, content] of Object.entries(all)) {
    mkdirSync(dirname(join(cwd, path)), { recursive: true });
    writeFileSync(join(cwd, path), content);
  }
  // A token or a model in the environment must not count.
  const env = { GITHUB_TOKEN: 'none', GITHUB_API_URL: 'http://127.0.0.1:1' };
  return countersign(['chain', 'test', ...args], { cwd, env });
}

test('chain test plays each course of a chain with what its steps would conclude', {
  tags: 'slow',
}, async () => {
  const { code, stdout, stderr } = await cases(`chain: flow
cases:
  - name: a good change is asked
    outcomes: { review: { verdict: APPROVE } }
    checks: { test: success }
    expect:
      result: asked
      steps: { review: completed, ci: completed, merge: waiting_approval, say: pending }
      writes: Approve this merge?
      writes_not: Sorry
  - name: a bad change gets a comment
    outcomes: { review: { verdict: REQUEST_CHANGES, summary: It greets nobody. } }
    expect: { result: done, steps: { merge: skipped }, writes: "Sorry: It greets nobody." }
  - name: red CI merges nothing
    outcomes: { review: { verdict: APPROVE } }
    checks: { test: failure, lint: success }
    expect: { steps: { ci: completed, merge: skipped }, because: test }
  - name: CI that is not done is waited for
    outcomes: { review: { verdict: APPROVE } }
    checks: { test: in_progress }
    expect: { result: waits, steps: { ci: waiting_ci } }
  - name: a review that fails stops the run
    outcomes: { review: { fails: the model gave no answer } }
    expect: { result: stopped, because: the model gave no answer }
  - name: another base is not its business
    pull_request: { base: release }
    expect: { result: not_run, because: base }
`);
  expect(stderr).toBe('');
  expect(stdout).toBe(
    [
      'ok      flow: a good change is asked',
      'ok      flow: a bad change gets a comment',
      'ok      flow: red CI merges nothing',
      'ok      flow: CI that is not done is waited for',
      'ok      flow: a review that fails stops the run',
      'ok      flow: another base is not its business',
      '',
      'Ran 6 cases: none failed.',
      '',
    ].join('\n'),
  );
  expect(code).toBe(0);
});

test('the cases of docs/chains.md pass', { tags: 'slow' }, async () => {
  const page = readFileSync(new URL('../../docs/chains.md', import.meta.url), 'utf8');
  const [flow = '', preview = ''] = [...page.matchAll(/^```yaml cases\n([\s\S]*?)^```$/gm)].map(
    ([, example = '']) => example,
  );
  const [chain = ''] = /^name: preview\n[\s\S]*?(?=^```$)/m.exec(page) ?? [];
  const { stdout } = await cases(flow, {
    files: {
      '.github/countersign/chains/preview.yaml': chain,
      '.github/countersign/tests/preview.yml': preview,
    },
  });
  expect(stdout).toContain('Ran 4 cases: none failed.');
});

test('chain test reviews for real where a case states no outcome', { tags: 'slow' }, async () => {
  const { stdout } = await cases(`chain: flow
cases:
  - name: a committed key is refused
    files: { src/config.ts: "export const accessKeyId = '${['AKIA', 'Z7QX', 'M3PL', 'D5RT', 'W2KV'].join('')}';\\n" }
    expect: { steps: { review: completed, merge: skipped }, writes: src/config.ts }
`);
  expect(stdout).toContain('ok      flow: a committed key is refused');
});

test('chain test says what differs, and fails', { tags: 'slow' }, async () => {
  const { code, stdout } = await cases(`chain: flow
cases:
  - name: wrong in each way
    outcomes: { review: { verdict: APPROVE } }
    checks: { test: success }
    expect:
      result: done
      because: because of nothing
      steps: { merge: completed, none: skipped }
      writes: [never said]
      writes_not: [Approve this merge?]
`);
  expect(code).toBe(1);
  expect(stdout).toMatchInlineSnapshot(`
    "FAILED  flow: wrong in each way
            result: expected "done", got "asked": not merging yet: merge waits for a countersign (nobody has countersigned yet)
            because: expected "because of nothing", got "not merging yet: merge waits for a countersign (nobody has countersigned yet)"
            step merge: expected "completed", got "waiting_approval"
            step none: expected "skipped", got nothing
            nothing that it writes has "never said"
            it writes "Approve this merge?"

    Ran 1 case: 1 failed.
    "
  `);
});

test('chain test fires a chain by hand with inputs', { tags: 'slow' }, async () => {
  const chain = `name: greet
trigger: { event: manual.fired }
inputs: { whom: { required: true }, times: { type: number, default: 1 } }
steps:
  - { action: gh-comment, with: { body: "Hello {{ inputs.whom }}, {{ inputs.times + 1 }} times" } }
`;
  const { stdout } = await cases(
    `chain: greet
cases:
  - { name: it greets, fire: { whom: world, times: 2 }, expect: { result: done, writes: "Hello world, 3 times" } }
  - { name: it needs somebody, fire: {}, expect: { result: not_run, because: '"whom" is missing' } }
`,
    { files: { '.github/countersign/chains/greet.yaml': chain } },
  );
  expect(stdout).toContain('Ran 2 cases: none failed.');
});

test('chain test plays a shipped chain with the settings of the folder', { tags: 'slow' }, async () => {
  const { stdout } = await cases(
    `chain: pr-review
cases:
  - name: a change is asked
    outcomes: { review: { verdict: APPROVE } }
    checks: { test: success }
    expect: { result: asked, writes: 2 countersigns }
`,
    { files: { '.github/countersign.yml': 'countersign: { count: 2 }\nchains: [flow]\n' } },
  );
  expect(stdout).toContain('Ran 1 case: none failed.');
});

test.each<[string, string, string]>([
  [
    'a member that it does not know',
    'chain: flow\ncases:\n  - { name: a, expect: { result: merged } }\n',
    ':3:',
  ],
  ['a case without a name', 'chain: flow\ncases:\n  - { expect: { result: asked } }\n', 'name'],
  ['no chain', 'cases:\n  - { name: a, expect: { result: asked } }\n', 'chain'],
  [
    'two cases with one name',
    'chain: flow\ncases:\n  - { name: a, expect: { result: asked } }\n  - { name: a, expect: { result: done } }\n',
    'there is a case "a" already',
  ],
  [
    'an event that it does not know',
    'chain: flow\ncases:\n  - { name: a, events: [{ on: pr.tickled }], expect: { result: asked } }\n',
    '"on" is one of pr.opened, ',
  ],
  [
    'both one event and several',
    'chain: flow\ncases:\n  - { name: a, on: pr.merged, events: [{ on: pr.opened }], expect: { result: asked } }\n',
    '"on" and "events" exclude each other',
  ],
])('chain test says where a case file has %s', async (_, text, message) => {
  const { code, stdout } = await cases(text);
  expect(stdout).toContain('.github/countersign/tests/flow.yml');
  expect(stdout).toContain(message);
  expect(code).toBe(1);
});

const SHIP = `name: ship
trigger:
  all_of:
    - { event: pr.labeled, filter: { label: ready, base: main } }
    - { event: ci.changed, filter: { check: build, conclusion: success } }
  within: 4h
  key: commit
steps:
  - { id: ci, skill: ci }
  - { action: gh-comment, with: { body: "Ready at {{ trigger.head_sha }} after {{ trigger.event }}" } }
`;
const LABEL = 'on: pr.labeled, label: ready';
const BUILD = 'on: ci.changed, check: build, conclusion: success';

test('chain test plays several events one after the other, with the time between them', {
  tags: 'slow',
}, async () => {
  const { stdout } = await cases(
    `chain: ship
cases:
  - name: the label comes first
    events: [{ ${LABEL} }, { ${BUILD}, after: 2h }]
    expect: { result: done, runs: 1, steps: { ci: completed }, writes: after ci.changed }
  - name: the build comes first
    events: [{ ${BUILD} }, { ${LABEL}, after: 4h }]
    expect: { result: done, writes: after pr.labeled }
  - name: it fires once, however often its parts repeat
    events: [{ ${LABEL} }, { ${LABEL} }, { ${BUILD} }, { ${BUILD}, after: 1m }]
    expect: { runs: 1 }
  - name: it fires again when all parts do
    events: [{ ${LABEL} }, { ${BUILD} }, { ${LABEL}, after: 1h }, { ${BUILD} }]
    expect: { runs: 2 }
  - name: the build comes too late
    events: [{ ${LABEL} }, { ${BUILD}, after: 5h }]
    expect: { result: not_run, runs: 0 }
  - name: a push starts over
    events: [{ ${LABEL} }, { on: pr.updated, after: 1m }, { ${BUILD} }]
    expect: { result: not_run }
  - name: another label does not count
    events: [{ ${BUILD} }, { on: pr.labeled, label: later }]
    expect: { result: not_run, because: the filter wants ready }
  - name: another base is not its business
    pull_request: { base: release }
    events: [{ ${BUILD} }, { ${LABEL} }]
    expect: { result: not_run, because: the filter wants main }
`,
    { files: { '.github/countersign/chains/ship.yaml': SHIP } },
  );
  expect(stdout).toContain('Ran 8 cases: none failed.');
});

test('chain test plays events that are about no pull request', { tags: 'slow' }, async () => {
  const chain = `name: bad-release
trigger:
  sequence:
    - { event: release.published, filter: { prerelease: false } }
    - { event: ci.changed, filter: { base: main, conclusion: failure } }
  within: 2h
  key: repository
steps:
  - { action: gh-status, with: { context: release, state: failure, description: "{{ trigger.check }} fails after a release" } }
`;
  const { stdout } = await cases(
    `chain: bad-release
cases:
  - name: a check fails after a release
    events: [{ on: release.published, tag: v1 }, { on: ci.changed, check: smoke, conclusion: failure, branch: main, after: 1h }]
    expect: { result: done, writes: smoke fails after a release }
  - name: a check fails before a release
    events: [{ on: ci.changed, check: smoke, conclusion: failure, branch: main }, { on: release.published, tag: v1 }]
    expect: { result: not_run }
`,
    { files: { '.github/countersign/chains/bad-release.yaml': chain } },
  );
  expect(stdout).toContain('Ran 2 cases: none failed.');
});

test('chain test takes the outcome of an action that a case states without its kind', async () => {
  const chain = `name: flow
trigger: { event: pr.opened }
steps:
  - { id: cool, action: wait, with: { for: 30m } }
  - { id: try, action: gh-dispatch, with: { workflow: try.yml } }
  - { id: say, action: gh-comment, condition: "{{ not steps.try.outcome.passed }}", with: { body: "It ended with {{ steps.try.outcome.details.conclusion }}" } }
`;
  const { stdout } = await cases(
    `chain: flow
cases:
  - name: a workflow that fails
    outcomes: { cool: { summary: waited }, try: { passed: false, details: { conclusion: failure } } }
    expect: { result: done, steps: { cool: completed, try: completed }, writes: It ended with failure }
`,
    { files: { '.github/countersign/chains/flow.yaml': chain } },
  );
  expect(stdout).toContain('Ran 1 case: none failed.');
});

test('chain test says what is wrong with an outcome that a case states', async () => {
  const { stdout } = await cases(`chain: flow
cases:
  - { name: a, outcomes: { review: { verdict: FINE } }, expect: { result: asked } }
`);
  expect(stdout).toContain('the case gives the step "review" an outcome, but it is not valid: verdict');
});

test('chain test fails a case whose outcome is not valid, also if it expects that the step fails', async () => {
  const { code, stdout } = await cases(`chain: flow
cases:
  - { name: a, outcomes: { review: { verdict: FINE } }, expect: { steps: { review: failed } } }
`);
  expect(code).toBe(1);
  expect(stdout).toContain('FAILED  flow: a');
});

test('chain test fails a case that gives an outcome to a step that is not there', {
  tags: 'slow',
}, async () => {
  const { code, stdout } = await cases(`chain: flow
cases:
  - { name: a, outcomes: { review: { verdict: APPROVE }, reviw: { verdict: APPROVE } }, expect: { steps: { review: completed } } }
`);
  expect(code).toBe(1);
  expect(stdout).toContain(
    'the case gives the step "reviw" an outcome, but there is no such step: did you mean "review"?',
  );
});

test('chain test of one chain says what is wrong with a file that may have its cases', async () => {
  const file = 'chain: flow\ncases:\n  - { name: a, expect: { result: maybe } }\n';
  const { code, stdout } = await cases(file, { args: ['flow'] });
  expect(code).toBe(1);
  expect(stdout).toContain('"result" cannot be "maybe"');
});

test('chain test of a chain without cases says so', async () => {
  const none = await cases('chain: flow\ncases:\n  - { name: a, expect: { result: asked } }\n', {
    args: ['other'],
  });
  expect(none).toMatchObject({ code: 1, stderr: expect.stringContaining('There are cases of flow.') });
  const meant = await cases('chain: flow\ncases:\n  - { name: a, expect: { result: asked } }\n', {
    args: ['flows'],
  });
  expect(meant).toMatchObject({ code: 1, stderr: expect.stringContaining('Did you mean flow?') });
  const cwd = mkdtempSync(join(tmpdir(), 'countersign-test-'));
  onTestFinished(() => rmSync(cwd, { recursive: true }));
  const nothing = await countersign(['chain', 'test'], { cwd });
  expect(nothing).toMatchObject({ code: 1, stderr: expect.stringContaining('There are no cases here') });
});

test('chain test plays the chains that steps run, and compares their steps and writes', {
  tags: 'slow',
}, async () => {
  const files = {
    '.github/countersign/chains/outer.yaml':
      'name: outer\ntrigger: { event: pr.opened }\nsteps: [{ id: sub, action: chain, with: { chain: inner } }]\n',
    '.github/countersign/chains/inner.yaml':
      'name: inner\ntrigger: { event: pr.opened }\nsteps: [{ id: say, action: gh-comment, with: { body: Hello. } }]\n',
    '.github/countersign/tests/flow.yml': `chain: outer
cases:
  - name: it says hello
    expect: { result: done, runs: 1, steps: { sub: completed, sub.say: completed }, writes: Hello. }
  - name: it does not
    expect: { steps: { sub.say: skipped, say: completed, say.sub: completed } }
`,
  };
  const { code, stdout } = await cases('', { files });
  expect(code).toBe(1);
  expect(stdout).toContain('ok      outer: it says hello');
  expect(stdout).toContain('step sub.say: expected "skipped", got "completed"');
  expect(stdout).toContain('step say: expected "completed", got nothing');
  expect(stdout).toContain('step say.sub: expected "completed", got nothing');
});
