// @module-tag slow
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import type { Finding } from '../../src/domain/outcome/finding.ts';
import { findingId } from '../../src/domain/outcome/fingerprint.ts';
import type { Storage } from '../../src/ports/storage.ts';
import { anchorIn } from '../skills/builtin/review/support.ts';
import { type Harness, type HarnessOptions, REPO } from '../support/harness.ts';
import { type Asked, type StubModel, startStubModel } from '../support/model/stub.ts';
import { A_RECHECK, checkLines, open, ownCheck, start } from './support.ts';
import { modelAt } from './support-skills.ts';

const CHAIN = `name: pr-review
trigger: { event: pr.opened, filter: { draft: false } }
steps:
  - id: review
    skill: pr-review
  - id: merge
    action: gh-merge
    condition: "{{ steps.review.outcome.passed }}"
    requires_approval: true
    with: { pr: "{{ trigger.pr_number }}" }
`;
const WITHOUT_MODEL = CHAIN.replace('skill: pr-review', 'skill: pr-review\n    with: { model: false }');
/** Two files that analyzers search for secrets only. */
const FILES = {
  'src/a.go': 'package a\n\nvar first = run()\n',
  'src/b.go': 'package b\n\nvar second = run()\n',
};

let stub: StubModel;
beforeEach(async () => {
  stub = await startStubModel();
});
afterEach(() => stub.stop());

const promptOf = (asked: Asked | undefined) => asked?.body.messages?.at(-1)?.content ?? '';
const NOTHING = { text: JSON.stringify({ findings: [] }) };

/** A critical finding on each line that assigns one of these variables, in the order of the files. */
const finds =
  (...names: string[]) =>
  (asked: Asked) => ({
    text: JSON.stringify({
      findings: names.map((name, at) => ({
        severity: 'critical',
        category: 'correctness',
        file: at + 1,
        anchor: anchorIn(promptOf(asked), `var ${name}`),
        description: `The ${name} one is wrong.`,
        suggestion: '',
      })),
    }),
  });

interface Reviewed {
  harness: Harness;
  number: number;
  headSha: string;
}

async function reviewed(options: HarnessOptions & { chain?: string; files?: never } = {}): Promise<Reviewed> {
  const harness = await start({ chain: CHAIN, model: modelAt(stub), ...options });
  const opened = await open(harness, { files: FILES });
  await harness.advance(A_RECHECK);
  return { harness, ...opened };
}

/** @returns the app's reply. */
async function say({ harness, number }: Reviewed, login: string, body: string): Promise<string> {
  const { github, advance } = harness;
  const id = await github.comment(REPO, number, login, body);
  await advance(A_RECHECK);
  const reply = github.comments(REPO, number).find((one) => one.body.includes(`reply to=${id}`));
  return reply?.body.replace(/^<!--.*?-->\n/, '') ?? '';
}

/** The files with a finding. The annotations of a check run also have those of the reviews before. */
async function found(one: Reviewed): Promise<(string | null)[]> {
  return (await findingsOf(one)).map(({ file }) => file);
}
/** What the newest check run shows. */
const line = ({ harness, headSha }: Reviewed) => checkLines(harness, headSha).at(-1);
const notesOf = ({ harness, headSha }: Reviewed) =>
  [...(ownCheck(harness, headSha).summary ?? '').matchAll(/<sub>(.*?)<\/sub>/g)].map(([, note]) => note);

describe('review of one file', () => {
  test('has the model read that file alone, judges it again, and keeps what blocks in the others', async () => {
    stub.answers(finds('first', 'second'), NOTHING);
    const one = await reviewed();
    expect(line(one)).toBe('failure: Changes requested: 2 critical');
    expect(await say(one, 'will', '/countersign review `src/a.go`')).toBe(
      `Reviewing \`src/a.go\` again in \`${one.headSha.slice(0, 7)}\`; what was found in other files stays.`,
    );
    expect(stub.asked).toHaveLength(2);
    expect(promptOf(stub.asked[1])).toContain('+ var first');
    expect(promptOf(stub.asked[1])).not.toContain('+ var second');
    expect(await found(one)).toEqual(['src/b.go']);
    expect(line(one)).toBe('failure: Changes requested: 1 critical');
    expect(notesOf(one)).toContain('Read again: src/a.go. What was found in the other files stays.');
  });

  test('lets the run go on when nothing blocks any more, and the next push asks about changes only', async () => {
    stub.answers(finds('first', 'second'), NOTHING);
    const one = await reviewed();
    await say(one, 'will', '/countersign review src/a.go');
    await say(one, 'ada', '/countersign review src/b.go');
    expect(line(one)).toBe('in_progress: Waiting for a maintainer to countersign');
    const files = { 'src/c.go': 'package c\n' };
    await one.harness.github.push({ repo: REPO, branch: 'greet', author: 'ada', files });
    await one.harness.advance(A_RECHECK);
    expect(stub.asked).toHaveLength(4);
    expect(promptOf(stub.asked[3])).not.toMatch(/\+ var (?:first|second)/);
  });

  test('keeps the findings of the file, too, if the model does not answer', async () => {
    stub.answers(finds('first', 'second'), { status: 400 });
    const one = await reviewed();
    await say(one, 'will', '/countersign review src/a.go');
    expect((await found(one)).toSorted()).toEqual(['src/a.go', 'src/b.go']);
    expect(line(one)).toBe('failure: Changes requested: 2 critical');
  });

  test('has an accepted finding of another file stay accepted', async () => {
    stub.answers(finds('first', 'second'), NOTHING);
    const one = await reviewed();
    const other = (await findingsOf(one)).find(({ file }) => file === 'src/b.go');
    const id = other && findingId(other);
    expect(await say(one, 'mia', `/countersign accept ${id} because fine`)).toMatch(/^Accepted/);
    await say(one, 'will', '/countersign review src/a.go');
    expect(line(one)).toBe('in_progress: Waiting for a maintainer to countersign');
    expect(await found(one)).toEqual([]);
  });

  test('reads everything, and says so, if the review of this commit is not there any more', async () => {
    stub.answers(finds('first', 'second'), NOTHING);
    const one = await reviewed({ storage: withoutArtifacts });
    await say(one, 'will', '/countersign review src/a.go');
    expect(promptOf(stub.asked[1])).toContain('+ var second');
    expect(notesOf(one)).toContain(
      'All files were reviewed again, not only src/a.go: the last review of this commit is not there any more.',
    );
  });

  test('needs no model', async () => {
    const one = await reviewed({ chain: WITHOUT_MODEL });
    await say(one, 'will', '/countersign review src/a.go');
    expect(notesOf(one)).toContain('Read again: src/a.go. What was found in the other files stays.');
    expect(line(one)).toBe('in_progress: Waiting for a maintainer to countersign');
  });

  test('is followed by a review of all files when somebody asks for that', async () => {
    stub.answers(finds('first', 'second'), NOTHING, NOTHING);
    const one = await reviewed();
    await say(one, 'will', '/countersign review src/a.go\n/countersign review');
    expect(await found(one)).toEqual([]);
    expect(promptOf(stub.asked.at(-1))).toContain('+ var second');
  });

  test.each([
    [
      'of a file that the pull request does not change',
      'will',
      'src/aa.go',
      /adds or changes no file `src\/aa\.go`; did you mean `src\/a\.go`\?/,
    ],
    ['by somebody who can only read', 'otto', 'src/a.go', /is for people with write access or the author/],
  ])('%s is refused with the reason', async (_, login, path, reply) => {
    const one = await reviewed({ chain: WITHOUT_MODEL });
    expect(await say(one, login, `/countersign review ${path}`)).toMatch(reply);
    expect(await one.harness.app.storage.read.runs.sessionsOf((await runOf(one)) ?? '')).toHaveLength(2);
  });

  test('is refused while no review of this commit has ended', async () => {
    const one = await reviewed({ chain: WITHOUT_MODEL });
    await say(one, 'will', '/countersign cancel');
    expect(await say(one, 'will', '/countersign review src/a.go')).toMatch(
      /^There is no finished review of `\w+` to keep the rest of; `\/countersign review` reviews all files\.$/,
    );
  });
});

async function findingsOf({ harness }: Reviewed): Promise<Finding[]> {
  const { runs } = harness.app.storage.read;
  const [run] = await runs.list({ chain: 'pr-review', limit: 1 });
  const outcome = (await runs.load(run?.id ?? ''))?.invocations[0]?.outcome;
  return outcome?.outcome_kind === 'review_verdict' ? outcome.findings : [];
}

async function runOf({ harness }: Reviewed): Promise<string | undefined> {
  const [run] = await harness.app.storage.read.runs.list({ chain: 'pr-review', limit: 1 });
  return run?.id;
}

/** No artifact can be read any more, as after a retention that is short. */
function withoutArtifacts(real: Storage): Storage {
  const artifacts = replaced(real.read.artifacts, 'get', async () => undefined);
  return replaced(real, 'read', replaced(real.read, 'artifacts', artifacts));
}

/** The same with one member replaced. No copy, because the members of a storage are not all its own properties. */
function replaced<T extends object, K extends keyof T>(of: T, member: K, by: T[K]): T {
  return new Proxy(of, {
    get(target, name) {
      if (name === member) return by;
      const value: unknown = Reflect.get(target, name);
      return typeof value === 'function' ? value.bind(target) : value;
    },
  });
}
