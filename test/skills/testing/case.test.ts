import { readFileSync } from 'node:fs';
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { parsePatch } from '../../../src/core/hunks.ts';
import { readCaseFile } from '../../../src/domain/skill/case-file.ts';
import { testedText } from '../../../src/messages/cli/skill-test.ts';
import { promptSkill } from '../../../src/skills/kinds/prompt/prompt-skill.ts';
import type { ArtifactHandler } from '../../../src/skills/runtime/handler.ts';
import type { SkillContext } from '../../../src/skills/runtime/skill-context.ts';
import { caseReader, HEAD_SHA } from '../../../src/skills/testing/case-reader.ts';
import { patchBetween } from '../../../src/skills/testing/patch.ts';
import { recordedModel } from '../../../src/skills/testing/recorded-model.ts';
import { runCase } from '../../../src/skills/testing/run-case.ts';
import { files, packageOf, skillMd } from '../../support/packages.ts';

const diagnostics = (text: string) =>
  readCaseFile(text, 'tests/a.yml').diagnostics.map(
    ({ line, column, message }) => `${line}:${column} ${message}`,
  );

test.each([
  ['cases: []', '1:8 "cases" must have at least 1 entry'],
  [
    'cases:\n  - { name: a, files: { a: x }, expect: {} }',
    '2:41 "expect" is empty; a case states at least one of verdict, passed, findings, fails',
  ],
  ['cases:\n  - { name: a, files: { ../a: x }, expect: { passed: true } }', undefined],
  [
    'cases:\n  - { name: a, files: { a: { before: x, after: x } }, expect: { passed: true } }',
    '2:28 the file is the same before and after',
  ],
  [
    'cases:\n  - { name: a, files: {}, expect: { passed: true } }\n  - { name: a, files: {}, expect: { passed: true } }',
    '3:13 there is a case "a" already',
  ],
  ['cases:\n  - { name: a, files: {}, expect: { verdict: OK } }', undefined],
])('%j is an error', (text, expected) => {
  expect(diagnostics(text)).toHaveLength(1);
  if (expected !== undefined) expect(diagnostics(text)).toEqual([expected]);
});

test('a case of a gate_verdict cannot expect what only a review has, not even nothing', () => {
  const text = 'cases:\n  - { name: a, files: {}, expect: { verdict: null, passed: true, findings: [] } }';
  expect(readCaseFile(text, 'a.yml', 'review_verdict').diagnostics).toEqual([]);
  const { diagnostics, cases } = readCaseFile(text, 'a.yml', 'gate_verdict');
  expect(diagnostics.map(({ line, column, message }) => `${line}:${column} ${message}`)).toEqual([
    '2:37 a gate_verdict has no verdict; a case of it expects passed, or that it fails',
    '2:66 a gate_verdict has no findings; a case of it expects passed, or that it fails',
  ]);
  expect(cases).toEqual([]);
});

test('docs/skills.md shows cases without errors', () => {
  const page = readFileSync(new URL('../../../docs/skills.md', import.meta.url), 'utf8');
  const [, shown = ''] = /^```yaml case\n([\s\S]*?)^```$/m.exec(page) ?? [];
  expect(readCaseFile(shown, 'a.yml')).toMatchObject({ cases: [{}], diagnostics: [] });
});

test('the patch of a case says which lines its change adds', () => {
  const lines = fc.array(fc.constantFrom('a', 'b', 'c', ''), { maxLength: 12 });
  fc.assert(
    fc.property(lines, lines, fc.boolean(), (before, after, ends) => {
      const [old, fresh] = [before, after].map(
        (all) => all.map((line) => `${line}\n`).join('') + (ends ? '' : 'end'),
      ) as [string, string];
      const { text, additions } = patchBetween(old, fresh);
      const { added, whole } = parsePatch(text);
      expect(whole).toBe(true);
      expect(added.size).toBe(additions);
      const now = fresh.split('\n');
      for (const [line, said] of added) expect(now[line - 1]).toBe(said);
      // The rest of both sides is the same.
      const kept = now.filter((_, index) => !added.has(index + 1));
      expect(kept.length).toBeLessThanOrEqual(old.split('\n').length);
    }),
  );
});

const done = async () => {};

test('a case fails when the artifact’s own assertion does not hold', { tags: 'slow' }, async () => {
  const words =
    'outcome: gate_verdict\nartifacts: { prompts/ask.md: { assert: [{ kind: pattern, lacks: maybe, of: summary }] } }\n';
  const skill = packageOf(files({ 'prompts/ask.md': 'Judge {{ diff }}.' }, skillMd(words)));
  const answers = [{ summary: 'Well, maybe.', passed: true, criteria: [] }];
  const of = { name: 'one', files: { 'a.ts': 'x\n' }, answers, expect: { passed: true } };
  const model = recordedModel(answers);
  const caseTools = { handlers: [promptSkill({ model })], builtIn: [], answersLeft: model.left, stop: done };
  expect(await runCase(skill, of, caseTools, new AbortController().signal)).toMatchObject({
    kind: 'failed',
    differences: [{ what: 'failure', expected: null, actual: expect.stringContaining('maybe') }],
  });
});

test('a case fails when an assertion of an analyzer beside the first does not hold', async () => {
  const words =
    'outcome: review_verdict\nartifacts: { analyzers/a.yml: {}, analyzers/b.yml: { assert: [{ kind: pattern, contains: never }] } }\n';
  const analyzers = { 'analyzers/a.yml': 'analyzer: doc-links', 'analyzers/b.yml': 'analyzer: doc-links' };
  const skill = packageOf(files(analyzers, skillMd(words)));
  const handler: ArtifactHandler<SkillContext> = {
    kind: 'analyzer',
    execute: async () => ({ kind: 'done', log: '', value: 'nothing' }),
  };
  const of = { name: 'one', files: { 'a.ts': 'x\n' }, expect: { passed: true } };
  expect(
    await runCase(
      skill,
      of,
      { handlers: [handler], builtIn: [], answersLeft: () => 0, stop: done },
      new AbortController().signal,
    ),
  ).toMatchObject({
    differences: [{ what: 'failure', actual: expect.stringContaining('analyzers/b.yml breaks assertion 1') }],
  });
});

describe('a case of a prompt', () => {
  const skill = packageOf(
    files({ 'prompts/ask.md': 'Judge {{ diff }}.' }, skillMd('outcome: gate_verdict\n')),
  );
  const run = (more: object, of = skill) => {
    const text = JSON.stringify({ cases: [{ name: 'one', files: { 'a.ts': 'x\n' }, ...more }] });
    const { cases, diagnostics } = readCaseFile(text, 'a.yml');
    const [one] = cases;
    if (!one) throw new Error(diagnostics.map(({ message }) => message).join());
    const model = one.answers && recordedModel(one.answers);
    const caseTools = {
      handlers: [promptSkill({ model })],
      builtIn: [],
      answersLeft: () => model?.left() ?? 0,
      stop: done,
    };
    return runCase(of, one, caseTools, new AbortController().signal);
  };
  const yes = { summary: 'Fine.', passed: true, criteria: [] };

  test('runs with the answers that it contains', { tags: 'slow' }, async () => {
    expect(await run({ answers: [yes], expect: { passed: true } })).toEqual({ kind: 'passed' });
    expect(await run({ answers: [yes], expect: { passed: false } })).toEqual({
      kind: 'failed',
      differences: [{ what: 'passed', expected: 'false', actual: 'true' }],
    });
  });

  test('whose answer has an invalid shape fails, and a case can expect that', { tags: 'slow' }, async () => {
    const criterion = { id: 'a', description: 'b', passed: 'yes', evidence: '' };
    expect(
      await run({ answers: [{ ...yes, criteria: [criterion] }], expect: { passed: true } }),
    ).toMatchObject({
      differences: [
        { actual: expect.stringContaining('criteria[0].passed: must be true or false, not "yes"') },
      ],
    });
    expect(await run({ answers: ['yes'], expect: { fails: 'shape' } })).toEqual({ kind: 'passed' });
    expect(await run({ answers: [yes], expect: { fails: 'shape' } })).toMatchObject({
      differences: [{ what: 'failure', expected: 'shape', actual: null }],
    });
  });

  test('fails if it contains answers that nobody asks for', async () => {
    const result = await run({ answers: [yes, yes], expect: { passed: true } });
    expect(result).toEqual({
      kind: 'failed',
      differences: [{ what: 'answers', expected: null, actual: '1' }],
    });
    expect(testedText([{ skill: 'a', case: 'one', ...result }], 'a')).toContain(
      '1 answer too many: a case holds one for each question, and no more were asked',
    );
  });

  test('that failed before it asked only reports that', { tags: 'slow' }, async () => {
    const broken = packageOf(
      files({ 'prompts/ask.md': '{{ pr.titel }}' }, skillMd('outcome: gate_verdict\n')),
    );
    const result = await run({ answers: [yes], expect: { passed: true } }, broken);
    expect(result).toMatchObject({
      differences: [{ what: 'failure', actual: expect.stringContaining('titel') }],
    });
    expect(await run({ answers: [yes], expect: { fails: 'titel' } }, broken)).toMatchObject({
      differences: [{ what: 'answers', actual: '1' }],
    });
  });

  test('without answers is skipped', async () => {
    expect(await run({ expect: { passed: true } })).toEqual({ kind: 'left_out', because: 'no_model' });
  });
});

test('a case says that it knows no history', async () => {
  const reader = caseReader({ files: { 'a.ts': 'x' } }, 1);
  const refused = reader.history({ owner: 'acme', name: 'shop' }, 'a.ts', HEAD_SHA);
  // Of this kind, and so the program's own error, which is not retried.
  await expect(refused).rejects.toMatchObject({
    kind: 'invalid',
    message: expect.stringContaining('no commits'),
  });
});

test('a case of findings expects exactly those', async () => {
  const skill = packageOf(
    files({ 'analyzers/a.yml': 'analyzer: doc-links' }, skillMd('outcome: review_verdict\n')),
  );
  const finding = (rule: string) => ({
    severity: 'low',
    category: 'style',
    file: 'a.ts',
    line: 1,
    description: 'It is.',
    suggestion: '',
    rule,
  });
  const handler: ArtifactHandler<SkillContext> = {
    kind: 'analyzer',
    execute: async () => ({
      kind: 'done',
      log: '',
      value: {
        summary: 'Two.',
        verdict: 'APPROVE_WITH_SUGGESTIONS',
        passed: true,
        files_reviewed: 1,
        findings: [finding('a/b'), finding('a/c')],
      },
    }),
  };
  const run = (...findings: string[]) =>
    runCase(
      skill,
      { name: 'one', files: { 'a.ts': 'x\n' }, expect: { findings } },
      { handlers: [handler], builtIn: [], answersLeft: () => 0, stop: done },
      new AbortController().signal,
    );
  expect(await run('low a/c a.ts:1', 'low a/b a.ts:1')).toEqual({ kind: 'passed' });
  expect(await run('low a/b a.ts:1', 'high a/c a.ts:1')).toEqual({
    kind: 'failed',
    differences: [
      { what: 'finding', expected: 'high a/c a.ts:1', actual: null },
      { what: 'finding', expected: null, actual: 'low a/c a.ts:1' },
    ],
  });
});

test('the results of cases are listed in lines', () => {
  const said = testedText(
    [
      { skill: 'a', case: 'one', kind: 'passed' },
      { skill: 'a', case: 'two', kind: 'left_out', because: 'no_model' },
      {
        skill: 'b',
        case: 'three',
        kind: 'failed',
        differences: [
          { what: 'verdict', expected: 'APPROVE', actual: null },
          { what: 'finding', expected: 'low a/b c:1', actual: null },
          { what: 'finding', expected: null, actual: 'high a/b c:2' },
          { what: 'failure', expected: null, actual: 'it broke' },
        ],
      },
    ],
    undefined,
  );
  expect(said).toMatchInlineSnapshot(`
    "ok        a: one
    left out  a: two (it asks a model, and the case has no answers of one)
    FAILED    b: three
              verdict: expected APPROVE, and it was none
              not found: low a/b c:1
              a finding too many: high a/b c:2
              it failed: it broke

    Ran 2 cases: 1 failed, 1 left out."
  `);
  expect(testedText([], undefined)).toBe('There are no cases here.');
  expect(testedText([], 'a')).toMatch(/^The skill a has no cases yet: /);
});
