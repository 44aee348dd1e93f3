import { createHash } from 'node:crypto';
import { existsSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { z } from 'zod';
import { canonicalJson } from '../../../src/core/canonical.ts';
import { formatModelName, type ModelName, parseModelName } from '../../../src/domain/model/name.ts';
import type { ProviderRequest } from '../../../src/ports/model.ts';

const answer = z.strictObject({
  /** The hash of the prompt that was answered, see `promptHash`. */
  prompt: z.string().regex(/^[0-9a-f]{16}$/),
  /** As the model wrote it. */
  text: z.string(),
  /** As the provider counted them; `null` if it did not. */
  tokens: z.strictObject({ input: z.int().min(0), output: z.int().min(0) }).nullable(),
  /** `null` if nobody measured it. */
  ms: z.int().min(0).nullable(),
});
export type RecordedAnswer = z.infer<typeof answer>;

/**
 * What one model answered: by pull request, then by prompt, such as `prompts/review.md`. A small pull request fits into one question, so each prompt is asked at most once.
 */
const recording = z.strictObject({
  model: z.string().transform((text, ctx): ModelName => {
    const name = parseModelName(text);
    if (name) return name;
    ctx.addIssue('not <provider>/<model>');
    return z.NEVER;
  }),
  answers: z.record(z.string(), z.record(z.string(), answer)),
});
export type Recording = z.infer<typeof recording>;

const FOLDER = join(import.meta.dirname, '../recorded');

/** Every recording of the folder, one for each model. */
export function readRecordings(folder = FOLDER): Recording[] {
  if (!existsSync(folder)) return [];
  return readdirSync(folder)
    .filter((name) => name.endsWith('.json'))
    .sort()
    .map((name) => recording.parse(JSON.parse(readFileSync(join(folder, name), 'utf8'))));
}

/** The recording of this model, with no answers if there is none. */
export function recordingOf(model: ModelName, folder = FOLDER): Recording {
  const name = formatModelName(model);
  const known = readRecordings(folder).find((one) => formatModelName(one.model) === name);
  return known ?? { model, answers: {} };
}

export function writeRecording({ model, answers }: Recording, folder = FOLDER): void {
  const name = formatModelName(model);
  mkdirSync(folder, { recursive: true });
  const sorted = <T>(of: Record<string, T>) => Object.fromEntries(Object.entries(of).sort());
  const text = JSON.stringify({ model: name, answers: sorted(answers) }, null, 2);
  writeFileSync(join(folder, `${name.replaceAll(/[^\w.-]+/g, '-')}.json`), `${text}\n`);
}

/**
 * Tells prompts apart by all that a model is asked: instructions, prompt and the shape of the answer. A repeated question
 * after an unusable answer has the hash of the first. Not by the limit on the answer, which changes no complete one.
 */
export function promptHash({ system, messages, schema }: ProviderRequest): string {
  const asked = canonicalJson([system, messages[0]?.content ?? '', schema]);
  return createHash('sha256').update(asked).digest('hex').slice(0, 16);
}
