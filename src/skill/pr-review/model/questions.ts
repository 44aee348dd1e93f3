import type { Json } from '../../../core/canonical.ts';
import type { Purpose } from '../../../model/model.ts';
import type { Said } from '../../../outcome/model-memory.ts';
import { type PromptDeps, promptHandler } from '../../prompt/handler.ts';
import { answerSchema, placed, type ShownFile } from './answer.ts';
import type { Guideline } from './guidelines.ts';
import type { Piece } from './piece.ts';
import { shippedPrompt } from './prompt.ts';

/** What is the same in every question of a review. */
export interface Setting {
  repository: string;
  baseBranch: string;
  title: string;
  body: string;
  guidelines: readonly Guideline[];
  deleted: readonly string[];
  mask: (text: string) => string;
  purpose: Purpose;
  signal: AbortSignal;
}

/** A piece as it is shown. */
export interface ShownPiece {
  piece: Piece;
  text: string;
}

export interface Answers {
  read: Piece[];
  said: Said[];
  /** Why a question was not answered; those after it were not asked any more. */
  failure: string | undefined;
  log: string;
}

const AT_ONCE = 2;

/**
 * Asks a model about parts of a change, and puts what it says at its places. One question without an answer ends it: what the others say
 * is kept, and nobody pays for a review that has no verdict anyway.
 * @param all Every piece of the head, by file.
 * @throws the signal's reason when aborted.
 */
export async function askAll(
  deps: PromptDeps,
  questions: readonly (readonly ShownPiece[])[],
  all: ReadonlyMap<string, readonly Piece[]>,
  setting: Setting,
): Promise<Answers> {
  const handler = promptHandler(deps);
  const values: { files: ShownFile[]; value: Json }[] = [];
  const log: string[] = [];
  let failure: string | undefined;
  let next = 0;

  async function work(): Promise<void> {
    for (let index = next++; index < questions.length && failure === undefined; index = next++) {
      const byPath = Map.groupBy(questions[index] ?? [], ({ piece }) => piece.path);
      const files = [...byPath].map(([path, shown]) => ({
        path,
        pieces: shown.map(({ piece }) => piece),
        all: all.get(path) ?? [],
      }));
      const output = await handler.execute(shippedPrompt(), {
        trusted: {
          repository: setting.repository,
          base_branch: setting.baseBranch,
          part: index + 1,
          parts: questions.length,
        },
        untrusted: {
          pr: { title: setting.title, body: setting.body },
          guidelines: setting.guidelines.map(({ name, text }) => `${name}\n\n${text}`),
          deleted: setting.deleted.join('\n'),
          files: [...byPath].map(([path, shown]) => [path, ...shown.map(({ text }) => text)].join('\n')),
        },
        schema: answerSchema(files.length),
        purpose: setting.purpose,
        signal: setting.signal,
      });
      if (output.kind === 'failed') failure ??= output.because;
      else values[index] = { files, value: output.value };
      const words = output.kind === 'failed' ? output.because : JSON.stringify(output.value);
      log[index] = `question ${index + 1} of ${questions.length}: ${output.log}\n${setting.mask(words)}`;
    }
  }
  await Promise.all(Array.from({ length: AT_ONCE }, work));

  const answered = values.filter((value) => value !== undefined);
  return {
    read: answered.flatMap(({ files }) => files.flatMap(({ pieces }) => pieces)),
    said: answered.flatMap(({ files, value }) => placed(value, files, setting.mask)),
    failure,
    log: log.filter((line) => line !== undefined).join('\n'),
  };
}
