import type { AdmittedFile, Omission } from '../../../../analyzers/admit.ts';
import { type ChangedFile, derivedKind, isCode, MAX_LINE } from '../../../../analyzers/changed-file.ts';
import type { Analysis } from '../../../../analyzers/report.ts';
import { formatModelName } from '../../../../domain/model/name.ts';
import type { Finding } from '../../../../domain/outcome/finding.ts';
import type { ModelMemory } from '../../../../domain/outcome/model-memory.ts';
import type { AnalyzerReport } from '../../../../domain/outcome/review-verdict.ts';
import { pullRequestOf, type StepContext } from '../../../../engine/steps/step.ts';
import { beyondBudget, DELETED, noModelRead, SECRETS_UNKNOWN } from '../../../../messages/cards/review.ts';
import type { Model } from '../../../../ports/model.ts';
import { purposeOf } from '../../../runtime/purpose.ts';
import { withRenderer } from '../../../templating/render.ts';
import { BYTES_A_TOKEN, type Effort, QUESTIONS, shareOut, tokensOf } from './budget.ts';
import { readGuidelines } from './guidelines.ts';
import { afterRound, planRound } from './memory.ts';
import type { Neighbours } from './neighbours.ts';
import { linesWithoutSecrets, type Piece, piecesOf, printOf, shownPiece } from './piece.ts';
import { asReadersSee, titleAsReadersSee } from './plain-text.ts';
import { type PromptName, promptPath, shippedPrompt } from './prompt.ts';
import { askAll, asking, type QuestionDeps, type ShownPiece } from './questions.ts';
import { type Refuted, refute } from './refute.ts';
import { definitionsIn, shownSurroundings, surroundingsOf, usesIn } from './surroundings.ts';

export interface ModelReviewDeps extends QuestionDeps {
  model: Model;
  /** The default is `high`. */
  effort?: Effort;
  /** A file to read again although an earlier round has read it. */
  again?: string;
  /** Reads files around the change. Called only if there is something to ask. By default, none are read. */
  neighbours?: (files: readonly AdmittedFile[]) => Promise<Neighbours>;
}

/** A model's findings on a change: those of this round, and those of earlier rounds for unchanged parts. */
export interface ModelReview {
  findings: Finding[];
  /** How it went, as for an analyzer; `undefined` if there was nothing to read. */
  report: AnalyzerReport | undefined;
  leftOut: Omission[];
  /** What it took back when it was asked to refute it. */
  refuted: Refuted[];
  /** Why its findings could not be checked a second time; `undefined` if they were, or there are none. */
  unchecked: string | undefined;
  /** Files whose changes it read completely. */
  read: ReadonlySet<string>;
  memory: ModelMemory;
  log: string;
}

/**
 * Lets a model read the changes of a pull request that no earlier round has read.
 * @throws GitHubError, or the signal's reason if aborted. Failures of the model are in the report.
 */
export async function reviewByModel(
  step: StepContext,
  deps: ModelReviewDeps,
  { files, mask }: Pick<Analysis, 'files' | 'mask'>,
  changed: readonly ChangedFile[],
  earlier: ModelMemory | undefined,
): Promise<ModelReview> {
  const begun = step.clock.now().getTime();
  const { run } = step.state;
  const readable = files.filter(isForModel);
  const guidelines = readable.length === 0 ? [] : await readGuidelines(step.reader, step.repo, run.baseSha);
  const name = formatModelName(deps.model.name);
  const lens = printOf([name, shippedPrompt('review.md').content, ...guidelines.map(({ text }) => text)]);

  const pieces = mask ? readable.flatMap((file) => piecesOf(file, lens)) : [];
  const all = Map.groupBy(pieces, ({ path }) => path);
  const plan = planRound(pieces, earlier, deps.again);
  const deleted = changed.filter(({ status }) => status === 'removed').map(({ path }) => path);
  const present = new Set(changed.filter(({ status }) => status !== 'removed').map(({ path }) => path));
  const textOf = memoized((piece: Piece) => shownPiece(piece, mask ?? (() => '')));
  const neighbours =
    mask && plan.ask.length > 0 && deps.neighbours ? await deps.neighbours(readable) : undefined;
  const around = memoized(surroundings(readable, mask ?? (() => ''), neighbours));
  const withAround = memoized((piece: Piece) => [textOf(piece), around(piece)].filter(Boolean).join('\n'));
  const most = QUESTIONS[deps.effort ?? 'high'];
  const atLeast = ({ lines }: Piece) => lines.reduce((sum, { text }) => sum + text.length, 0) / BYTES_A_TOKEN;
  const groups = [...Map.groupBy(plan.ask, ({ path }) => path).values()];
  const share = (text: (piece: Piece) => string) =>
    shareOut(groups, { atLeast, exactly: (piece) => tokensOf(text(piece)) }, { questions: most });
  // What stands around a change leaves out no part of it, and takes no further question.
  const bare = share(textOf);
  const full = bare.rest.length === 0 ? share(withAround) : bare;
  const hasRoom = full.rest.length === 0 && full.questions.length === bare.questions.length;
  const { questions, rest } = hasRoom ? full : bare;

  const shown = (question: readonly Piece[]): ShownPiece[] =>
    question.map((piece) => ({ piece, text: hasRoom ? withAround(piece) : textOf(piece) }));
  const frame = {
    repository: run.repository,
    baseBranch: run.baseRef,
    mask: mask ?? (() => ''),
    signal: step.signal,
  };
  const purpose = (artifact: PromptName) =>
    purposeOf(step, { skill: 'pr-review', artifact: promptPath(artifact) });
  const answers =
    mask && questions.length > 0
      ? await withRenderer(async (render) => {
          const ask = asking({ render, ...deps });
          const asked = questions.map(shown);
          const first = await askAll(ask, asked, all, {
            ...frame,
            ...(await readDescription(step)),
            guidelines,
            deleted,
            purpose: purpose('review.md'),
            onProgress: step.print,
          });
          // A model that does not answer, or costs more than the budget, is not asked again.
          const findings = first.failure === undefined ? first.said : [];
          const checked = await refute(ask, findings, asked.flat(), {
            ...frame,
            purpose: purpose('refute.md'),
          });
          return {
            ...first,
            ...(first.failure === undefined && { said: checked.said }),
            refuted: checked.refuted,
            unchecked: checked.failure,
            log: [first.log, checked.log].filter(Boolean).join('\n'),
          };
        })
      : {
          read: [],
          said: [],
          refuted: [],
          failure: mask ? undefined : SECRETS_UNKNOWN,
          unchecked: undefined,
          log: '',
        };

  const memory = afterRound(plan, answers.read, answers.said, present);
  const known = new Set([...plan.kept, ...answers.read]);
  const report: AnalyzerReport = {
    name: 'model',
    version: name,
    status: answers.failure === undefined ? 'ok' : 'no_answer',
    files: new Set([...known].map(({ path }) => path)).size,
    duration_ms: step.clock.now().getTime() - begun,
    ...(answers.failure !== undefined && { message: answers.failure.slice(0, 900) }),
  };
  return {
    findings: memory.said.map(({ finding }) => finding),
    refuted: answers.refuted,
    unchecked: answers.unchecked,
    report: readable.length === 0 ? undefined : report,
    leftOut: [
      ...beyond(rest, all, most),
      ...files.flatMap(skipped),
      ...deleted.map((path) => ({ path, reason: DELETED, needed: false })),
    ],
    read: new Set([...all].filter(([, own]) => own.every((piece) => known.has(piece))).map(([path]) => path)),
    memory,
    log: answers.log,
  };
}

/**
 * Generated files are not worth the tokens. Files with lines as long as minified code are already listed as
 * left out.
 */
function isForModel({ path, lines }: AdmittedFile): boolean {
  return derivedKind(path) === undefined && lines.every((line) => line.length <= MAX_LINE);
}

/**
 * A file that analyzers read and the model does not. Files that are only scanned for secrets are listed
 * elsewhere.
 */
function skipped({ path, language }: AdmittedFile): Omission[] {
  const what = derivedKind(path);
  if (what === undefined || language === 'other') return [];
  return [{ path, reason: noModelRead(what), needed: false, seen_by: 'analyzers' }];
}

async function readDescription(step: StepContext): Promise<{ title: string; body: string }> {
  const { title, body } = await step.reader.pullRequest(step.repo, pullRequestOf(step));
  return { title: titleAsReadersSee(title), body: asReadersSee(body ?? '') };
}

function beyond(
  rest: readonly Piece[],
  all: ReadonlyMap<string, readonly Piece[]>,
  questions: number,
): Omission[] {
  return [...Map.groupBy(rest, ({ path }) => path)].map(([path, unread]) => ({
    path,
    reason: beyondBudget(unread.length, all.get(path)?.length ?? unread.length, questions),
    needed: isCode(path),
  }));
}

/** What stands around each piece, as the model reads it; empty without any. */
function surroundings(
  files: readonly AdmittedFile[],
  mask: (text: string) => string,
  neighbours: Neighbours | undefined,
): (piece: Piece) => string {
  const near = neighbours?.files ?? [];
  // The change first, so that what it defines and uses itself is shown before what is around it.
  const all = [...files, ...near];
  const byPath = new Map(all.map((file) => [file.path, file]));
  const maskOfNear = (text: string) => mask(neighbours?.mask(text) ?? '');
  // Not before a piece is shown: most rounds ask about few, or none.
  const names = memoized((of: readonly AdmittedFile[]) => ({
    definitions: definitionsIn(of),
    uses: usesIn(of),
  }));
  const isNear = new Set(near);
  const masked = memoized((file: AdmittedFile) =>
    linesWithoutSecrets(file.lines, isNear.has(file) ? maskOfNear : mask),
  );
  return (piece) => {
    const file = byPath.get(piece.path);
    if (!file) return '';
    return shownSurroundings(surroundingsOf(piece, file, names(all)), piece, (path) => {
      const of = byPath.get(path);
      return of && masked(of);
    });
  };
}

/** Caches the result for each argument. */
function memoized<Of extends object, Result>(work: (of: Of) => Result): (of: Of) => Result {
  const done = new Map<Of, { result: Result }>();
  return (of) => {
    const known = done.get(of) ?? { result: work(of) };
    done.set(of, known);
    return known.result;
  };
}
