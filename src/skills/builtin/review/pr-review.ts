import { z } from 'zod';
import { type AdmittedFile, UNKNOWN_LANGUAGE } from '../../../analyzers/admit.ts';
import type { ChangedFile } from '../../../analyzers/changed-file.ts';
import { MAX_FINDINGS } from '../../../analyzers/findings.ts';
import type { AnalyzerPool } from '../../../analyzers/pool.ts';
import type { Analysis, ReviewReport } from '../../../analyzers/report.ts';
import { reviewFiles } from '../../../analyzers/review.ts';
import { MAX_LOG } from '../../../analyzers/run-analyzers.ts';
import { verdictOf } from '../../../analyzers/verdict.ts';
import { OWN_FILES } from '../../../domain/artifact/left-files.ts';
import type { ModelMemory } from '../../../domain/outcome/model-memory.ts';
import type { ReviewVerdict } from '../../../domain/outcome/review-verdict.ts';
import { CAPABILITIES } from '../../../domain/policy/capability.ts';
import { filesOfHead } from '../../../engine/steps/head-files.ts';
import type { StepContext, StepHandler } from '../../../engine/steps/step.ts';
import {
  NO_MODEL_ASKED,
  NO_MODEL_WANTED,
  notCheckedAgain,
  readAll,
  readOneFile,
  tookBack,
} from '../../../messages/cards/review.ts';
import { INPUT } from '../../../messages/skills/skill-inputs.ts';
import type { PromptDeps } from '../../kinds/prompt/handler.ts';
import { withContents } from '../../runtime/contents.ts';
import { readInputs, writtenInputs } from '../../runtime/inputs.ts';
import { mergeFindings } from './merge-findings.ts';
import { EFFORTS } from './model/budget.ts';
import { readNeighbours } from './model/neighbours.ts';
import type { QuestionTraces } from './model/questions.ts';
import { findingsBeside } from './one-file.ts';
import { type RoundFacts, sinceEarlier } from './since.ts';

/** The analyzers' full output. */
/**
 * 25 times what the largest legitimate review needs. Some analyzers take quadratic time, which an attacker
 * can exploit.
 */
const REVIEW_TIMEOUT_MS = 3 * 60_000;

export const inputsSchema = z.object({
  /** How much of a large change a model is asked about. */
  effort: z.enum(EFFORTS, { error: INPUT.effort }).default('high'),
  /** `false` uses only the analyzers, even if a model is configured. */
  model: z.boolean({ error: INPUT.model }).default(true),
});
type Inputs = z.infer<typeof inputsSchema>;

export interface PrReviewDeps extends PromptDeps {
  /** The processes that the analyzers run in. By default, one is started for each review. */
  pool?: AnalyzerPool;
  /** Without it, questions to a model leave no trace. */
  traces?: {
    record: QuestionTraces['record'];
    /**
     * Called only for a review with a model, because reading all shipped skills took an eighth of the app's
     * start.
     */
    skill: () => QuestionTraces['skill'];
  };
}

/**
 * Reviews what the pull request adds and changes: with analyzers, which need neither model nor key, and with
 * a model if one is configured.
 */
export function prReview(deps: PrReviewDeps): StepHandler {
  return {
    name: 'pr-review',
    inputs: writtenInputs(inputsSchema),
    capability: CAPABILITIES['pr-review'],
    isReview: true,
    artifactDefaults: [
      { kind: 'outcome', id: 'verdict', outcome: 'review_verdict', required: true, source: 'skill' },
      { kind: 'file', id: 'analyzers-log', path: OWN_FILES.review, required: true, source: 'skill' },
    ],
    cognitiveHints: { produces: ['evidence', 'risks', 'uncertainties', 'decisions'] },
    async run(context) {
      const asked = readInputs(inputsSchema, context);
      if (!asked.ok) return asked.result;
      const { files } = await filesOfHead(context);
      const changed = await withContents(context, files);
      const analysis = await reviewFiles(changed, {
        timeoutMs: REVIEW_TIMEOUT_MS,
        signal: context.signal,
        onProgress: context.print,
        pool: deps.pool,
      });
      const earlier = await context.earlierReview();
      const { oneFile } = context.invocation;
      const rest = await context.restOfReview();
      const read = await withModel(context, deps, asked.value, analysis, changed, {
        memory: rest?.model ?? earlier?.model,
        again: rest && oneFile?.path,
      });
      const report = oneFile ? besideRest(oneFile.path, rest, read, changed) : read;
      const { headSha } = context.state.run;
      const since =
        earlier && earlier.head_sha !== headSha ? sinceEarlier(earlier, roundOf(report, changed)) : undefined;
      return {
        kind: 'done',
        outcome: verdictOf({ ...report, ...(since && { since }) }, { headSha, round: await context.round() }),
        blobs: [{ kind: 'analyzer_output', name: OWN_FILES.review, data: report.log }],
      };
    },
  };
}

async function withModel(
  context: StepContext,
  { model, traces, pool, ...more }: PrReviewDeps,
  asked: Inputs,
  { report, files, mask }: Analysis,
  changed: readonly ChangedFile[],
  { memory, again }: { memory: ModelMemory | undefined; again: string | undefined },
): Promise<ReviewReport> {
  if (!asked.model) return { ...report, notes: [NO_MODEL_WANTED] };
  if (!model) return { ...report, notes: [NO_MODEL_ASKED] };
  const { state, session, inputs, clock } = context;
  const owner = { runId: state.run.id, sessionId: session.id };
  const given = {
    ...more,
    model,
    effort: asked.effort,
    ...(again !== undefined && { again }),
    ...(traces && { traces: { record: traces.record, skill: traces.skill(), owner, inputs, clock } }),
  };
  // Loaded on demand: most of its code and packages are of use with a model only.
  const { reviewByModel } = await import('./model/review.ts');
  const neighbours = (readable: readonly AdmittedFile[]) => readNeighbours(context, readable, changed, pool);
  const review = await reviewByModel(context, { ...given, neighbours }, { files, mask }, changed, memory);
  const notes = [
    ...review.refuted.map(({ finding, because }) => tookBack(finding, because)),
    ...(review.unchecked === undefined ? [] : [notCheckedAgain(review.unchecked)]),
  ];
  return {
    ...report,
    ...(notes.length > 0 && { notes }),
    findings: mergeFindings(report.findings, review.findings).slice(0, MAX_FINDINGS),
    analyzers: [...report.analyzers, ...(review.report ? [review.report] : [])],
    leftOut: [
      // Files without an analyzer count as read if the model read them.
      ...report.leftOut.filter(({ path, reason }) => reason !== UNKNOWN_LANGUAGE || !review.read.has(path)),
      ...review.leftOut,
    ],
    log: `${report.log}\n== model\n${review.log}`.slice(0, MAX_LOG),
    model: review.memory,
  };
}

/**
 * What a review of one file reports about all of them.
 * @param rest the last review of this head; without it, all of `read` counts, which read everything
 */
function besideRest(
  path: string,
  rest: ReviewVerdict | undefined,
  read: ReviewReport,
  changed: readonly ChangedFile[],
): ReviewReport {
  const { notes = [] } = read;
  if (!rest) return { ...read, notes: [...notes, readAll(path)] };
  const findings = findingsBeside(rest, path, roundOf(read, changed)).slice(0, MAX_FINDINGS);
  return { ...read, findings, notes: [...notes, readOneFile(path)] };
}

function roundOf(
  { findings, analyzers, leftOut }: ReviewReport,
  changed: readonly ChangedFile[],
): RoundFacts {
  return {
    findings,
    analyzers,
    present: new Set(changed.filter(({ status }) => status !== 'removed').map(({ path }) => path)),
    unread: new Set(leftOut.filter(({ needed }) => needed).map(({ path }) => path)),
  };
}
