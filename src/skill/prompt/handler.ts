import { randomBytes } from 'node:crypto';
import type { z } from 'zod';
import type { Json } from '../../core/canonical.ts';
import type { Limits, Model, Purpose } from '../../model/model.ts';
import { describeFailure, NO_MODEL, spentOnModel } from '../../words/model.ts';
import { describeRenderFault } from '../../words/prompt.ts';
import type { ArtifactHandler, ArtifactOutput } from '../handler.ts';
import { pathOf } from '../package/place.ts';
import { fenced } from './fence.ts';
import { MAX_RENDERED_BYTES, renderString, TOO_LONG } from './render.ts';

/** What a prompt may be rendered with, and what its answer must look like. */
export interface PromptContext {
  /** What the app knows, and what comes from the base branch. */
  trusted: { [name: string]: Json };
  /** What a pull request says; its texts reach the model in fences. Of two values of one name, this one is used. */
  untrusted: { [name: string]: Json };
  /** The shape of the outcome that the skill declares. */
  schema: z.ZodType<Json>;
  purpose: Purpose;
  signal: AbortSignal;
  limits?: Partial<Limits>;
}

export interface PromptDeps {
  /** `undefined`: none is configured. */
  model: Model | undefined;
  render?: typeof renderString;
  /** Makes the code of a prompt's fences. */
  newCode?: () => string;
}

const LIMITS: Limits = { maxOutputTokens: 8_000, timeoutMs: 180_000 };

/** Renders a prompt template, asks the model, and gives back what it said in the shape that was asked for. */
export function promptHandler({
  model,
  render = renderString,
  newCode = () => randomBytes(8).toString('hex'),
}: PromptDeps): ArtifactHandler<PromptContext> {
  return {
    kind: 'prompt_template',

    async execute(artifact, { trusted, untrusted, schema, purpose, signal, limits }) {
      if (!model) return failed(NO_MODEL);
      const { context, fill } = fenced(untrusted, newCode());
      const rendered = await render(artifact.content, { ...trusted, ...context }, { signal });
      if (!rendered.ok) return failed(describeRenderFault(pathOf(artifact), rendered.fault));
      const prompt = fill(rendered.text, MAX_RENDERED_BYTES);
      if (prompt === undefined) return failed(describeRenderFault(pathOf(artifact), TOO_LONG));

      const answer = await model.ask({
        prompt,
        schema,
        limits: { ...LIMITS, ...limits },
        purpose,
        signal,
      });
      const log = spentOnModel(model.name, answer.spent);
      return answer.kind === 'answered'
        ? { kind: 'done', value: answer.value, log }
        : { kind: 'failed', because: describeFailure(answer.failure), retryable: answer.retryable, log };
    },
  };
}

function failed(because: string): ArtifactOutput {
  return { kind: 'failed', because, retryable: false, log: '' };
}
