import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import {
  type ChainInputs,
  defaultInputs,
  inputsAllowed,
  readChainInputs,
} from '../../../src/domain/chain/chain-inputs.ts';
import { parseCommands } from '../../../src/entrypoints/commands/parse.ts';
import { errorsOf } from '../../support/chains.ts';

const DEPLOY: ChainInputs = {
  environment: { required: true, choices: ['staging', 'production'] },
  replicas: { type: 'number', default: 2 },
  dry_run: { type: 'boolean', default: false },
  note: {},
};

describe('the inputs of a chain', () => {
  test.each([
    [{ environment: 'staging' }, { environment: 'staging', replicas: 2, dry_run: false }],
    [
      { environment: 'production', replicas: '3.5', dry_run: 'true', note: 'a=b "c"' },
      { environment: 'production', replicas: 3.5, dry_run: true, note: 'a=b "c"' },
    ],
    [
      { environment: 'staging', replicas: -1, dry_run: true, note: '' },
      { environment: 'staging', replicas: -1, dry_run: true, note: '' },
    ],
    [
      { environment: 'staging', note: null },
      { environment: 'staging', replicas: 2, dry_run: false },
    ],
  ])('%j have the values %j', (given, values) => {
    expect(readChainInputs(DEPLOY, given)).toEqual({ values });
  });

  test.each([
    [{}, '"environment" is missing'],
    [{ environment: 'prod' }, '"environment" is one of staging, production, and not "prod"'],
    [{ environment: 'Staging' }, '"environment" is one of staging, production, and not "Staging"'],
    [{ environment: 'staging', replicas: '1e3' }, '"replicas" is a number, and not "1e3"'],
    [{ environment: 'staging', replicas: '' }, '"replicas" is a number, and not ""'],
    [
      { environment: 'staging', replicas: '9'.repeat(16) },
      '"replicas" is a number, and not "9999999999999999"',
    ],
    [{ environment: 'staging', dry_run: 'yes' }, '"dry_run" is true or false, and not "yes"'],
    [{ environment: 'staging', dry_run: 1 }, '"dry_run" is true or false, and not "1"'],
    [
      { environment: 'staging', note: 'two\nlines' },
      '"note" is one line of text with at most 1000 characters, and not "two\nlines"',
    ],
    [
      { environment: 'staging', note: '\u202Ehidden' },
      '"note" is one line of text with at most 1000 characters, and not "\u202Ehidden"',
    ],
    [
      { environment: 'staging', note: { a: 1 } },
      '"note" is one line of text with at most 1000 characters, and not "{"a":1}"',
    ],
    [
      { environment: 'staging', enviroment: 'x' },
      'there is no input "enviroment": did you mean "environment"?',
    ],
    [{ environment: 'staging', constructor: 'x' }, 'there is no input "constructor"'],
  ])('%j are refused: %s', (given, problem) => {
    expect(readChainInputs(DEPLOY, given)).toEqual({ problems: [problem] });
  });

  test('are refused with all problems at once', () => {
    expect(readChainInputs(DEPLOY, { replicas: 'x', foo: 1 })).toMatchObject({
      problems: [
        'there is no input "foo"',
        '"environment" is missing',
        '"replicas" is a number, and not "x"',
      ],
    });
  });

  test('are listed for those who gave something else', () => {
    expect(inputsAllowed(DEPLOY)).toBe(
      'its inputs are environment (one of staging, production; required), replicas (a number; 2 if left out), dry_run (true or false; false if left out), note (text)',
    );
    expect(inputsAllowed(undefined)).toBe('the chain has no inputs');
  });

  test('have their defaults in a run that nobody fired', () => {
    expect(defaultInputs(DEPLOY)).toEqual({ replicas: 2, dry_run: false });
  });

  test('mean the same in a comment and in a payload, whatever the text', () => {
    const visible = fc.string({
      unit: fc.integer({ min: 32, max: 126 }).map((at) => String.fromCharCode(at)),
    });
    fc.assert(
      fc.property(visible, fc.integer(), fc.boolean(), (note, replicas, dry_run) => {
        const quoted = `"${note.replaceAll(/["\\]/g, '\\$&')}"`;
        const [parsed] = parseCommands(
          `/countersign fire deploy note=${quoted} replicas=${replicas} dry_run=${dry_run} environment=staging`,
        );
        const given = parsed && 'ok' in parsed && parsed.ok.verb === 'fire' ? parsed.ok.inputs : {};
        expect(readChainInputs(DEPLOY, given)).toEqual(
          readChainInputs(DEPLOY, { note, replicas, dry_run, environment: 'staging' }),
        );
      }),
    );
  });

  test('are never others than those that are declared, whatever is given', () => {
    fc.assert(
      fc.property(fc.dictionary(fc.string(), fc.jsonValue()), (given) => {
        const read = readChainInputs(DEPLOY, { environment: 'staging', ...given });
        if ('problems' in read) return;
        for (const [name, value] of Object.entries(read.values)) {
          expect(Object.keys(DEPLOY)).toContain(name);
          expect(typeof value).toBe(DEPLOY[name]?.type ?? 'string');
        }
      }),
    );
  });
});

describe('a chain file is refused', () => {
  const file = (inputs: string, step = 'skill: ci', trigger = '{ event: manual.fired }') =>
    `name: flow\ntrigger: ${trigger}\ninputs:\n  ${inputs}\nsteps:\n  - { ${step} }\n`;

  test.each([
    ['Env: {}', 'flow.yaml:4:8: the name of an input starts with a small letter'],
    ['env: { type: text }', 'flow.yaml:4:16: "type" cannot be "text"'],
    ['env: { options: [a] }', 'unknown key "options"'],
    ['env: { type: number, choices: [1, two] }', '"env" is a number, and this choice is none'],
    ['env: { choices: [a, a] }', 'this choice is there twice'],
    ['env: { type: boolean, choices: [a] }', 'choices go with a string or a number'],
    ['env: { type: boolean, default: "true" }', 'the default of "env" must be a boolean'],
    ['env: { choices: [a], default: b }', 'the default of "env" must be a'],
    ['env: { required: true, default: b }', '"env" has a default, so it is not required'],
    ['env: { default: "a\\nb" }', 'an input is one line of text, without invisible characters'],
  ])('with inputs: {%s}', (inputs, message) => {
    const errors = errorsOf(file(inputs)).map((error) => error.replace('chain.yaml', 'flow.yaml'));
    expect(errors).toEqual([expect.stringContaining(message)]);
  });

  test('if a trigger without inputs fires a chain that requires one', () => {
    expect(
      errorsOf(
        file('env: { required: true }', 'skill: ci', '[{ event: manual.fired }, { schedule: every 1h }]'),
      ),
    ).toEqual(['chain.yaml:4:10: nobody gives "env" to a run of schedule.fired; it needs a default instead']);
  });

  test.each([
    ['inputs.drx', 'there is no input "drx": did you mean "dry"? Allowed: env, dry'],
    ['inputs.env.name', '"inputs.env" has no members'],
    ["inputs.dry == 'true'", `"inputs.dry" is a boolean, so it never equals 'true'`],
    ["'prod' == inputs.env", `"inputs.env" is one of staging, live, so it never equals 'prod'`],
    ["inputs.env in ['staging', 'prod']", `"inputs.env" is one of staging, live, so it never equals 'prod'`],
    ["trigger.input_env == 'live'", 'this chain declares its inputs: write inputs.env'],
  ])('with the condition %s', (condition, message) => {
    const step = `skill: ci, condition: "{{ ${condition} }}"`;
    expect(errorsOf(file('{ env: { choices: [staging, live] }, dry: { type: boolean } }', step))).toEqual([
      expect.stringContaining(message),
    ]);
  });

  test('that reads an input and declares none', () => {
    const text =
      'name: flow\ntrigger: { event: pr.opened }\nsteps: [{ skill: ci, condition: "{{ inputs.x }}" }]\n';
    expect(errorsOf(text)).toEqual([
      'chain.yaml:3:37: this chain declares no inputs; add them under "inputs:", each with its type',
    ]);
  });

  test('never for a comparison that can hold', () => {
    const step = `skill: ci, condition: "{{ inputs.env != 'live' and not inputs.dry and inputs.env is not none }}"`;
    expect(errorsOf(file('{ env: { choices: [staging, live] }, dry: { type: boolean } }', step))).toEqual([]);
  });
});
