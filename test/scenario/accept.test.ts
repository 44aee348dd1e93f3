// @module-tag security

import { describe, expect, test } from 'vitest';
import { eachFirstQuick } from '../support/each-first-quick.ts';
import { type Harness, REPO } from '../support/harness.ts';
import {
  A_RECHECK,
  approvalOf,
  approvals,
  checkLines,
  countersign,
  open,
  ownCheck,
  ownChecks,
  pushAgain,
  type Setting,
  start,
} from './support.ts';

/** The shipped chain, with the review of migrations in place of the review of everything. */
const MIGRATIONS = `name: pr-review
trigger: { event: pr.opened, filter: { draft: false } }
steps:
  - id: review
    skill: migration-review
  - id: ci
    skill: ci
    condition: "{{ steps.review.outcome.passed }}"
  - id: merge
    action: gh-merge
    condition: "{{ steps.review.outcome.passed and steps.ci.outcome.passed }}"
    requires_approval: true
    with: { pr: "{{ trigger.pr_number }}" }
  - id: changes
    action: gh-comment
    depends_on: [review]
    condition: "{{ steps.review.outcome.verdict == 'REQUEST_CHANGES' }}"
    with: { pr: "{{ trigger.pr_number }}", body: "{{ steps.review.outcome.summary }}" }
`;

const FILE = 'db/migrations/0007_drop_nickname.sql';
const DROP = 'ALTER TABLE people DROP COLUMN nickname;\n';
const DROP_TWO = `${DROP}DROP TABLE nicknames;\n`;

interface Blocked {
  harness: Harness;
  number: number;
  headSha: string;
  /** The names of its findings, as the check run shows them, in the order of the file. */
  findings: string[];
}

/** A pull request of ada's whose migration the review blocks. */
async function blocked(
  sql = DROP,
  { input = {}, ...setting }: Setting & { input?: object } = {},
): Promise<Blocked> {
  const harness = await start({ chain: MIGRATIONS, ...setting });
  const { number, headSha } = await open(harness, { files: { [FILE]: sql }, ...input });
  await harness.advance(A_RECHECK);
  return { harness, number, headSha, findings: findingsOf(harness, headSha) };
}

function findingsOf(harness: Harness, headSha: string): string[] {
  return ownCheck(harness, headSha).annotations.flatMap(
    ({ message }) => /\/countersign accept ([0-9a-f]{8}) because/.exec(message)?.[1] ?? [],
  );
}

/** The person comments, and the app has replied. @returns its reply, without the marker */
async function say(harness: Harness, number: number, login: string, text: string): Promise<string> {
  const before = harness.github.comments(REPO, number).length;
  await harness.github.comment(REPO, number, login, text);
  await harness.advance(A_RECHECK);
  const replies = harness.github
    .comments(REPO, number)
    .slice(before)
    .filter(({ body }) => body.includes('<!-- countersign:reply'));
  return (replies.at(-1)?.body ?? '').replaceAll(/<!--.*?-->\n?/g, '').trim();
}

const accept = (id = '') => `/countersign accept ${id} because the column is empty`;

describe('an accepted finding', () => {
  test('lets an intended DROP COLUMN go on to CI, the question and the merge within the same run', async () => {
    const { harness, number, headSha, findings } = await blocked();
    const { github } = harness;
    expect(findings).toHaveLength(1);
    expect(checkLines(harness, headSha)).toEqual(['failure: Changes requested: 1 high']);
    expect(ownCheck(harness, headSha).summary).toContain('accepts it: `/countersign accept');
    const reply = await say(harness, number, 'mia', accept(findings[0]));
    expect(reply).toContain(
      `Accepted \`${findings[0]}\` for \`${headSha.slice(0, 7)}\`, and judged the review again.`,
    );
    expect(approvals(harness, number)).toEqual([]);
    await github.setStatus(REPO, headSha, { context: 'test', state: 'success' });
    await harness.advance(120_000);
    expect(approvalOf(harness, number).body).toContain(
      '- ✅ **Review:** sql: nothing else found in 1 file\n',
    );
    expect(approvalOf(harness, number).body).toContain(
      `- ☑️ **Accepted:** 1 finding, for this commit\n  - high \`${FILE}:1\` \`${findings[0]}\`, by \`mia\`: the column is empty`,
    );
    expect(github.merges).toEqual([]);
    await countersign(harness, number, 'max');
    expect(github.merges).toHaveLength(1);
    const runs = ownChecks(harness, headSha).map(({ externalId }) => externalId);
    expect(new Set(runs).size).toBe(1);
  });

  test('is shown in the check run with who accepted it and why', { tags: 'slow' }, async () => {
    const { harness, number, headSha, findings } = await blocked();
    await say(harness, number, 'mia', accept(findings[0]));
    const { summary } = ownCheck(harness, headSha);
    expect(summary).toContain('Nothing else was found.\n\n#### Accepted for this commit');
    expect(summary).toContain(`\`${findings[0]}\` accepted by \`mia\`: the column is empty`);
    expect(summary).toContain('mia accepted for this commit');
  });

  test('merges nothing without a countersign of its own', { tags: 'slow' }, async () => {
    const { harness, number, headSha, findings } = await blocked();
    await harness.github.setStatus(REPO, headSha, { context: 'test', state: 'success' });
    await say(harness, number, 'mia', accept(findings[0]));
    await harness.advance(600_000);
    expect(harness.github.merges).toEqual([]);
  });

  test('leaves the others blocking, and the reply names them', { tags: 'slow' }, async () => {
    const { harness, number, headSha, findings } = await blocked(DROP_TWO);
    const [first = '', second = ''] = findings;
    const reply = await say(harness, number, 'mia', accept(first));
    expect(reply).toContain(`what is left: \`${second}\` (\`${FILE}:2\`)`);
    expect(checkLines(harness, headSha)).toEqual(['failure: Changes requested: 1 high']);
    await say(harness, number, 'mia', accept(second));
    expect(checkLines(harness, headSha).at(-1)).toContain('in_progress: Waiting for CI');
  });

  test('does not hold for a new commit', { tags: 'slow' }, async () => {
    const { harness, number, findings } = await blocked();
    await say(harness, number, 'mia', accept(findings[0]));
    const headSha = await pushAgain(harness);
    await harness.advance(A_RECHECK);
    expect(checkLines(harness, headSha)).toEqual(['failure: Changes requested: 1 high']);
    expect(findingsOf(harness, headSha)).toEqual(findings);
  });

  test('stays accepted if the same commit is reviewed again', { tags: 'slow' }, async () => {
    const { harness, number, headSha, findings } = await blocked();
    await say(harness, number, 'mia', accept(findings[0]));
    await say(harness, number, 'mia', '/countersign rerun review');
    expect(checkLines(harness, headSha).at(-1)).toContain('in_progress: Waiting for CI');
  });

  test('counts no more once the person who accepted it may not countersign', { tags: 'slow' }, async () => {
    const { harness, number, headSha, findings } = await blocked();
    const { github } = harness;
    await github.setStatus(REPO, headSha, { context: 'test', state: 'success' });
    await say(harness, number, 'mia', accept(findings[0]));
    await harness.advance(120_000);
    github.setPermission(REPO, 'mia', 'write');
    await countersign(harness, number, 'max');
    expect(github.merges).toEqual([]);
    expect(checkLines(harness, headSha).at(-1)).toContain('mia accepted 1 finding, but has write access');
    expect(await say(harness, number, 'max', accept(findings[0]))).toContain('Accepted');
    await harness.advance(A_RECHECK);
    expect(github.merges).toHaveLength(1);
  });
});

describe('an acceptance that is withdrawn', () => {
  const withdraw = (id = '') => `/countersign withdraw ${id}`;

  /** The finding is accepted, CI is green, and the step asks for a countersign. */
  async function asked(setting: Parameters<typeof blocked>[1] = {}): Promise<Blocked> {
    const one = await blocked(DROP, setting);
    await say(one.harness, one.number, 'mia', accept(one.findings[0]));
    await one.harness.github.setStatus(REPO, one.headSha, { context: 'test', state: 'success' });
    await one.harness.advance(120_000);
    expect(approvals(one.harness, one.number)).toHaveLength(1);
    return one;
  }

  test('holds up the merge that somebody countersigns, until the finding is accepted again', {
    tags: 'slow',
  }, async () => {
    const { harness, number, headSha, findings } = await asked();
    const { github } = harness;
    expect(await say(harness, number, 'max', withdraw(findings[0]))).toBe(
      `\`${findings[0]}\` is not accepted for \`${headSha.slice(0, 7)}\` any more, and the review is judged again.`,
    );
    await countersign(harness, number, 'max');
    expect(github.merges).toEqual([]);
    expect(
      ownCheck(harness, headSha)
        .annotations.map(({ message }) => message)
        .join(),
    ).toContain('accept');
    await say(harness, number, 'mia', accept(findings[0]));
    await harness.advance(A_RECHECK);
    expect(github.merges).toHaveLength(1);
  });

  test('holds up a merge that waits for the merge button', { tags: 'slow' }, async () => {
    const { harness, number, headSha, findings } = await asked({ settings: 'merge: { by: people }\n' });
    await countersign(harness, number, 'max');
    expect(checkLines(harness, headSha).at(-1)).toBe(
      'in_progress: Countersigned by max: ready for the merge button',
    );
    await say(harness, number, 'mia', withdraw(findings[0]));
    expect(checkLines(harness, headSha).at(-1)).toBe(
      "in_progress: Not merging: the step's condition no longer holds: the review did not pass",
    );
    expect(approvalOf(harness, number).body).toContain(
      "> **On hold:** Not merging: the step's condition no longer holds: the review did not pass.",
    );
  });

  test('cannot be brought back by the older command if that arrives later', { tags: 'slow' }, async () => {
    const { harness, number, headSha, findings } = await blocked();
    const { github } = harness;
    await say(harness, number, 'max', accept(findings[0]));
    github.holdDeliveries();
    await github.comment(REPO, number, 'mia', accept(findings[0]));
    await harness.advance(5_000);
    await github.comment(REPO, number, 'max', withdraw(findings[0]));
    await github.releaseDeliveries('reverse');
    await harness.advance(A_RECHECK);
    expect(github.comments(REPO, number).at(-1)?.body).toContain(
      'Nothing was done, because max gave the newer command `/countersign withdraw`.',
    );
    expect(checkLines(harness, headSha).at(-1)).toBe(
      'in_progress: Waiting for CI: no check has reported yet',
    );
    await github.setStatus(REPO, headSha, { context: 'test', state: 'success' });
    await harness.advance(120_000);
    expect(checkLines(harness, headSha).at(-1)).toBe('failure: Changes requested: 1 high');
    expect(approvals(harness, number)).toEqual([]);
  });

  test.each([
    ['the author', 'ada', 'wrote this pull request'],
    ['somebody without the needed role', 'will', 'has write access'],
  ])('stays if %s withdraws it', { tags: 'slow' }, async (_, login, because) => {
    const { harness, number, headSha, findings } = await asked();
    expect(await say(harness, number, login, withdraw(findings[0]))).toContain(
      `${because}, and so may not withdraw the acceptance of \`${findings[0]}\`.`,
    );
    expect(checkLines(harness, headSha).at(-1)).toBe('in_progress: Waiting for a maintainer to countersign');
  });

  test('needs to be there', { tags: 'slow' }, async () => {
    const { harness, number, findings } = await blocked();
    expect(await say(harness, number, 'mia', withdraw(findings[0]))).toBe(
      `Nobody has accepted \`${findings[0]}\` for this commit, so there is nothing to withdraw.`,
    );
  });
});

describe('a finding is not accepted', () => {
  eachFirstQuick([
    ['the author', 'ada', {}, 'wrote this pull request'],
    [
      'somebody who co-wrote a commit',
      'mia',
      { coAuthors: ['mia'] },
      'wrote or co-wrote some of the commits',
    ],
    ['somebody without the needed role', 'will', {}, 'has write access'],
    ['an outsider', 'otto', {}, 'has read access'],
  ])('by %s', async (_, login, input, because) => {
    const { harness, number, headSha, findings } = await blocked(DROP, { input });
    const reply = await say(harness, number, login, accept(findings[0]));
    expect(reply).toContain(`${because}, and so may not accept \`${findings[0]}\`.`);
    expect(checkLines(harness, headSha)).toEqual(['failure: Changes requested: 1 high']);
  });

  test('by somebody whom the merge step does not ask for', { tags: 'slow' }, async () => {
    const chain = MIGRATIONS.replace('requires_approval: true', 'requires_approval: { users: [max] }');
    const { harness, number, findings } = await blocked(DROP, { chain });
    expect(await say(harness, number, 'mia', accept(findings[0]))).toContain('this step asks for max');
    expect(await say(harness, number, 'max', accept(findings[0]))).toContain('Accepted');
  });

  test('by somebody whom only one of two merge steps asks for', { tags: 'slow' }, async () => {
    const second = `  - id: merge_second
    action: gh-merge
    depends_on: [review]
    condition: "{{ steps.review.outcome.passed }}"
    requires_approval: { users: [max] }
    with: { pr: "{{ trigger.pr_number }}" }
`;
    const chain = MIGRATIONS.replace('  - id: changes\n', `${second}  - id: changes\n`);
    const { harness, number, findings } = await blocked(DROP, { chain });
    expect(await say(harness, number, 'mia', accept(findings[0]))).toContain('this step asks for max');
    expect(await say(harness, number, 'max', accept(findings[0]))).toContain('Accepted');
  });

  test('that has another name, and the reply lists those that there are', { tags: 'slow' }, async () => {
    const { harness, number, findings } = await blocked();
    expect(await say(harness, number, 'mia', accept('00000000'))).toBe(
      `The review has no finding \`00000000\`; its findings are \`${findings[0]}\` (\`${FILE}:1\`).`,
    );
  });

  test('twice by the same person', { tags: 'slow' }, async () => {
    const { harness, number, findings } = await blocked();
    await say(harness, number, 'mia', accept(findings[0]));
    expect(await say(harness, number, 'mia', accept(findings[0]))).toBe(
      `You have accepted \`${findings[0]}\` for this commit already.`,
    );
  });

  test('before there is a review', { tags: 'slow' }, async () => {
    const harness = await start({ chain: MIGRATIONS.replace('draft: false', 'draft: true') });
    const { number, headSha } = await open(harness);
    expect(await say(harness, number, 'mia', accept('12345678'))).toBe(
      `There is no finished review of \`${headSha.slice(0, 7)}\` yet, so it has no finding that could be accepted.`,
    );
  });

  test('by a command that was written before a push', { tags: 'slow' }, async () => {
    const { harness, number, findings } = await blocked();
    const { github } = harness;
    github.holdDeliveries();
    await github.comment(REPO, number, 'mia', accept(findings[0]));
    const sha = await github.push({ repo: REPO, branch: 'greet', author: 'ada', files: { 'b.sql': '\n' } });
    await github.releaseDeliveries();
    await harness.advance(A_RECHECK);
    expect(checkLines(harness, sha)).toEqual(['failure: Changes requested: 1 high']);
  });
});

describe('a finding of a chain that is a step of another', () => {
  const OUTER = `name: pr-review
trigger: { event: pr.opened, filter: { draft: false } }
steps:
  - { id: sub, action: chain, with: { chain: inner } }
  - id: merge
    action: gh-merge
    condition: "{{ steps.sub.outcome.passed }}"
    requires_approval: true
    with: { pr: "{{ trigger.pr_number }}" }
`;
  const INNER = `name: inner
trigger: { event: manual.fired }
steps:
  - { id: review, skill: migration-review }
`;

  test('is accepted, and the step runs again', { tags: 'slow' }, async () => {
    const { harness, number, headSha } = await blocked(DROP, {
      chain: OUTER,
      files: { '.github/countersign/chains/inner.yaml': INNER },
    });
    await harness.advance(10_000);
    const findings = ownChecks(harness, headSha).flatMap(({ annotations }) =>
      annotations.flatMap(
        ({ message }) => /\/countersign accept ([0-9a-f]{8}) because/.exec(message)?.[1] ?? [],
      ),
    );
    expect(approvals(harness, number)).toEqual([]);
    expect(await say(harness, number, 'will', accept(findings[0]))).toContain('may not accept');
    expect(await say(harness, number, 'mia', accept(findings[0]))).toContain('Accepted');
    await harness.advance(60_000);
    expect(approvals(harness, number)).toHaveLength(1);
    await countersign(harness, number, 'max');
    expect(harness.github.merges).toHaveLength(1);
  });
});

test('a rule that the settings ignore blocks nothing, and the review says how many findings it left out', {
  tags: 'slow',
}, async () => {
  const settings = 'review: { ignore: [sql/drop-column] }\n';
  const { harness, headSha } = await blocked(DROP, { settings });
  expect(findingsOf(harness, headSha)).toEqual([]);
  expect(checkLines(harness, headSha).at(-1)).toContain('in_progress: Waiting for CI');
  expect(ownCheck(harness, headSha).summary).toContain(
    'Left out, because the settings ignore the rule sql/drop-column: 1 finding.',
  );
});

test('a hostile reason is shown as text', { tags: 'slow' }, async () => {
  const { harness, number, headSha, findings } = await blocked();
  const hostile = '<img src=x> @octo/all [click](http://evil.test) **bold** | `code`';
  await say(harness, number, 'mia', `/countersign accept ${findings[0]} because ${hostile}`);
  const { summary = '' } = ownCheck(harness, headSha);
  expect(summary).not.toContain('<img');
  expect(summary).not.toContain('[click](http');
  expect(summary).not.toMatch(/(?<![\\`])@octo\/all/);
});
