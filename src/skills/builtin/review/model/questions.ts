import type { Json } from '../../../../core/canonical.ts';
import type { Clock } from '../../../../core/clock.ts';
import type { RememberedFinding } from '../../../../domain/outcome/model-memory.ts';
import { questionEnded } from '../../../../messages/skills/model.ts';
import type { Purpose } from '../../../../ports/model.ts';
import { type PromptContext, type PromptDeps, promptHandler } from '../../../kinds/prompt/handler.ts';
import type { ArtifactHandler } from '../../../runtime/handler.ts';
import type { Owner } from '../../../runtime/skill-context.ts';
import type { Executed, Recorder } from '../../../runtime/trace/record.ts';
import { watchModel } from '../../../runtime/trace/watch-model.ts';
import { answerSchema, locatedFindings, type ShownFile } from './answer.ts';
import type { Guideline } from './guidelines.ts';
import type { Piece } from './piece.ts';
import { shippedPrompt } from './prompt.ts';

/** What all questions of a review have in common. */
export interface QuestionFrame {
  repository: string;
  baseBranch: string;
  title: string;
  body: string;
  guidelines: readonly Guideline[];
  deleted: readonly string[];
  mask: (text: string) => string;
  purpose: Purpose;
  /** Called with a line for each question that ended, which quotes nothing. */
  onProgress?: (line: string) => void;
  signal: AbortSignal;
}

/** A piece with its rendered text. */
export interface ShownPiece {
  piece: Piece;
  text: string;
}

export interface Answers {
  read: Piece[];
  said: RememberedFinding[];
  /** Why a question failed. The questions after it were not asked. */
  failure: string | undefined;
  log: string;
}

const CONCURRENCY = 2;

/** Writes the trace of each question. */
export interface QuestionTraces {
  record: Recorder;
  skill: Executed['context']['skill'];
  inputs: Executed['context']['step']['inputs'];
  owner: Owner;
  clock: Clock;
}

export interface QuestionDeps extends PromptDeps {
  /** Without it, questions leave no trace. */
  traces?: QuestionTraces;
}

export type Ask = ArtifactHandler<PromptContext>['execute'];

/** Asks with a trace of each question, if they are to leave one. */
export function asking(deps: QuestionDeps): Ask {
  return deps.traces ? traced(deps, deps.traces) : promptHandler(deps).execute;
}

/**
 * Asks a model about parts of a change and locates its findings. The first failed question stops the rest:
 * the other answers are kept, and there are no further costs for a review without a verdict.
 * @param all every piece of the head, by file
 * @throws the signal's reason if aborted
 */
export async function askAll(
  ask: Ask,
  questions: readonly (readonly ShownPiece[])[],
  all: ReadonlyMap<string, readonly Piece[]>,
  setting: QuestionFrame,
): Promise<Answers> {
  const values: { files: ShownFile[]; value: Json }[] = [];
  const log: string[] = [];
  let failure: string | undefined;
  let next = 0;
  let asked = 0;

  async function work(): Promise<void> {
    for (let index = next++; index < questions.length && failure === undefined; index = next++) {
      const byPath = Map.groupBy(questions[index] ?? [], ({ piece }) => piece.path);
      const files = [...byPath].map(([path, shown]) => ({
        path,
        pieces: shown.map(({ piece }) => piece),
        all: all.get(path) ?? [],
      }));
      const output = await ask(shippedPrompt('review.md'), {
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
      asked += 1;
      setting.onProgress?.(questionEnded(asked, questions.length));
      if (output.kind === 'failed') failure ??= output.because;
      else values[index] = { files, value: output.value };
      const words = output.kind === 'failed' ? output.because : JSON.stringify(output.value);
      log[index] = `question ${index + 1} of ${questions.length}: ${output.log}\n${setting.mask(words)}`;
    }
  }
  await Promise.all(Array.from({ length: CONCURRENCY }, work));

  const answered = values.filter((value) => value !== undefined);
  return {
    read: answered.flatMap(({ files }) => files.flatMap(({ pieces }) => pieces)),
    said: answered.flatMap(({ files, value }) => locatedFindings(value, files, setting.mask)),
    failure,
    log: log.filter((line) => line !== undefined).join('\n'),
  };
}

/**
 * Each question gets its own watch: several run at the same time under one session, and each is a separate
 * execution.
 */
function traced(deps: PromptDeps, { record, owner, clock, skill, inputs }: QuestionTraces): Ask {
  return async (artifact, context) => {
    const watch = watchModel(deps.model);
    const { execute } = promptHandler({ ...deps, model: watch.model });
    const startedAt = clock.now();
    const { asked, output } = await watch.during(owner, async (asked) => ({
      asked,
      output: await execute(artifact, context),
    }));
    await record({
      owner,
      artifact,
      context: { step: { inputs }, skill },
      asked,
      value: output.kind === 'done' ? output.value : undefined,
      log: output.log,
      error: output.kind === 'failed' ? output.because : null,
      asserted: { run: 0, passed: 0, warnings: [], broken: undefined },
      startedAt,
      completedAt: clock.now(),
    });
    return output;
  };
}
