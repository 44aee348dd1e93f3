import { expect, test } from 'vitest';
import { agentSkill } from '../../../src/skills/kinds/agent/agent-skill.ts';
import { codeSkill } from '../../../src/skills/kinds/code/code-skill.ts';
import { moduleSkill } from '../../../src/skills/kinds/module/module-skill.ts';
import type { Sidecar } from '../../../src/skills/kinds/module/sidecar.ts';
import { promptSkill } from '../../../src/skills/kinds/prompt/prompt-skill.ts';
import type { AnyHandler } from '../../../src/skills/runtime/handler.ts';
import type { SkillContext } from '../../../src/skills/runtime/skill-context.ts';
import { caseStep } from '../../../src/skills/testing/case-step.ts';
import { files, packageOf, skillMd } from '../../support/packages.ts';
import { scripted } from '../builtin/review/support.ts';
import { countingLedger, KEY } from './agent/support.ts';

const PASSED = { summary: 'x', passed: true, criteria: [] };
const MODULE = {
  template: 'predict',
  signature: {
    instruction: 'Judge it.',
    inputs: { diff: { type: 'string' } },
    outputs: { summary: { type: 'string' }, passed: { type: 'boolean' }, criteria: { type: 'json' } },
  },
  fallback_artifact: 'prompts/a.md',
};

const { model } = scripted(() => PASSED);
const prompt = promptSkill({ model });
const sidecar: Sidecar = {
  perform: async () => ({ kind: 'done', value: PASSED }),
  pid: () => undefined,
  stop: async () => {},
};
const skills = { get: async () => undefined };
const notAtAll = () => Promise.reject(new Error('the fallback was asked'));
const noHead = () => Promise.reject(new Error('the head was fetched'));
const name = { provider: 'openai', model: 'gpt-5-mini' } as const;
const { ledger } = countingLedger();

/**
 * All skills that would approve whatever they see. The analyzers are not among them, because each reports what it did not read.
 */
const handlers: [string, AnyHandler<SkillContext>, Record<string, string>][] = [
  ['prompt', prompt, { 'prompts/a.md': 'Judge it.' }],
  ['program', codeSkill({ model }), { 'code/a.js': `submit(${JSON.stringify(PASSED)});` }],
  [
    'module',
    moduleSkill({
      model,
      sidecar,
      skills,
      modelFamily: null,
      fallbacks: [prompt],
      executeArtifact: notAtAll,
    }),
    { 'modules/a.json': JSON.stringify(MODULE), 'prompts/a.md': 'Judge it.' },
  ],
  [
    'agent',
    agentSkill({
      agents: { codex: '/usr/bin/false' },
      model: { name, apiKey: KEY, baseUrl: undefined, ledger },
      gitAccess: noHead,
      sandboxAvailable: async () => true,
    }),
    { 'agents/a.yml': 'agent: codex\nprompt: prompts/a.md\n', 'prompts/a.md': 'Judge it.' },
  ],
];

test.each(handlers)(
  'a %s gives no verdict on a change of more files than GitHub lists',
  async (_, handler, package_) => {
    const skill = packageOf(files(package_, skillMd('outcome: gate_verdict\n')));
    const artifact = skill.artifacts.find(({ kind }) => kind === handler.kind);
    if (!artifact) throw new Error(`the package has no ${handler.kind}`);
    const change = { name: 'one', files: { 'a.ts': 'x\n' }, expect: {} };
    const step = caseStep(skill, change, new AbortController().signal);
    const listed = await step.reader.pullRequestFiles(step.repo, 1);
    const reader = { ...step.reader, pullRequestFiles: async () => ({ ...listed, truncated: true }) };
    const owner = { callId: 'one' };
    const context = { step: { ...step, reader }, skill, outcome: 'gate_verdict', owner } as const;
    expect(await handler.execute(artifact, context)).toMatchObject({
      kind: 'failed',
      because: 'the pull request changes more files than GitHub lists',
    });
  },
);
