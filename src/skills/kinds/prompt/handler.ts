import type { z } from 'zod';
import type { Json } from '../../../core/canonical.ts';
import { describeFailure, NO_MODEL, spentOnModel } from '../../../messages/skills/model.ts';
import type { Limits, Model, Purpose } from '../../../ports/model.ts';
import { type FillOptions, filledPrompt } from '../../runtime/fill.ts';
import type { ArtifactHandler, ArtifactOutput } from '../../runtime/handler.ts';
import type { PromptValues } from '../../runtime/values.ts';

/** The values for rendering a prompt, and the schema of its answer. */
export interface PromptContext extends PromptValues {
  /** The schema of the outcome that the skill declares. */
  schema: z.ZodType<Json>;
  purpose: Purpose;
  signal: AbortSignal;
  limits?: Partial<Limits>;
}

export interface PromptDeps extends Omit<FillOptions, 'signal'> {
  /** `undefined` if no model is configured. */
  model: Model | undefined;
}

const LIMITS: Limits = { maxOutputTokens: 8_000, timeoutMs: 180_000 };

/** Renders a prompt template, asks the model, and returns its answer in the requested schema. */
export function promptHandler({ model, ...fill }: PromptDeps): ArtifactHandler<PromptContext> {
  return {
    kind: 'prompt_template',

    async execute(artifact, { trusted, untrusted, schema, purpose, signal, limits }) {
      if (!model) return failed(NO_MODEL);
      const filled = await filledPrompt(artifact, { trusted, untrusted }, { ...fill, signal });
      if ('because' in filled) return failed(filled.because);

      const answer = await model.ask({
        prompt: filled.text,
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
