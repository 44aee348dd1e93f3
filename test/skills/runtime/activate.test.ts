import { describe, expect, test } from 'vitest';
import type { PackageFile } from '../../../src/domain/skill/package.ts';
import type { StoredSkill } from '../../../src/ports/storage.ts';
import { createRunPackage, packageSkill } from '../../../src/skills/runtime/activate.ts';
import type { ArtifactHandler } from '../../../src/skills/runtime/handler.ts';
import type { SkillContext } from '../../../src/skills/runtime/skill-context.ts';
import type { ExecuteArtifact } from '../../../src/skills/runtime/trace/execute-artifact.ts';
import { variantFor } from '../../../src/skills/runtime/variant.ts';
import { storedSkill } from '../../contract/skills.contract.ts';
import { chainOfSteps } from '../../support/builders.ts';
import { files, packageOf, skillMd } from '../../support/packages.ts';
import { stepContext } from '../../support/step-context.ts';

const GATE = skillMd('outcome: gate_verdict\n');
const VALUE = {
  summary: 'Fine.',
  passed: true,
  gate_passed: true,
  feedback: '',
  notes: [],
  criteria: [],
  blocking_reason: null,
  next_action: null,
};

/** Traces and assertions have their own tests. */
const executeArtifact: ExecuteArtifact = async (handler, artifact, context) => ({
  ...(await handler.execute(artifact, context)),
  warnings: [],
});

/** Records its inputs, and approves. */
function noting(kind: ArtifactHandler<SkillContext>['kind']) {
  const given: string[] = [];
  const handler: ArtifactHandler<SkillContext> = {
    kind,
    async execute({ name, content }) {
      given.push(`${name}: ${content}`);
      return { kind: 'done', value: VALUE, log: '' };
    },
  };
  return { handler, given };
}

/** Runs a step that names this package. `stored` is what the database holds of it. */
async function run(
  given: readonly PackageFile[],
  handlers: readonly ArtifactHandler<SkillContext>[],
  more: { modelFamily?: string; stored?: (skill: StoredSkill) => StoredSkill | undefined } = {},
) {
  const { id, artifacts } = packageOf(given);
  const stored = storedSkill(id, {
    artifacts: artifacts.map((artifact) => ({ ...artifact, id: artifact.name, state: null })),
  });
  const [step] = chainOfSteps('id: a, skill: ci').steps;
  if (!step) throw new Error('a chain has at least one step');
  const context = stepContext('id: a', {
    step: {
      ...step,
      uses: { kind: 'skill', name: 'naming', package: { id, trust: 'sandbox', produces: [] } },
    },
  });
  const skills = { get: async () => (more.stored ? more.stored(stored) : stored) };
  const runPackage = createRunPackage({
    skills,
    handlers,
    modelFamily: more.modelFamily ?? null,
    executeArtifact,
  });
  return packageSkill(runPackage)(context.step).run(context);
}

const because = async (result: ReturnType<typeof run>) => {
  const ended = await result;
  return ended.kind === 'failed' ? ended.reason.summary : `it is ${ended.kind}`;
};

describe('a step that names a package', () => {
  test('runs only its first artifact', async () => {
    const { handler, given } = noting('prompt_template');
    const result = await run(
      files(
        { 'prompts/b.md': 'second', 'prompts/a.md': 'first', 'prompts/z.md': 'named' },
        skillMd('outcome: gate_verdict\nartifacts: { prompts/z.md: {} }\n'),
      ),
      [handler],
    );
    expect(result).toMatchObject({ kind: 'done', outcome: { outcome_kind: 'gate_verdict' } });
    expect(given).toEqual(['z.md: named']);
  });

  test('uses the variant of the configured model', async () => {
    const variants = files({ 'prompts/a.md': 'for all', 'prompts/a@gpt.md': 'for gpt' }, GATE);
    for (const [modelFamily, wanted] of [
      ['gpt', 'for gpt'],
      ['claude', 'for all'],
    ] as const) {
      const { handler, given } = noting('prompt_template');
      await run(variants, [handler], { modelFamily });
      expect(given).toEqual([`a.md: ${wanted}`]);
    }
  });

  test.each<[string, PackageFile[], string]>([
    ['declares no outcome', files({ 'prompts/a.md': 'a' }), 'has no outcome'],
    ['has only a SKILL.md', files({}, GATE), 'has nothing to run'],
    [
      'begins with a kind that cannot run here',
      files({ 'code/a.js': 'a' }, GATE),
      'is of the kind code_template, and only prompt_template can be',
    ],
  ])('fails if the package %s', async (_, given, message) => {
    const { handler } = noting('prompt_template');
    expect(await because(run(given, [handler]))).toContain(message);
  });

  test('says that no kind can be run if none can', async () => {
    expect(await because(run(files({ 'prompts/a.md': 'a' }, GATE), []))).toContain('and no kind can be');
  });

  test.each<[string, (skill: StoredSkill) => StoredSkill | undefined, string]>([
    ['is gone', () => undefined, 'is not there as this run began with it'],
    [
      'was changed in the database',
      (skill) => ({
        ...skill,
        artifacts: skill.artifacts.map((one) => (one.name === 'a.md' ? { ...one, content: 'other' } : one)),
      }),
      'is not what this run began with',
    ],
    [
      'cannot be read by this version',
      (skill) => ({ ...skill, artifacts: skill.artifacts.filter(({ name }) => name !== 'SKILL.md') }),
      'cannot be used by this version of Countersign',
    ],
  ])('does nothing if the stored package %s', async (_, stored, message) => {
    const { handler, given } = noting('prompt_template');
    expect(await because(run(files({ 'prompts/a.md': 'a' }, GATE), [handler], { stored }))).toContain(
      message,
    );
    expect(given).toEqual([]);
  });
});

test('the requirements and slots of a package are known before it is read', () => {
  const [step] = chainOfSteps('id: a, skill: ci').steps;
  if (!step) throw new Error('a chain has at least one step');
  const handlerOf = packageSkill(() => Promise.reject(new Error('nothing is carried out here')));
  const uses = { kind: 'skill', name: 'naming' } as const;
  const known = { id: 'skl_1', trust: 'elevated', produces: ['risks'] } as const;
  expect(
    handlerOf({ ...step, uses: { ...uses, package: { ...known, produces: [...known.produces] } } }),
  ).toMatchObject({
    name: 'naming',
    capability: { name: 'naming', minimumTrust: 'elevated', sideEffects: false },
    cognitiveHints: { produces: ['risks'] },
  });
  expect(handlerOf({ ...step, uses }).capability.minimumTrust).toBe('privileged');
});

describe('among an artifact’s variants', () => {
  const { artifacts } = packageOf(
    files(
      {
        'prompts/a@gpt.md': 'gpt',
        'prompts/a@claude.md': 'claude',
        'prompts/b.md': 'b',
        'prompts/b@gpt.md': 'b gpt',
      },
      GATE,
    ),
  );
  test.each([
    ['the model’s own', 'b.md', 'gpt', 'b gpt'],
    ['otherwise the one for all models', 'b.md', 'claude', 'b'],
    ['the one for all models if there is no model', 'b.md', null, 'b'],
    ['otherwise the first', 'a.md', 'llama', 'claude'],
  ])('%s is chosen', (_, name, family, content) => {
    expect(variantFor(artifacts, name, family)?.content).toBe(content);
  });
});
