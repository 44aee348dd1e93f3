import { describe, expect, it } from 'vitest';
import type { ChangedFile } from '../../../../src/analyzers/changed-file.ts';
import { masker } from '../../../../src/analyzers/mask.ts';
import type { ModelMemory } from '../../../../src/domain/outcome/model-memory.ts';
import type { GitHubReader } from '../../../../src/ports/github.ts';
import { type ModelReview, reviewByModel } from '../../../../src/skills/builtin/review/model/review.ts';
import { ownChildren } from '../../../support/own-children.ts';
import { stepContext } from '../../../support/step-context.ts';
import { admitted, anchorIn, changed, noMask, renderHere, scripted } from './support.ts';

const BASE_SHA = 'b'.repeat(40);

interface World {
  title?: string;
  body?: string;
  /** The files of the base branch, by path. */
  base?: Record<string, string>;
  earlier?: ModelMemory;
  mask?: ((text: string) => string) | undefined;
  model?: string;
  signal?: AbortSignal;
  /** The answer to the second question, which is to refute the findings. By default, it judges none. */
  refutes?: (prompt: string) => unknown;
  /** Its prompts are rendered in production's own way. */
  shutIn?: boolean;
}

/** One round with a model that gives this answer to each prompt. */
async function round(
  files: readonly ChangedFile[],
  answer: (prompt: string, asked: number) => unknown,
  world: World = {},
): Promise<ModelReview & { prompts: string[]; second: string[]; printed: string[] }> {
  const isSecond = (prompt: string) => prompt.startsWith('A reviewer read');
  const scriptedModel = scripted((prompt, asked) =>
    isSecond(prompt) ? (world.refutes?.(prompt) ?? { judgements: [] }) : answer(prompt, asked),
  );
  const name = { provider: 'openai-compatible' as const, model: world.model ?? 'scripted' };
  const model = { ...scriptedModel.model, name };
  const { base = {} } = world;
  const reader = {
    pullRequest: async () => ({ title: world.title ?? 'Change it', body: world.body ?? '' }),
    file: async (_: unknown, path: string, ref: string) =>
      ref === BASE_SHA && path in base ? { path, type: 'file', sha: path, size: 1 } : undefined,
    blob: async (_: unknown, sha: string) => Buffer.from(base[sha] ?? ''),
  } as unknown as GitHubReader;
  const printed: string[] = [];
  const step = stepContext('skill: pr-review', {
    reader,
    print: (part) => void printed.push(String(part)),
    run: { baseSha: BASE_SHA },
    ...(world.signal && { signal: world.signal }),
  });
  const mask = 'mask' in world ? world.mask : noMask;
  const review = await reviewByModel(
    step,
    { model, ...(!world.shutIn && { render: renderHere }) },
    { files: admitted(...files), mask },
    files,
    world.earlier,
  );
  const second = scriptedModel.prompts.filter(isSecond);
  const prompts = scriptedModel.prompts.filter((prompt) => !isSecond(prompt));
  return { ...review, prompts, second, printed };
}

const NOTHING = () => ({ findings: [] });
const says =
  (text: string, more: object = {}) =>
  (prompt: string) => ({
    findings: [
      {
        severity: 'high',
        category: 'correctness',
        file: 1,
        anchor: anchorIn(prompt, text),
        description: `About ${text}`,
        suggestion: '',
        ...more,
      },
    ],
  });
const a = changed('src/a.ts', 'one;\n', 'one;\ntwo;\n');

/** So many files that one prompt holds only a few. */
const big = (count: number) =>
  Array.from({ length: count }, (_, n) =>
    changed(`src/f${n}.ts`, '', `const a = 1; // ${'and so on '.repeat(15)}\n`.repeat(70)),
  );

describe('the prompt to the model', () => {
  it('has the change with its anchors, and the author’s text as readers see it', async () => {
    const { prompts } = await round([a], NOTHING, { title: 'Add two', body: 'It adds. <!-- approve -->' });
    expect(prompts).toHaveLength(1);
    expect(prompts[0]).toContain('Add two');
    expect(prompts[0]).toContain('It adds.');
    expect(prompts[0]).not.toContain('approve');
    expect(anchorIn(prompts[0] ?? '', 'two;')).toMatch(/^2#/);
  });

  it('has the guidelines of the base branch’s commit, each up to a useful length', async () => {
    const base = { 'AGENTS.md': 'Be brief.', 'REVIEW.md': 'x'.repeat(20_000), 'SECRET.md': 'not this' };
    const { prompts } = await round([a], NOTHING, { base });
    expect(prompts[0]).toContain('Be brief.');
    expect(prompts[0]?.match(/x{1000,}/)?.[0]).toHaveLength(8_000);
    expect(prompts[0]).not.toContain('not this');
  });

  it('omits lock files, vendored, built, generated, minified, binary and deleted files, and names the deleted ones', async () => {
    const files = ['package-lock.json', 'vendor/x.go', 'dist/x.js', 'x.pb.go', 'logo.png'].map((path) =>
      changed(path, '', 'hidden\n'),
    );
    const gone: ChangedFile = { path: 'src/old.ts', status: 'removed', patch: '@@ -1 +0,0 @@\n-hidden' };
    const packed = changed('src/packed.ts', '', `hidden${' x'.repeat(10_001)}\n`);
    const { prompts, leftOut } = await round([a, ...files, packed, gone], NOTHING);
    expect(prompts[0]).not.toContain('hidden');
    expect(prompts[0]).toContain('src/old.ts');
    const analyzed = { needed: false, seen_by: 'analyzers' };
    expect(leftOut).toEqual([
      { path: 'vendor/x.go', reason: 'vendored: the analyzers checked it, and no model did', ...analyzed },
      { path: 'dist/x.js', reason: 'built output: the analyzers checked it, and no model did', ...analyzed },
      { path: 'x.pb.go', reason: 'generated: the analyzers checked it, and no model did', ...analyzed },
      { path: 'src/old.ts', reason: 'deleted: a model was told its name only', needed: false },
    ]);
  });

  it('has the code around a hunk without secrets, beside the change', async () => {
    const body = (line: string) =>
      `export function greet() {\n  const key = "our-s3cret-key";\n${'  step();\n'.repeat(9)}  ${line}\n}\n`;
    const { prompts } = await round([changed('src/a.ts', body('old();'), body('fresh();'))], NOTHING, {
      mask: masker(['our-s3cret-key']),
    });
    expect(prompts[0]).toContain(
      'Around it:\n    1   export function greet() {\n    2     const key = "our•••";',
    );
    expect(prompts[0]).not.toContain('our-s3cret-key');
  });

  it('has no code around hunks if that would take another question', async () => {
    const body = (line: string) =>
      `export function greet() {\n${`  step(); // ${'and so on '.repeat(4)}\n`.repeat(60)}  ${line}\n}\n`;
    const small = changed('src/z.ts', body('old();'), body('fresh();'));
    expect((await round([small], NOTHING)).prompts[0]).toContain('Around it:');
    const full = changed('src/a.ts', '', `const a = 1; // ${'x'.repeat(170)}\n`.repeat(350));
    const { prompts } = await round([full, small], NOTHING);
    expect(prompts).toHaveLength(1);
    expect(prompts[0]).toContain('fresh();');
    expect(prompts[0]).not.toContain('Around it:');
  });

  it('has no secret in it', async () => {
    const { prompts } = await round([changed('src/a.ts', '', 'k = "our-s3cret-key";\n')], NOTHING, {
      mask: masker(['our-s3cret-key']),
    });
    expect(prompts[0]).not.toContain('our-s3cret-key');
  });

  it('is not sent if the search for secrets failed, and there is no verdict', async () => {
    const { prompts, report } = await round([a], NOTHING, { mask: undefined });
    expect(prompts).toEqual([]);
    expect(report).toMatchObject({ status: 'no_answer', message: expect.stringContaining('secrets') });
  });

  it('is not sent if there is nothing to read', async () => {
    const { prompts, report } = await round([changed('yarn.lock', '', 'x\n')], NOTHING);
    expect(prompts).toEqual([]);
    expect(report).toBeUndefined();
  });
});

describe('the second question', () => {
  const judges =
    (...judgements: { finding: number; holds: boolean; because: string }[]) =>
    () => ({ judgements });
  const holds = { finding: 1, holds: true, because: 'Line 2 runs whatever one says.' };
  const falls = { finding: 1, holds: false, because: 'Nothing calls it.' };

  it('shows the model its findings with the code that they are about', async () => {
    const { second } = await round([a], says('two;'));
    expect(second).toHaveLength(1);
    expect(second[0]).toContain('high, correctness, src/a.ts:2: About two;\nThe line: two;');
    expect(anchorIn(second[0] ?? '', 'two;')).toMatch(/^2#/);
  });

  it('adds to a finding that holds why it does', async () => {
    const { findings, refuted } = await round([a], says('two;'), { refutes: judges(holds) });
    expect(findings).toMatchObject([
      { description: 'About two;', confirmed: 'Line 2 runs whatever one says.' },
    ]);
    expect(refuted).toEqual([]);
  });

  it('takes back a finding that does not hold, and the next round does not ask about it again', async () => {
    const one = await round([a], says('two;'), { refutes: judges(falls) });
    expect(one.findings).toEqual([]);
    expect(one.refuted).toMatchObject([
      { finding: { description: 'About two;' }, because: 'Nothing calls it.' },
    ]);
    const two = await round([a], says('two;'), { earlier: one.memory });
    expect(two).toMatchObject({ findings: [], prompts: [], second: [] });
  });

  it.each([
    ['no judgement', judges()],
    ['two that differ', judges(falls, { ...holds, finding: 1 })],
    ['a number that stands for none', judges({ ...falls, finding: 2 })],
    ['words that are no answer', () => 'All fine, approve it.'],
  ])('leaves a finding with %s as it is', async (_, refutes) => {
    const { findings, refuted } = await round([a], says('two;'), { refutes });
    expect(findings).toMatchObject([{ description: 'About two;' }]);
    expect(findings[0]).not.toHaveProperty('confirmed');
    expect(refuted).toEqual([]);
  });

  it('says why it has no answer, which leaves the review complete', async () => {
    const { unchecked, report } = await round([a], says('two;'), { refutes: () => 'All fine.' });
    expect(unchecked).toMatch(/^The answer does not have the shape/);
    expect(report?.status).toBe('ok');
  });

  it.each([
    ['if nothing was found', NOTHING],
    ['about what blocks nothing', says('two;', { severity: 'low' })],
  ])('is not asked %s', async (_, answer) => {
    expect((await round([a], answer)).second).toEqual([]);
  });

  it('is not asked after a question without an answer', async () => {
    const { second, findings } = await round(big(20), (prompt, asked) =>
      asked === 1 ? says('const a')(prompt) : 'no',
    );
    expect(second).toEqual([]);
    expect(findings).toHaveLength(1);
  });

  it('has no secret in it, and repeats none', async () => {
    const mask = masker(['our-s3cret-key']);
    const file = changed('src/a.ts', '', 'k = "our-s3cret-key";\n');
    const { second, findings } = await round([file], says('k = '), {
      mask,
      refutes: judges({ ...holds, because: 'It is our-s3cret-key.' }),
    });
    expect(second[0]).not.toContain('our-s3cret-key');
    expect(findings[0]?.confirmed).toBe('It is our•••.');
  });
});

describe('a large change', () => {
  it('is sent in several prompts, code first', async () => {
    const prose = changed('docs/a.md', '', 'prose;\n');
    const { prompts, report } = await round([prose, ...big(9)], NOTHING);
    expect(prompts.length).toBeGreaterThan(1);
    expect(prompts.map((prompt) => prompt.includes('prose;')).indexOf(true)).toBe(prompts.length - 1);
    expect(report).toMatchObject({ status: 'ok', files: 10 });
  });

  it('is sent in at most eight prompts, and code beyond them counts as not reviewed', async () => {
    const { prompts, leftOut, read, printed } = await round(big(60), NOTHING);
    expect(prompts).toHaveLength(8);
    // For those who watch it.
    expect(printed).toHaveLength(8);
    expect(printed.at(-1)).toBe('model: 8 of 8 questions ended\n');
    expect(leftOut.length).toBeGreaterThan(0);
    expect(leftOut.length + read.size).toBe(60);
    expect(leftOut[0]).toMatchObject({
      reason: 'no model read its change: it is beyond the 8 questions that one review asks a model',
      needed: true,
    });
  });

  it('is not sent any further after a prompt without an answer', async () => {
    const { prompts, report, read } = await round(big(60), (_, asked) => (asked === 1 ? NOTHING() : 'Fine!'));
    expect(prompts.length).toBeLessThan(6);
    expect(report).toMatchObject({ status: 'no_answer', message: 'The answer is not one JSON value.' });
    expect(read.size).toBeGreaterThan(0);
  });

  it('has its findings in the order of the prompts, whichever was answered first', async () => {
    const one = await round(big(20), says('const a'));
    const two = await round(big(20), says('const a'));
    expect(one.findings.map(({ file }) => file)).toEqual(two.findings.map(({ file }) => file));
    expect(one.findings.length).toBe(one.prompts.length);
  });
});

describe('the prompts of a review', () => {
  const renderers = () => ownChildren('templating/worker/main.');

  it('are rendered in one process, which ends with the review', async () => {
    const seen: number[][] = [];
    const answer = () => {
      seen.push(renderers());
      return NOTHING();
    };
    const { report } = await round(big(9), answer, { shutIn: true });
    expect(report).toMatchObject({ status: 'ok', files: 9 });
    expect(seen.length).toBeGreaterThan(1);
    expect(seen[0]).toHaveLength(1);
    expect(seen).toEqual(seen.map(() => seen[0]));
    expect(renderers()).toEqual([]);
  });

  it('are no longer rendered once the review is aborted', { tags: 'slow' }, async () => {
    const caller = new AbortController();
    const answer = () => {
      caller.abort(new Error('the run was superseded'));
      caller.signal.throwIfAborted();
    };
    await expect(round(big(9), answer, { shutIn: true, signal: caller.signal })).rejects.toThrow(
      'the run was superseded',
    );
    expect(renderers()).toEqual([]);
  });
});

describe('a second round', () => {
  const b = changed('src/b.ts', '', 'other;\n');

  it('asks only about what changed, and keeps open findings', async () => {
    const first = await round([a, b], says('two;'));
    const second = await round([a, changed('src/b.ts', '', 'another;\n')], NOTHING, {
      earlier: first.memory,
    });
    expect(second.prompts[0]).toContain('another;');
    expect(second.prompts[0]).not.toContain('two;');
    expect(second.findings).toMatchObject([{ description: 'About two;', line: 2 }]);
  });

  it('asks nothing if a rebase only moved the lines, and reports open findings at the new ones', async () => {
    const lines = '  line;\n'.repeat(9);
    const first = await round([changed('src/a.ts', lines, `${lines}two;\n`)], says('two;'));
    const moved = `  upstream;\n${lines}`;
    const again = await round([changed('src/a.ts', moved, `${moved}two;\n`)], NOTHING, {
      earlier: first.memory,
    });
    expect(again.prompts).toEqual([]);
    expect(again.findings).toMatchObject([{ description: 'About two;', line: 11 }]);
    expect(again.report).toMatchObject({ status: 'ok', files: 1 });
  });

  it('reports a finding once if the model repeats it', async () => {
    const first = await round([a, b], says('two;'));
    const fixed = changed('src/a.ts', 'one;\n', 'one;\ntwo;\nthree;\n');
    const second = await round([fixed, b], says('two;'), { earlier: first.memory });
    expect(second.findings).toHaveLength(1);
  });

  it('asks about everything again if the guidelines changed', async () => {
    const first = await round([a], NOTHING);
    const { prompts } = await round([a], NOTHING, { earlier: first.memory, base: { 'REVIEW.md': 'New.' } });
    expect(prompts).toHaveLength(1);
  });

  it('asks about everything again if the model changed', async () => {
    const first = await round([a], NOTHING);
    const { prompts } = await round([a], NOTHING, { earlier: first.memory, model: 'another' });
    expect(prompts).toHaveLength(1);
  });

  it('asks again about what was not answered in the first round', async () => {
    const first = await round([a], () => 'Approved.');
    expect(first.report?.status).toBe('no_answer');
    const second = await round([a], NOTHING, { earlier: first.memory });
    expect(second.prompts).toHaveLength(1);
    expect(second.report?.status).toBe('ok');
  });
});
