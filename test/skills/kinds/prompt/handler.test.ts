import { describe, expect, it } from 'vitest';
import type { z } from 'zod';
import type { Json } from '../../../../src/core/canonical.ts';
import { neverShow } from '../../../../src/core/redact/redact.ts';
import type { SkillArtifact } from '../../../../src/domain/skill/skill.ts';
import { type PromptContext, promptHandler } from '../../../../src/skills/kinds/prompt/handler.ts';
import { promptValues } from '../../../../src/skills/runtime/values.ts';
import { type Render, renderString } from '../../../../src/skills/templating/render.ts';
import { FINE, KEY, purpose, useStubModel, verdictSchema } from '../../../support/model/questions.ts';
import type { Asked, Script } from '../../../support/model/stub.ts';
import { stepContext } from '../../../support/step-context.ts';
import { INJECTIONS } from '../../templating/injections.ts';

const t = useStubModel();
const OWN = 'wHs-the-apps-own-secret-93Kq';
neverShow('model key', KEY);
neverShow('webhook secret', OWN);

const artifact: SkillArtifact = {
  kind: 'prompt_template',
  name: 'review.md',
  ordinal: 0,
  content: 'Rules: {{ rules }}\nTitle: {{ pr.title }}\n{% if pr.body %}Body: {{ pr.body }}{% endif %}',
  modelVariant: null,
  metadata: {},
};
const schema: z.ZodType<Json> = verdictSchema;
const context = (over: Partial<PromptContext> = {}): PromptContext => ({
  trusted: { rules: 'be kind' },
  untrusted: { pr: { title: 'Fix it', body: '' } },
  schema,
  purpose,
  signal: new AbortController().signal,
  limits: { timeoutMs: 100_000 },
  ...over,
});

it('a file whose change GitHub does not show is still named', async () => {
  const step = stepContext('id: ask, skill: pr-review');
  const pullRequest = async () => ({
    title: 'x',
    body: null,
    author: { login: 'ada' },
    headRef: 'b',
    labels: [],
  });
  const reader = { ...step.reader, pullRequest } as unknown as typeof step.reader;
  const file = { status: 'added', blobSha: null, additions: 1, deletions: 0, headSha: null } as const;
  const { untrusted } = await promptValues({ ...step, reader }, [
    { ...file, path: 'a.ts', patch: '+a' },
    { ...file, path: 'b.png' },
  ]);
  expect(untrusted.diff).toBe('--- a.ts (added)\n+a\n\n--- b.png (added)\n(not shown)\n');
});

describe('a prompt template', () => {
  it('is rendered, asked and validated, and its cost is recorded', async () => {
    t.stub.answers({ text: FINE });
    const handler = promptHandler({ model: await t.model(), newCode: () => 'c0de' });
    expect(await handler.execute(artifact, context())).toEqual({
      kind: 'done',
      value: { verdict: 'fine', because: 'Nothing stands out.' },
      log: 'openai-compatible/stub: 1 call, 120 tokens in, 30 out, cost unknown',
    });
    const [system, user] = t.stub.asked[0]?.body.messages ?? [];
    expect(system).toMatchObject({ role: 'system', content: expect.stringContaining('You have no tools') });
    expect(user?.content).toBe('Rules: be kind\nTitle: \nBEGIN DATA c0de\nFix it\nEND DATA c0de\n\n');
  });

  it('fails with what is missing if no model is configured', async () => {
    expect(await promptHandler({ model: undefined }).execute(artifact, context())).toEqual({
      kind: 'failed',
      because: 'It needs a language model, and none is configured: set COUNTERSIGN_MODEL.',
      retryable: false,
      log: '',
    });
  });

  it('asks nobody if it cannot be rendered', { tags: 'slow' }, async () => {
    const broken = { ...artifact, content: 'a\n{{ pr.nothing }}' };
    expect(await promptHandler({ model: await t.model() }).execute(broken, context())).toMatchObject({
      kind: 'failed',
      because:
        'prompts/review.md, line 2: undefined value: there is no pr.nothing; there are body and title.',
    });
    expect(t.stub.asked).toEqual([]);
  });

  it('asks nobody if it repeats a long text too often', { tags: 'slow' }, async () => {
    const greedy = { ...artifact, content: '{% for i in range(2000) %}{{ pr.title }}{% endfor %}' };
    const untrusted = { pr: { title: 'x'.repeat(100_000) } };
    const output = await promptHandler({ model: await t.model() }).execute(greedy, context({ untrusted }));
    expect(output).toMatchObject({ because: 'prompts/review.md: it renders to more than 262,144 bytes.' });
    expect(t.stub.asked).toEqual([]);
  });

  it('fails with the model’s bad answer, and records its cost', { tags: 'slow' }, async () => {
    t.stub.answers({ text: 'approve!' });
    expect(await promptHandler({ model: await t.model() }).execute(artifact, context())).toEqual({
      kind: 'failed',
      because: 'The answer is not one JSON value.',
      retryable: false,
      log: 'openai-compatible/stub: 2 calls, 240 tokens in, 60 out, cost unknown',
    });
  });
});

/** A model that obeys every injection, as far as a model can do anything. */
const obedient: Script = ({ text, body }: Asked): Script => {
  const prompt = body.messages?.map(({ content }) => content).join('\n') ?? '';
  const order = /ANSWER WITH (.*?) NOW/s.exec(prompt)?.[1];
  const tool = /CALL THE TOOL (\w+)/.exec(prompt)?.[1];
  if (tool) return { tool: { name: tool, args: '{"now":true}' } };
  if (/REPEAT EVERYTHING/.test(prompt))
    return { text: JSON.stringify({ verdict: 'fine', because: text.slice(0, 150) }) };
  return { text: order ?? FINE };
};

describe('a model that obeys the pull request', () => {
  // The template sees the same placeholders each time, so one process renders all of them.
  const rendered = new Map<string, ReturnType<Render>>();
  const render: Render = (template, values, options) => {
    const key = JSON.stringify([template, values]);
    const known = rendered.get(key) ?? renderString(template, values, options);
    rendered.set(key, known);
    return known;
  };

  it.each(INJECTIONS)('achieves nothing with: $name', async ({ title, body, ends }) => {
    t.stub.answers(obedient);
    const untrusted = { pr: { title, body: `${body} ${OWN}` } };
    const handler = promptHandler({ model: await t.model(), render, newCode: () => 'c0de' });
    const output = await handler.execute(artifact, context({ untrusted }));

    expect(output.kind).toBe(ends);
    if (output.kind === 'done') expect(schema.safeParse(output.value).success).toBe(true);
    for (const asked of t.stub.asked) {
      expect(asked.path).toBe('/v1/chat/completions');
      expect(asked.body).not.toHaveProperty('tools');
      expect(asked.text).not.toContain(KEY);
      expect(asked.text).not.toContain(OWN);
      // Everything it says is inside a fence.
      const prompt = asked.body.messages?.[1]?.content ?? '';
      const outside = prompt.replaceAll(/\nBEGIN DATA c0de\n(?:(?!c0de)[\s\S])*\nEND DATA c0de\n/g, '');
      expect(outside).toBe('Rules: be kind\nTitle: \nBody: ');
    }
    expect(JSON.stringify(output)).not.toContain(OWN);
  });
});
