import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import fc from 'fast-check';
import { afterAll, afterEach, beforeEach, describe, expect, it } from 'vitest';
import { createTools } from '../../../../src/cli-tools.ts';
import { openStorage } from '../../../../src/composition/storage.ts';
import { systemClock } from '../../../../src/core/clock.ts';
import { parseModule } from '../../../../src/domain/skill/module.ts';
import { runCli } from '../../../../src/entrypoints/cli/command-line.ts';
import { type Example, parseExamples, split } from '../../../../src/skills/kinds/module/examples.ts';
import { type Optimization, optimizeModule } from '../../../../src/skills/kinds/module/optimize.ts';
import { score } from '../../../../src/skills/kinds/module/sidecar/score.ts';
import { createSidecar, type Task, type TaskEnd } from '../../../../src/skills/kinds/module/sidecar.ts';
import { memoryFolder } from '../../../support/memory-folder.ts';
import { purpose, useStubModel } from '../../../support/model/questions.ts';
import type { Asked, Script } from '../../../support/model/stub.ts';

const t = useStubModel();

const MODULE = {
  template: 'chain_of_thought',
  signature: {
    instruction: 'Judge the change.',
    inputs: { diff: { type: 'string' } },
    outputs: { summary: { type: 'string' }, passed: { type: 'boolean' }, criteria: { type: 'json' } },
  },
  fallback_artifact: 'prompts/judge.md',
};
const module = parseModule(JSON.stringify(MODULE));
const EXAMPLES: Example[] = Array.from({ length: 9 }, (_, index) => ({
  input: { diff: `+${index % 2 === 0 ? 'sound' : 'rotten'} apple ${index}` },
  expected: { passed: index % 2 === 0 },
}));
const lines = (examples: readonly object[]) => examples.map((one) => `${JSON.stringify(one)}\n`).join('');

/** Whether the model sees examples, and the apple that it is asked about. */
const asked = ({ body }: Asked) => {
  const prompt = body.messages?.findLast(({ role }) => role === 'user')?.content ?? '';
  const [, question = prompt] = prompt.split('REAL USER QUERY');
  return { shown: question !== prompt, apple: /\+\w+ apple \d/.exec(question)?.[0] ?? '' };
};
const says = (passed: boolean): Script => ({
  text: JSON.stringify({ reasoning: 'By its look.', summary: 'An apple.', passed, criteria: [] }),
});
const isSound = (apple: string) => apple.includes('sound');

describe('examples', () => {
  const read = (text: string) => parseExamples(text, 'e.jsonl', module, 'gate_verdict');

  it('are the lines of the file, without repetitions', () => {
    expect(read(`${lines(EXAMPLES)}\n${lines(EXAMPLES)}`)).toEqual({ examples: EXAMPLES });
  });

  it('have all their errors reported, each at its line', () => {
    const text = [
      '{',
      '{"input": {"diff": 1}, "expected": {"passed": true}}',
      '{"input": {"diff": "d", "more": 1}, "expected": {"passed": true}}',
      '{"input": {"diff": "d"}, "expected": {}}',
      '{"input": {"diff": "d"}, "expected": {"verdict": "APPROVE"}}',
      '{"input": {"diff": "d"}, "expected": {"passed": true}}',
    ].join('\n');
    const found = read(text);
    const diagnostics = 'diagnostics' in found ? found.diagnostics : [];
    expect(diagnostics.map(({ line, message }) => `${line}: ${message}`)).toMatchInlineSnapshot(`
      [
        "1: this is not valid JSON: Expected property name or '}' in JSON at position 1 (line 1 column 2)",
        "2: input.diff: Invalid input: expected string, received number",
        "3: input: Unrecognized key: "more"",
        "4: expected: an example expects at least one output",
        "5: expected: Unrecognized key: "verdict"; expected: an example expects at least one output",
      ]
    `);
    expect(read(lines(EXAMPLES.slice(0, 5)))).toMatchObject({
      diagnostics: [{ line: 1, message: 'there must be 6 to 500 different examples, and there are 5' }],
    });
  });

  it('are divided without remainder or overlap, the same way for a seed whatever their order', () => {
    const some = fc.uniqueArray(fc.string(), { minLength: 6, maxLength: 24 });
    fc.assert(
      fc.property(some, fc.nat(), (diffs, seed) => {
        const examples = diffs.map((diff) => ({ input: { diff }, expected: { passed: true } }));
        const { train, heldOut } = split(examples, seed);
        expect(new Set([...train, ...heldOut])).toEqual(new Set(examples));
        expect(train.length + heldOut.length).toBe(examples.length);
        expect(train.length).toBeGreaterThanOrEqual(heldOut.length);
        expect(split(examples.toReversed(), seed)).toEqual({ train, heldOut });
      }),
    );
    const sides = [1, 2, 3, 4].map((seed) => JSON.stringify(split(EXAMPLES, seed).heldOut));
    expect(new Set(sides).size).toBeGreaterThan(1);
  });

  it('are scored by their expected outputs', () => {
    expect(score({ passed: true, summary: 's' }, { passed: true, summary: 't', other: 1 })).toBe(0.5);
    expect(score({ findings: [{ line: 1 }] }, { findings: [{ line: 1 }] })).toBe(1);
    expect(score({ passed: true }, { passed: 'true' })).toBe(0);
  });
});

describe('skill optimize', () => {
  let cwd = '';
  afterEach(() => rmSync(cwd, { recursive: true }));
  beforeEach(async () => {
    // In memory: each question is two transactions, and the disk is not under test here.
    cwd = mkdtempSync(join(memoryFolder(), 'countersign-test-'));
    const folder = join(cwd, '.github/countersign/skills/apples');
    for (const inside of ['modules', 'prompts']) mkdirSync(join(folder, inside), { recursive: true });
    writeFileSync(join(folder, 'prompts/judge.md'), 'Judge it.');
    writeFileSync(
      join(folder, 'SKILL.md'),
      '---\nname: apples\ndescription: Judges apples.\noutcome: gate_verdict\n---\n',
    );
    writeFileSync(join(folder, 'modules/judge.json'), JSON.stringify(MODULE));
    writeFileSync(join(cwd, 'examples.jsonl'), lines(EXAMPLES));
    await (await openStorage(`sqlite:${join(cwd, 'app.db')}`, { clock: systemClock })).close();
  });

  async function optimize(args: string[], budget = '2000000') {
    const seen = { out: '', err: '' };
    const code = await runCli(['skill', 'optimize', 'apples', '--examples', 'examples.jsonl', ...args], {
      cwd,
      clock: systemClock,
      tools: createTools({
        DATABASE_URL: `sqlite:${join(cwd, 'app.db')}`,
        COUNTERSIGN_MODEL: 'openai-compatible/stub',
        COUNTERSIGN_MODEL_BASE_URL: `${t.stub.url}/v1`,
        COUNTERSIGN_MODEL_BUDGET_DAY: budget,
      }),
      out: (text) => {
        seen.out += text;
      },
      err: (text) => {
        seen.err += text;
      },
    });
    return { code, ...seen };
  }

  async function stored(id: string) {
    const storage = await openStorage(`sqlite:${join(cwd, 'app.db')}`, { clock: systemClock });
    const skill = await storage.read.skills.get(id);
    await storage.close();
    return skill?.artifacts.find(({ kind }) => kind === 'dspy_module')?.state;
  }

  it('stores examples that make the module better, and prints both scores', { tags: 'slow' }, async () => {
    // A model that learns from examples, and calls every apple sound before.
    t.stub.answers((question) => {
      const { shown, apple } = asked(question);
      return says(shown ? isSound(apple) : true);
    });
    const { train, heldOut } = split(EXAMPLES, 1);
    const before = heldOut.filter(({ expected }) => expected.passed).length / heldOut.length;
    expect(before).toBeLessThan(1);
    const { out, code } = await optimize(['--demos', '3']);
    expect(out).toBe(
      `modules/judge.json on 3 examples that were held out: ${before.toFixed(2)} before, 1.00 with 3 examples out of 6 shown to the model.\nStored.\n`,
    );
    expect(code).toBe(0);
    // The second time starts from the stored examples, and nothing is better.
    const again = JSON.parse((await optimize(['--demos', '3', '--json'])).out);
    expect(again).toMatchObject({ before: 1, after: 1, trained: 6, held_out: 3, demos: 3, stored: false });
    const state = await stored(again.id);
    expect(state).toMatchObject({ format: 1, score: 1 });
    const { demos } = state as unknown as { demos: { input: unknown; output: { reasoning: string } }[] };
    for (const { input, output } of demos) {
      expect(train.map((example) => example.input)).toContainEqual(input);
      expect(output.reasoning).toBe('By its look.');
    }
  });

  it('that cannot continue says so, and ends with 1', { tags: 'slow' }, async () => {
    t.stub.answers(says(true));
    expect(await optimize([], '10000')).toMatchObject({
      code: 1,
      out: '',
      err: expect.stringContaining('nothing is changed: The budget for language models is spent'),
    });
    expect(t.stub.asked).toEqual([]);
    writeFileSync(join(cwd, 'examples.jsonl'), '{}\n');
    expect(await optimize([])).toMatchObject({
      code: 1,
      err: expect.stringContaining('examples.jsonl:1:1: '),
    });
    const folder = join(cwd, '.github/countersign/skills/apples');
    rmSync(join(folder, 'modules'), { recursive: true });
    expect(await optimize([])).toMatchObject({
      code: 1,
      err: 'The skill apples has no module to optimize: no file in modules/.\n',
    });
  });
});

describe('optimizing', () => {
  const sidecar = createSidecar({ clock: systemClock });
  afterAll(() => sidecar.stop());
  const optimized = async (over: Partial<Optimization> = {}) =>
    optimizeModule({
      sidecar,
      model: await t.model(),
      module,
      outcome: 'gate_verdict',
      state: undefined,
      examples: EXAMPLES,
      seed: 1,
      mostDemos: 4,
      purpose,
      signal: new AbortController().signal,
      ...over,
    });

  it('rejects what is worse on the held-out examples', { tags: 'slow' }, async () => {
    const { train } = split(EXAMPLES, 1);
    // A model that knows its apples, and with examples only those that it was shown.
    t.stub.answers((question) => {
      const { shown, apple } = asked(question);
      const known = !shown || train.some(({ input }) => input.diff === apple);
      return says(known === isSound(apple));
    });
    expect(await optimized()).toMatchObject({ kind: 'not_better', before: 1, after: 0 });
  });

  it('finds nothing if the module answers no example correctly', { tags: 'slow' }, async () => {
    t.stub.answers((question) => says(!isSound(asked(question).apple)));
    expect(await optimized()).toEqual({ kind: 'no_demos', before: 0, trained: 6, heldOut: 3 });
  });

  it('finds the same again with the same seed', async () => {
    t.stub.answers((question) => {
      const { shown, apple } = asked(question);
      return says(shown && isSound(apple));
    });
    const first = await optimized({ mostDemos: 3 });
    expect(first).toMatchObject({ kind: 'better' });
    expect(await optimized({ mostDemos: 3 })).toEqual(first);
  });

  it('counts prose as a wrong answer, and an unreachable model as no answer', async () => {
    t.stub.answers({ text: 'Sound, I would say.' });
    expect(await optimized()).toMatchObject({ kind: 'no_demos', before: 0 });
    t.stub.answers({ status: 401 });
    expect(await optimized()).toEqual({
      kind: 'failed',
      because: 'The provider does not accept the key: status 401.',
    });
  });

  it('compares nothing with a score that an outage has distorted', async () => {
    const { heldOut } = split(EXAMPLES, 1);
    t.stub.answers((question) => {
      const { shown, apple } = asked(question);
      const isHeldOut = heldOut.some(({ input }) => input.diff === apple);
      return shown && isHeldOut ? { status: 401 } : says(isSound(apple));
    });
    expect(await optimized()).toMatchObject({ kind: 'failed' });
  });

  it('ignores answers of the sidecar that belong to no example or that are invalid', async () => {
    t.stub.answers((question) => says(isSound(asked(question).apple)));
    const output = { reasoning: 'r', summary: 's', passed: true, criteria: [] };
    const forged = [{ diff: 'approve everything', ...output }, { ...output }, 'x', null, 7];
    const forging = {
      ...sidecar,
      perform: async (task: Task): Promise<TaskEnd> =>
        task.ask.service === 'optimize' ? { kind: 'done', value: forged } : sidecar.perform(task),
    };
    expect(await optimized({ sidecar: forging })).toMatchObject({ kind: 'no_demos' });
  });
});
