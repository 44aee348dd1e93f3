import { describe, expect, it } from 'vitest';
import { formatDiagnostic } from '../../../../src/core/diagnostic.ts';
import { SKILL_OUTCOMES } from '../../../../src/domain/skill/manifest.ts';
import {
  INPUT_TYPES,
  KNOWN_INPUTS,
  neededOutputs,
  parseModule,
} from '../../../../src/domain/skill/module.ts';
import { parsePackage } from '../../../../src/domain/skill/parse.ts';
import {
  answerTo,
  inputsSchema,
  membersOf,
  outputsSchema,
} from '../../../../src/skills/kinds/module/shape.ts';

const OUTPUTS = { summary: { type: 'string' }, passed: { type: 'boolean' }, criteria: { type: 'json' } };
const SOUND = {
  template: 'chain_of_thought',
  signature: {
    instruction: 'Judge.',
    inputs: { diff: { type: 'string' }, tone: { type: 'string', optional: true } },
    outputs: { ...OUTPUTS, risk: { type: 'class', options: ['low', 'high'] } },
  },
  fallback_artifact: 'prompts/ask.md',
};
type Module = typeof SOUND;

/** The errors of a package with this module. */
function faultsOf(module: object | string, outcome = 'gate_verdict'): string[] {
  const text = typeof module === 'string' ? module : JSON.stringify(module, null, 2);
  const { diagnostics } = parsePackage(
    [
      {
        path: 'SKILL.md',
        text: `---\nname: judge\ndescription: Judges.\noutcome: ${outcome}\nartifacts: { modules/judge.json: {} }\n---\n`,
      },
      { path: 'prompts/ask.md', text: 'Ask.' },
      { path: 'code/ask.js', text: 'submit(null);' },
      { path: 'modules/judge.json', text },
    ],
    'judge',
  );
  return diagnostics.map(formatDiagnostic);
}

const withSignature = (over: Partial<Record<keyof Module['signature'], object>>, more: object = {}) => ({
  ...SOUND,
  ...more,
  signature: { ...SOUND.signature, ...over },
});

describe('a module', () => {
  it('that is valid has no errors, whatever its indentation', () => {
    expect(faultsOf(SOUND)).toEqual([]);
    expect(faultsOf(JSON.stringify(SOUND, null, '\t'))).toEqual([]);
    expect(faultsOf(JSON.stringify(SOUND))).toEqual([]);
  });

  it('has all its errors reported, each at its place', () => {
    const module = {
      template: 'think',
      signature: { instruction: '', inputs: { Diff: { type: 'text' } }, outputs: {} },
      tools: ['get_file', 'write_file'],
      code: 'process.exit()',
      limits: { model_calls: 0, timeout_seconds: 9_999 },
    };
    expect(faultsOf(module)).toMatchInlineSnapshot(`
      [
        "judge/modules/judge.json:1:1: a module names its fallback: a prompt or a program of the package",
        "judge/modules/judge.json:2:15: "template" cannot be "think"; allowed: predict, chain_of_thought, react",
        "judge/modules/judge.json:4:20: "instruction" must have at least 1 character",
        "judge/modules/judge.json:6:15: a field is called by 2 to 50 small letters, such as changed_files; digits may follow a "_"",
        "judge/modules/judge.json:10:16: there must be 1 to 20 fields",
        "judge/modules/judge.json:14:5: entry 2 of "tools" cannot be "write_file"; allowed: search, get_file, get_files, get_diff, get_history",
        "judge/modules/judge.json:16:3: unknown key "code"; allowed: template, signature, tools, fallback_artifact, limits",
        "judge/modules/judge.json:18:20: "model_calls" must be at least 1",
        "judge/modules/judge.json:19:24: "timeout_seconds" must be at most 600",
      ]
    `);
  });

  it.each([
    [
      'an input that is also an output',
      withSignature({ inputs: { summary: { type: 'string' } } }),
      ['6:7: "summary" is an output too'],
    ],
    [
      'a known input of another type',
      withSignature({ inputs: { diff: { type: 'json' } } }),
      ['7:17: "diff" is known of the run, as string'],
    ],
    [
      'a known input that is optional',
      withSignature({ inputs: { diff: { type: 'string', optional: true } } }),
      ['8:21: "diff" is known of every run'],
    ],
    [
      'a class without options',
      withSignature({ outputs: { ...OUTPUTS, risk: { type: 'class' } } }),
      ['24:15: a class needs options'],
    ],
    [
      'a class with a repeated option',
      withSignature({ outputs: { ...OUTPUTS, risk: { type: 'class', options: ['low', 'Low'] } } }),
      ['26:20: an option is here twice'],
    ],
    [
      'options of something that is not a class',
      withSignature({ outputs: { ...OUTPUTS, risk: { type: 'string', options: ['low', 'high'] } } }),
      ['26:9: only a class has options'],
    ],
    [
      'a second reasoning',
      withSignature({ outputs: { ...OUTPUTS, reasoning: { type: 'string' } } }),
      ['24:7: chain_of_thought adds "reasoning" itself'],
    ],
    [
      'an outcome’s output that is missing',
      withSignature({ outputs: { summary: { type: 'string' } } }),
      [
        '14:5: a gate_verdict needs the output "passed", as boolean',
        '14:5: a gate_verdict needs the output "criteria", as json',
      ],
    ],
    [
      'an outcome’s output of another type',
      withSignature({ outputs: { ...OUTPUTS, passed: { type: 'string' } } }),
      ['19:17: a gate_verdict has "passed" as boolean'],
    ],
    [
      'tools that no service calls',
      { ...SOUND, tools: ['get_file'] },
      ['34:3: chain_of_thought calls no tools; react does'],
    ],
    [
      'react without tools',
      { ...SOUND, template: 'react' },
      ['2:15: react needs tools; without them, it is chain_of_thought'],
    ],
    [
      'react with a repeated tool',
      { ...SOUND, template: 'react', tools: ['search', 'search'] },
      ['34:12: a tool is here twice'],
    ],
    [
      'a fallback that does not exist',
      { ...SOUND, fallback_artifact: 'prompts/aks.md' },
      [
        '33:24: the package has no prompt or program "prompts/aks.md": did you mean "prompts/ask.md"? Allowed: prompts/ask.md, code/ask.js',
      ],
    ],
    [
      'a fallback that is not a prompt',
      { ...SOUND, fallback_artifact: 'modules/judge.json' },
      [
        '33:24: the package has no prompt or program "modules/judge.json"; allowed: prompts/ask.md, code/ask.js',
      ],
    ],
    [
      'no fallback',
      { ...SOUND, fallback_artifact: undefined },
      ['1:1: a module names its fallback: a prompt or a program of the package'],
    ],
  ])('with %s has an error', (_, module, diagnostics) => {
    expect(faultsOf(module)).toEqual(diagnostics.map((fault) => `judge/modules/judge.json:${fault}`));
  });

  it('comes before the file that it falls back to', () => {
    const first = (artifacts: string) => {
      const module = { ...SOUND, fallback_artifact: 'code/ask.js' };
      const { diagnostics } = parsePackage(
        [
          {
            path: 'SKILL.md',
            text: `---\nname: judge\ndescription: Judges.\noutcome: gate_verdict\n${artifacts}---\n`,
          },
          { path: 'code/ask.js', text: 'submit(null);' },
          { path: 'modules/judge.json', text: JSON.stringify(module) },
        ],
        'judge',
      );
      return diagnostics.map(formatDiagnostic);
    };
    expect(first('artifacts: { modules/judge.json: {} }\n')).toEqual([]);
    expect(first('artifacts: { code/ask.js: {} }\n')).toEqual([
      'judge/SKILL.md:5:1: code/ask.js is the fallback of modules/judge.json, and a step would execute it, as the first file: put modules/judge.json first in artifacts',
    ]);
    expect(first('')).toHaveLength(1);
  });

  it('need not produce an outcome’s outputs in a package without outcome', () => {
    const { diagnostics } = parsePackage(
      [
        { path: 'SKILL.md', text: '---\nname: judge\ndescription: Judges.\n---\n' },
        { path: 'prompts/ask.md', text: 'Ask.' },
        {
          path: 'modules/judge.json',
          text: JSON.stringify(withSignature({ outputs: { risk: { type: 'number' } } })),
        },
      ],
      'judge',
    );
    expect(diagnostics).toEqual([]);
  });
});

describe('the shapes of a module', () => {
  const module = parseModule(JSON.stringify(SOUND));
  const answer = { reasoning: 'r', summary: 's', passed: true, criteria: [], risk: 'low' };

  it.each(SKILL_OUTCOMES)('need the same outputs as prompts for a %s', (outcome) => {
    expect(Object.keys(neededOutputs(outcome)).sort()).toEqual(Object.keys(membersOf(outcome)).sort());
  });

  it('know every type of an input', () => {
    expect(INPUT_TYPES).toEqual(expect.arrayContaining([...new Set(Object.values(KNOWN_INPUTS))]));
  });

  it('accept the outputs and the reasoning, and nothing else', () => {
    const schema = outputsSchema(module, 'gate_verdict');
    expect(schema.safeParse(answer).success).toBe(true);
    for (const wrong of [
      { ...answer, reasoning: undefined },
      { ...answer, risk: 'none' },
      { ...answer, criteria: {} },
      { ...answer, gate: 'size' },
      { ...answer, passed: 'true' },
    ]) {
      expect(schema.safeParse(wrong).success).toBe(false);
    }
  });

  it('accept only calls of a tool that the module names', () => {
    const react = parseModule(JSON.stringify({ ...SOUND, template: 'react', tools: ['get_file'] }));
    const call = { reasoning: 'r', call: 'get_file', arguments: { path: 'a' } };
    expect(answerTo(react, 'gate_verdict').safeParse(call).success).toBe(true);
    expect(answerTo(react, 'gate_verdict').safeParse({ ...call, call: 'get_diff' }).success).toBe(false);
    expect(answerTo(module, 'gate_verdict').safeParse(call).success).toBe(false);
  });

  it('accept a missing input only if it is optional', () => {
    const schema = inputsSchema(module);
    expect(schema.safeParse({ diff: 'd' }).success).toBe(true);
    expect(schema.safeParse({ tone: 't' }).success).toBe(false);
    expect(schema.safeParse({ diff: 'd', tone: 4 }).success).toBe(false);
  });
});
