import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { ModelConfig } from '../../src/config/model.ts';
import type { Json } from '../../src/core/canonical.ts';
import { DEFAULT_BUDGETS } from '../../src/domain/model/budget.ts';
import type { ArtifactHandler, ArtifactOutput } from '../../src/skills/runtime/handler.ts';
import type { SkillContext } from '../../src/skills/runtime/skill-context.ts';
import type { StubModel } from '../support/model/stub.ts';
import type { Scene } from './support-scene.ts';

export const SKILLS = '.github/countersign/skills';

/** Replaces a model and a sandbox: a prompt's text is its result. */
export const echo: ArtifactHandler<SkillContext> = {
  kind: 'prompt_template',
  async execute({ content }): Promise<ArtifactOutput> {
    return { kind: 'done', value: JSON.parse(content), log: 'echoed' };
  },
};

export function gate(passed: boolean, summary: string): { [key: string]: Json } {
  return { summary, passed, gate_passed: passed, criteria: [] };
}

/** A package whose prompt echoes a verdict. `lines` are added to its SKILL.md. */
export function skill(
  name: string,
  lines: string,
  answer: Json = gate(true, `${name} says yes`),
  root = SKILLS,
): Record<string, string> {
  const outcome = lines.includes('outcome:') ? '' : 'outcome: gate_verdict\n';
  return {
    [`${root}/${name}/SKILL.md`]: `---\nname: ${name}\ndescription: Looks at ${name}.\n${outcome}${lines}\n---\n`,
    [`${root}/${name}/prompts/ask.md`]: typeof answer === 'string' ? answer : JSON.stringify(answer),
  };
}

/** The stub server as the app's model. */
export function modelAt(stub: StubModel, more: Partial<ModelConfig> = {}): ModelConfig {
  return {
    name: { provider: 'openai-compatible', model: 'stub-1' },
    apiKey: 'key-0123456789abcdef',
    baseUrl: `${stub.url}/v1`,
    price: undefined,
    budgets: DEFAULT_BUDGETS,
    ...more,
  };
}

/** The log that the skill left in the newest run of the chain `flow`. */
export async function logOf({ app, config, runs }: Scene): Promise<string> {
  const [run] = await runs('flow');
  const artifacts = await app.storage.read.artifacts.ofRun(run?.id ?? '');
  const log = artifacts.find(({ name }) => name === 'skill.log');
  return readFileSync(join(config.artifactsUrl.replace(/^file:/, ''), log?.filePath ?? ''), 'utf8');
}
