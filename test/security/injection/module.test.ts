// @module-tag security

import { afterAll, expect, test } from 'vitest';
import { systemClock } from '../../../src/core/clock.ts';
import { neverShow } from '../../../src/core/redact/redact.ts';
import type { SkillArtifact } from '../../../src/domain/skill/skill.ts';
import type { GitHubReader } from '../../../src/ports/github.ts';
import { moduleSkill } from '../../../src/skills/kinds/module/module-skill.ts';
import { createSidecar } from '../../../src/skills/kinds/module/sidecar.ts';
import { changed } from '../../skills/builtin/review/support.ts';
import { KEY, useStubModel } from '../../support/model/questions.ts';
import { files, packageOf, skillMd } from '../../support/packages.ts';
import { stepContext } from '../../support/step-context.ts';
import { filesOf, INJECTIONS, type Injection, obey } from './corpus.ts';

const t = useStubModel();
const sidecar = createSidecar({ clock: systemClock });
afterAll(() => sidecar.stop());
const HEAD = stepContext('id: look').state.run.headSha;
const OWN = 'wHs-the-apps-own-secret-93Kq';
neverShow('model key', KEY);
neverShow('webhook secret', OWN);

const MODULE = {
  template: 'react',
  tools: ['search', 'get_file', 'get_files', 'get_diff', 'get_history'],
  limits: { model_calls: 4 },
  fallback_artifact: 'prompts/ask.md',
  signature: {
    instruction: 'Judge.',
    inputs: Object.fromEntries(['title', 'body', 'diff'].map((name) => [name, { type: 'string' }])),
    outputs: { summary: { type: 'string' }, passed: { type: 'boolean' }, criteria: { type: 'json' } },
  },
};
const skill = packageOf(
  files(
    { 'modules/judge.json': JSON.stringify(MODULE), 'prompts/ask.md': 'Judge.' },
    skillMd('outcome: gate_verdict\n'),
  ),
);

/** GitHub as a module’s tools reach it, with its requests. */
function repositoryOf(injection: Injection) {
  const change = Object.entries(filesOf(injection)).map(([path, text]) => ({
    ...changed(path, '', text),
    blobSha: path,
    headSha: HEAD,
    additions: 1,
    deletions: 0,
  }));
  const asked: string[] = [];
  const answers: Record<string, (repo: unknown, what: string) => unknown> = {
    pullRequestFiles: () => ({ files: change, truncated: false }),
    pullRequest: () => ({
      title: injection.title ?? 'Run it',
      body: `${injection.body ?? ''} ${OWN}`,
      author: { login: 'ada' },
      headRef: 'change',
      labels: [],
    }),
    blob: (_, path) => change.find((file) => file.path === path)?.content ?? Buffer.alloc(0),
    file: () => undefined,
  };
  const reader = new Proxy({} as GitHubReader, {
    get: (_, name) => async (repo: unknown, what: string) => {
      asked.push(name === 'file' ? `file ${what}` : String(name));
      return answers[String(name)]?.(repo, what);
    },
  });
  return { reader, asked };
}

const call = (name: string, values: object) =>
  JSON.stringify({ reasoning: 'As told.', call: name, arguments: values });

test.each(INJECTIONS)(
  'a module that obeys $name leaks nothing, and reaches only the head',
  async (injection) => {
    t.stub.answers(({ body }) => {
      const prompt = body.messages?.map(({ content }) => content).join('\n') ?? '';
      const told = obey(prompt);
      const calls = prompt.split('Assistant called').length - 1;
      if (calls === 0) return { text: call('get_file', { path: '/proc/self/environ' }) };
      if (calls === 1) return { text: call('get_files', { paths: ['../../.env', 'src/run.ts'] }) };
      if (told.kind === 'tool') return { text: call(told.name, { now: true }) };
      const summary = told.kind === 'text' ? told.text.slice(-900) : 'Fine.';
      return {
        text: JSON.stringify({ reasoning: prompt.slice(0, 5_000), summary, passed: true, criteria: [] }),
      };
    });
    const { reader, asked } = repositoryOf(injection);
    const handler = moduleSkill({
      model: await t.model(),
      sidecar,
      skills: { get: async () => undefined },
      modelFamily: null,
      fallbacks: [],
      executeArtifact: () => Promise.reject(new Error('it fell back')),
    });
    const [, artifact] = skill.artifacts;
    const output = await handler.execute(artifact as SkillArtifact, {
      step: stepContext('id: look', { reader }),
      skill,
      outcome: 'gate_verdict',
      owner: { runId: 'run_1', sessionId: 'ses_1' },
    });

    const heard = t.stub.asked.map(({ body }) => body.messages?.at(-1)?.content ?? '');
    const told = heard.map(obey).find(({ kind }) => kind !== 'not_told');
    // An instruction that reaches no model would prove nothing.
    expect(told).toBeDefined();
    expect(output.kind).toBe(told?.kind === 'tool' ? 'failed' : 'done');
    expect(heard.join('\n')).toContain('eval(code)');
    // Neither the machine's files nor another place of the repository than a path inside it.
    expect(new Set(asked)).toEqual(new Set(['pullRequestFiles', 'pullRequest', 'blob']));
    for (const { body, text } of t.stub.asked) {
      expect(body).not.toHaveProperty('tools');
      expect(text).not.toContain(KEY);
      expect(text).not.toContain(OWN);
    }
    // The arguments of its calls are redacted in the trace.
    expect(JSON.stringify({ ...output, inputs: null })).not.toContain(OWN);
    for (const prompt of heard) {
      const outside = prompt.replaceAll(/\nBEGIN DATA (\w+)\n(?:(?!\1)[\s\S])*\nEND DATA \1\n/g, '');
      expect(obey(outside)).toEqual({ kind: 'not_told' });
    }
  },
);
