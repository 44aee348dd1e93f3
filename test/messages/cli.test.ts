import { describe, expect, it } from 'vitest';
import { reason } from '../../src/domain/explanation/reason.ts';
import {
  chainTable,
  chainText,
  deliveryTable,
  lintText,
  migrated,
  olderDatabase,
  runIsOver,
  runTable,
  unknownRun,
} from '../../src/messages/cli/cli.ts';
import { becauseOf } from '../../src/messages/cli/diagnostics.ts';
import { chainOf, withSteps } from '../support/chains.ts';
import { at, run } from '../support/rows.ts';

const diagnostic = (line: number, message: string) => ({ file: 'a.yaml', line, column: 3, message });

describe('a list', () => {
  it('says in a sentence that it is empty', () => {
    expect(runTable([], false, at(0))).toBe('No runs yet.');
    expect(runTable([], true, at(0))).toBe('No such runs.');
    expect(deliveryTable([], undefined, at(0))).toBe('No deliveries yet.');
    expect(deliveryTable([], 'failed', at(0))).toBe('No deliveries are failed.');
  });

  it('is a table with times relative to now', () => {
    const runs = [run('run_2', { updatedAt: at(60) }), run('run_1', { pullRequest: null, status: 'failed' })];
    expect(
      runTable(
        runs.map((run) => ({ run })),
        false,
        at(240),
      ),
    ).toMatchInlineSnapshot(`
      "RUN    CHAIN      PULL REQUEST   HEAD     STATUS   UPDATED
      run_2  pr-review  acme/rocket#3  aaaaaaa  running  3 min ago
      run_1  pr-review  acme/rocket    aaaaaaa  failed   4 min ago"
    `);
  });
});

describe('a chain as text', () => {
  const chain = chainOf(
    [
      'name: example',
      'description: builds and merges',
      'trigger: { event: pr.opened, filter: { base: [main, "release/*"], draft: false } }',
      'steps:',
      '  - { id: review, skill: pr-review, timeout: 30m }',
      '  - { id: ci, skill: ci, retry: { attempts: 3, backoff: 1m }, on_failure: continue }',
      '  - { id: note, action: gh-comment, depends_on: [review], with: { body: hi } }',
      '  - { id: label, action: gh-label, depends_on: [note, ci], with: { labels: [ready] } }',
      '  - { id: merge, action: gh-merge, depends_on: [ci], requires_approval: true, condition: "{{ steps.ci.outcome.passed }}" }',
      '  - { id: other, skill: ci, depends_on: [] }',
    ].join('\n'),
  );

  it('is a graph in which each step is below the last of its dependencies', () => {
    expect(chainText(chain, 'repository', '.github/countersign/chains/a.yaml')).toMatchInlineSnapshot(`
      "example (of the repository: .github/countersign/chains/a.yaml)
      Builds and merges.
      Fires on pr.opened, where base is main or release/* and draft is false.

      review       skill pr-review, at most 30 min
      ├─ ci        skill ci, up to 3 attempts, goes on when it fails
      │  └─ merge  action gh-merge, after a countersign, if steps.ci.outcome.passed
      └─ note      action gh-comment
         └─ label  action gh-label, after note and ci
      other        skill ci"
    `);
  });

  it('names every step once', () => {
    const text = chainText(chain, 'shipped', 'a.yaml');
    const drawn = text.split('\n').slice(4);
    expect(drawn.map((line) => /[a-z]+/.exec(line)?.[0]).sort()).toEqual(
      chain.steps.map(({ id }) => id).sort(),
    );
  });

  it('is a row of a table, or says that it does not run', () => {
    const small = chainOf(withSteps('  - { skill: ci }'));
    expect(
      chainTable([
        {
          name: 'small',
          scope: 'shipped',
          file: 'chains/small.yaml',
          chain: small,
          diagnostics: [],
          runs: true,
        },
        {
          name: 'bad',
          scope: 'repository',
          file: 'b.yaml',
          chain: undefined,
          diagnostics: [diagnostic(1, 'no')],
          runs: false,
        },
      ]),
    ).toMatchInlineSnapshot(`
      "CHAIN  RUNS  FROM        FILE               FIRES ON   STEPS
      small  yes   shipped     chains/small.yaml  pr.opened  1
      bad    no    repository  b.yaml                        1 error"
    `);
  });
});

describe('lint', () => {
  const checked = (diagnostics: ReturnType<typeof diagnostic>[]) => ({
    file: 'a.yaml',
    diagnostics,
    warnings: [],
    contracts: [],
  });

  it('lists every error and counts them', () => {
    const files = [checked([diagnostic(1, 'one'), diagnostic(2, 'two')]), checked([])];
    expect(lintText(files)).toMatchInlineSnapshot(`
      "a.yaml:1:3: one
      a.yaml:2:3: two

      Checked 2 files: 2 errors in 1 of them."
    `);
  });

  it('says that there is no error', () => {
    expect(lintText([checked([])])).toBe('Checked 1 file: no errors.');
  });

  it('lists warnings after errors and counts them', () => {
    const warning = { ...diagnostic(3, 'odd'), severity: 'warning' as const };
    expect(lintText([{ ...checked([diagnostic(4, 'one')]), warnings: [warning] }])).toBe(
      'a.yaml:4:3: one\na.yaml:3:3: warning: odd\n\nChecked 1 file: 1 error, 1 warning.',
    );
  });

  it('leaves out everything in a file that would control a terminal', () => {
    expect(lintText([checked([diagnostic(1, 'unknown key "\u001b[2J\u202e"')])])).not.toMatch(
      /(?!\n)[\p{Cf}\p{Cc}]/u,
    );
  });
});

it('the first of very many errors are listed, with the place of the others', () => {
  const many = Array.from({ length: 25 }, (_, line) => diagnostic(line + 1, 'no'));
  const said = becauseOf('It is of no use', many, 'countersign chain lint').split('\n');
  expect(said).toHaveLength(22);
  expect(said.slice(-2)).toEqual([
    '  a.yaml:20:3: no',
    '  and 5 more errors, which countersign chain lint shows',
  ]);
});

describe('a sentence', () => {
  it.each([
    [
      unknownRun('run_\u001b]0;x'),
      'There is no run run_\uFFFD]0;x; countersign run list shows those there are.',
    ],
    [
      runIsOver(
        run('run_1', { status: 'completed', reason: reason('run.completed', ''), finishedAt: at(0) }),
        at(7_200),
      ),
      'The run run_1 is over already (completed, 2 h ago), so there is nothing to cancel.',
    ],
    [
      migrated({ database: 'a.db', from: 0, to: 2, applied: ['0001_a.sql', '0002_b.sql'] }),
      'Made the database a.db, version 2: applied 0001_a.sql and 0002_b.sql.',
    ],
    [
      migrated({ database: 'a.db', from: 1, to: 2, applied: ['0002_b.sql'] }),
      'Brought the database a.db up to date, version 1 to 2: applied 0002_b.sql.',
    ],
    [
      migrated({ database: 'a.db', from: 2, to: 2, applied: [] }),
      'The database a.db is up to date already (version 2).',
    ],
    [
      olderDatabase('a.db', ['0002_b.sql']),
      'The database a.db lacks 1 migration of this version of Countersign (0002_b.sql); run countersign db migrate, or start the app, which does the same.',
    ],
  ])('is as expected: %s', (said, expected) => {
    expect(said).toBe(expected);
  });
});
