import type { PullRequestFile } from '../../github/github.ts';
import type { ModelMemory } from '../../outcome/model-memory.ts';
import { CAPABILITIES } from '../../policy/capability.ts';
import { filesOfHead } from '../../session/head-files.ts';
import type { StepContext, StepHandler } from '../../session/step.ts';
import { NO_MODEL_ASKED } from '../../words/review.ts';
import type { PromptDeps } from '../prompt/handler.ts';
import { UNKNOWN_LANGUAGE } from './admit.ts';
import { type ChangedFile, MAX_FILE_BYTES, wantsContent } from './changed-file.ts';
import { MAX_FINDINGS } from './findings.ts';
import { mergeFindings } from './merge-findings.ts';
import { reviewByModel } from './model/review.ts';
import type { Analysis, ReviewReport } from './report.ts';
import { MAX_LOG, reviewFiles } from './review.ts';
import { type Now, sinceEarlier } from './since.ts';
import { verdictOf } from './verdict.ts';

/** What the analyzers said, word by word. */
const LOG = 'analyzers.log';
const MAX_FILES_READ_AT_ONCE = 6;
/** 25 times what the largest honest review needs; some analyzers are quadratic, and somebody will make use of it. */
const REVIEW_TIMEOUT_MS = 3 * 60_000;

/** Reviews what the pull request adds and changes: with analyzers that need no model and no key, and with a model where there is one. */
export function prReview(deps: PromptDeps): StepHandler {
  return {
    name: 'pr-review',
    capability: CAPABILITIES['pr-review'],
    artifactDefaults: [
      { kind: 'outcome', id: 'verdict', outcome: 'review_verdict', required: true, source: 'skill' },
      { kind: 'file', id: 'analyzers-log', path: LOG, required: true, source: 'skill' },
    ],
    cognitiveHints: { produces: ['evidence', 'risks', 'uncertainties', 'decisions'] },
    async run(context) {
      const { files } = await filesOfHead(context);
      const changed = await withContents(context, files);
      const analysis = await reviewFiles(changed, { timeoutMs: REVIEW_TIMEOUT_MS, signal: context.signal });
      const earlier = await context.earlierReview();
      const report = await withModel(context, deps, analysis, changed, earlier?.model);
      const { headSha } = context.state.run;
      const since =
        earlier && earlier.head_sha !== headSha
          ? sinceEarlier(earlier, lookedAt(report, changed))
          : undefined;
      return {
        kind: 'done',
        outcome: verdictOf({ ...report, ...(since && { since }) }, { headSha, round: await context.round() }),
        blobs: [{ kind: 'analyzer_output', name: LOG, data: report.log }],
      };
    },
  };
}

async function withModel(
  context: StepContext,
  { model, ...more }: PromptDeps,
  { report, files, mask }: Analysis,
  changed: readonly ChangedFile[],
  earlier: ModelMemory | undefined,
): Promise<ReviewReport> {
  if (!model) return { ...report, notes: [NO_MODEL_ASKED] };
  const review = await reviewByModel(context, { ...more, model }, { files, mask }, changed, earlier);
  return {
    ...report,
    findings: mergeFindings(report.findings, review.findings).slice(0, MAX_FINDINGS),
    analyzers: [...report.analyzers, ...(review.report ? [review.report] : [])],
    leftOut: [
      // What no analyzer knows is read all the same.
      ...report.leftOut.filter(({ path, reason }) => reason !== UNKNOWN_LANGUAGE || !review.read.has(path)),
      ...review.leftOut,
    ],
    log: `${report.log}\n== model\n${review.log}`.slice(0, MAX_LOG),
    model: review.memory,
  };
}

function lookedAt({ findings, analyzers, leftOut }: ReviewReport, changed: readonly ChangedFile[]): Now {
  return {
    findings,
    analyzers,
    present: new Set(changed.filter(({ status }) => status !== 'removed').map(({ path }) => path)),
    unread: new Set(leftOut.filter(({ needed }) => needed).map(({ path }) => path)),
  };
}

/** Fetches the head's version of every file worth reading, a few at a time. */
async function withContents(context: StepContext, files: readonly PullRequestFile[]): Promise<ChangedFile[]> {
  const result: ChangedFile[] = [];
  let next = 0;
  const work = async () => {
    for (let index = next++; index < files.length; index = next++) {
      context.signal.throwIfAborted();
      const file = files[index];
      if (file) result[index] = await withContent(context, file);
    }
  };
  await Promise.all(Array.from({ length: MAX_FILES_READ_AT_ONCE }, work));
  return result;
}

/**
 * The text of a file that the pull request adds, read from its patch: that spares a request for each. `undefined` when
 * the patch is not there or not whole, which its count of lines tells.
 */
function wholeFile({ status, patch, additions }: PullRequestFile): string | undefined {
  if (status !== 'added' || patch === undefined) return undefined;
  const [header = '', ...lines] = patch.split('\n');
  const noNewline = lines.at(-1) === '\\ No newline at end of file';
  if (noNewline) lines.pop();
  const isWhole =
    /^@@ -0,0 \+1(?:,\d+)? @@/.test(header) &&
    lines.length === additions &&
    lines.every((line) => line.startsWith('+'));
  if (!isWhole) return undefined;
  return lines.map((line) => line.slice(1)).join('\n') + (noNewline ? '' : '\n');
}

async function withContent(context: StepContext, file: PullRequestFile): Promise<ChangedFile> {
  const changed: ChangedFile = {
    path: file.path,
    status: file.status,
    changes: file.additions + file.deletions,
  };
  if (file.previousPath !== undefined) changed.previousPath = file.previousPath;
  if (file.patch !== undefined) changed.patch = file.patch;
  if (file.blobSha === null || !wantsContent(file)) return changed;
  const whole = wholeFile(file);
  if (whole !== undefined) return { ...changed, content: new TextEncoder().encode(whole) };
  const content = await context.reader.blob(context.repo, file.blobSha, MAX_FILE_BYTES);
  if (content) changed.content = content;
  else changed.leftOut = 'larger than 1 MB';
  return changed;
}
