// @module-tag slow

import { describe, expect, onTestFinished, test } from 'vitest';
import { Visible } from '../../src/ports/visible.ts';
import { type Harness, REPO } from '../support/harness.ts';
import { startStubModel } from '../support/model/stub.ts';
import { person, studioFor, textOf } from '../support/studio.ts';
import { A_RECHECK, open, ownCheck, ownChecks, type Setting, start } from './support.ts';
import { modelAt, SKILLS } from './support-skills.ts';

const REVIEW = `name: pr-review
trigger: { event: pr.opened, filter: { draft: false } }
steps:
  - id: review
    skill: migration-review
  - id: comments
    action: gh-review
    depends_on: [review]
    with: { outcome: "{{ steps.review.outcome }}" }
`;

const CHAIN = '.github/countersign/chains/pr-review.yaml';
const RULE = 'sql/index-locks-writes';
const INDEX = 'CREATE INDEX people_by_name ON people (name);\n';
const DROP = 'ALTER TABLE people DROP COLUMN nickname;\n';

interface Opened {
  number: number;
  headSha: string;
  findings: string[];
}

/** A pull request of ada's with a migration. */
async function migrate(harness: Harness, name: string, sql = INDEX, author = 'ada'): Promise<Opened> {
  const files = { [`db/migrations/${name}.sql`]: sql };
  const opened = await open(harness, { branch: name, files, author, title: name });
  await harness.advance(A_RECHECK);
  return { ...opened, findings: findingsOf(harness, opened.headSha) };
}

function findingsOf(harness: Harness, headSha: string): string[] {
  return ownCheck(harness, headSha).annotations.flatMap(
    ({ message }) => /(?:Finding |\/countersign accept )([0-9a-f]{8})/.exec(message)?.[1] ?? [],
  );
}

async function say(harness: Harness, number: number, login: string, text: string): Promise<string> {
  await harness.github.comment(REPO, number, login, text);
  await harness.advance(A_RECHECK);
  const replies = harness.github
    .comments(REPO, number)
    .filter(({ body }) => body.includes('<!-- countersign:reply'));
  return (replies.at(-1)?.body ?? '').replaceAll(/<!--.*?-->\n?/g, '').trim();
}

/** People accept the finding of a new pull request for each of them. */
async function acceptedBy(people: readonly string[], setting: Setting = {}, sql = INDEX): Promise<Harness> {
  const harness = await start({ chain: REVIEW, ...setting });
  for (const [at, login] of people.entries()) {
    const { number, findings } = await migrate(harness, `before${at}`, sql);
    expect(findings).toHaveLength(1);
    const reply = await say(
      harness,
      number,
      login,
      `/countersign accept ${findings[0]} because the table is small`,
    );
    expect(reply).toContain('Accepted');
  }
  return harness;
}

describe('a suggestion that people accepted on three pull requests', () => {
  test('is not shown on the next one, whose check run says so, until somebody forgets its rule', async () => {
    const harness = await acceptedBy(['mia', 'max', 'mia']);
    const { number, headSha, findings } = await migrate(harness, 'next');
    expect(findings).toEqual([]);
    const check = ownCheck(harness, headSha);
    expect(check.summary).toContain(
      `#### Not shown, but counted\n\n- 1 finding of \`${RULE}\`: people who may countersign accepted it on 3 pull requests; \`/countersign forget ${RULE}\` shows them again`,
    );
    expect(check.summary).toContain('### Review: approved, with suggestions');
    expect(harness.github.reviews(REPO, number)).toEqual([]);
    expect(await say(harness, number, 'will', `/countersign forget ${RULE}`)).toBe(
      `Forgot that \`${RULE}\` was accepted on 3 pull requests: its findings are shown again, in this repository, until people accept it as often once again.`,
    );
    expect(findingsOf(harness, headSha)).toHaveLength(1);
    expect(ownCheck(harness, headSha).summary).not.toContain('Not shown');
    expect((await migrate(harness, 'after')).findings).toHaveLength(1);
  });

  test('is shown where the settings turn learning off', async () => {
    const harness = await acceptedBy(['mia', 'max', 'mia'], {
      settings: 'review: { learning: off }\n',
    });
    const { headSha, findings } = await migrate(harness, 'next');
    expect(findings).toHaveLength(1);
    expect(ownCheck(harness, headSha).summary).not.toContain('Not shown');
  });

  test('is listed on the page Insight, for those who may see the repository', async () => {
    const harness = await acceptedBy(['mia', 'max', 'mia']);
    const of = async (options?: Parameters<typeof studioFor>[1]) =>
      textOf((await (await studioFor(harness, options))('/insight')).html);
    expect(await of()).toContain(`${RULE} ${REPO} medium 3 of 3 pull requests`);
    expect(await of({ viewer: person(900, 'will'), visible: Visible.only([]) })).not.toContain(RULE);
  });

  test('stays so if a reader asks to forget it', async () => {
    const harness = await acceptedBy(['mia', 'max', 'mia']);
    const { number, headSha } = await migrate(harness, 'next');
    expect(await say(harness, number, 'otto', `/countersign forget ${RULE}`)).toContain(
      'is for people with write access',
    );
    expect(findingsOf(harness, headSha)).toEqual([]);
  });

  test('is shown if only two of those people may still countersign', async () => {
    const harness = await acceptedBy(['mia', 'max', 'max']);
    harness.github.setPermission(REPO, 'mia', 'write');
    expect((await migrate(harness, 'next')).findings).toHaveLength(1);
  });

  test('is shown on a pull request of the person who accepted it', async () => {
    const harness = await acceptedBy(['mia', 'max', 'mia']);
    expect((await migrate(harness, 'next', INDEX, 'mia')).findings).toHaveLength(1);
  });
});

test('a suggestion that people accepted on two pull requests is shown on the next one', async () => {
  const harness = await acceptedBy(['mia', 'max']);
  expect((await migrate(harness, 'next')).findings).toHaveLength(1);
});

test('a finding that blocks is shown and blocks, however often people accepted it', async () => {
  const harness = await acceptedBy(['mia', 'max', 'mia', 'max'], {}, DROP);
  const { headSha, findings } = await migrate(harness, 'next', DROP + INDEX);
  expect(findings).toHaveLength(2);
  expect(ownCheck(harness, headSha).summary).toContain('### Review: changes requested');
});

test('an unknown rule cannot be forgotten, and the reply names those that can', async () => {
  const harness = await acceptedBy(['mia']);
  const { number } = await migrate(harness, 'next');
  expect(await say(harness, number, 'mia', '/countersign forget a/b')).toBe(
    `Nothing is learned about the rule \`a/b\`; the rules are \`${RULE}\`.`,
  );
});

test('a suggestion in a chain that another one calls is shown if the caller’s merge asks for somebody else', async () => {
  const harness = await acceptedBy(['mia', 'max', 'mia']);
  const files = {
    [CHAIN]: `name: pr-review
trigger: { event: pr.opened, filter: { draft: false } }
steps:
  - { id: sub, action: chain, with: { chain: inner } }
  - id: merge
    action: gh-merge
    condition: "{{ steps.sub.outcome.passed }}"
    requires_approval: { users: [max] }
    with: { pr: "{{ trigger.pr_number }}" }
`,
    [CHAIN.replace('pr-review', 'inner')]:
      'name: inner\ntrigger: { event: manual.fired }\nsteps:\n  - { id: review, skill: migration-review }\n',
  };
  await harness.github.push({ repo: REPO, branch: 'main', author: 'max', files });
  const { headSha } = await migrate(harness, 'next');
  await harness.advance(A_RECHECK);
  const [check] = ownChecks(harness, headSha).filter(({ name }) => name.includes('sub'));
  expect(check?.annotations).toHaveLength(1);
  expect(check?.summary).not.toContain('Not shown');
});

test('what a package’s prompt finds is shown, because all of it has one rule', async () => {
  const stub = await startStubModel();
  onTestFinished(() => stub.stop());
  const answer = (description: string) => ({
    text: JSON.stringify({
      summary: 'One thing.',
      verdict: 'APPROVE_WITH_SUGGESTIONS',
      findings: [
        { severity: 'medium', category: 'style', file: null, line: null, description, suggestion: null },
      ],
    }),
  });
  const names = ['one', 'two', 'three'];
  stub.answers(...names.map((name) => answer(`The name ${name} is short.`)), answer('Anybody can sign in.'));
  const manifest = '---\nname: naming\ndescription: Looks at names.\noutcome: review_verdict\n---\n';
  const files = {
    [`${SKILLS}/naming/SKILL.md`]: manifest,
    [`${SKILLS}/naming/prompts/ask.md`]: 'Judge the change. {{ diff }}',
  };
  const chain = REVIEW.replace('migration-review', 'naming');
  const harness = await start({ chain, files, model: modelAt(stub) });
  for (const name of names) {
    const { number, headSha } = await migrate(harness, name);
    const [id] = /`([0-9a-f]{8})`/.exec(ownCheck(harness, headSha).summary ?? '') ?? [];
    expect(await say(harness, number, 'mia', `/countersign accept ${id} because it is a word`)).toContain(
      'Accepted',
    );
  }
  const { headSha } = await migrate(harness, 'next');
  const { summary } = ownCheck(harness, headSha);
  expect(summary).toContain('Anybody can sign in.');
  expect(summary).not.toContain('Not shown');
});
