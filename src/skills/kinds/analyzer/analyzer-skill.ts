import { type Admittance, admit } from '../../../analyzers/admit.ts';
import type { AnalyzerPool } from '../../../analyzers/pool.ts';
import { shippedAnalyzer } from '../../../analyzers/review.ts';
import { runAnalyzers } from '../../../analyzers/run-analyzers.ts';
import { verdictOf } from '../../../analyzers/verdict.ts';
import type { Json } from '../../../core/canonical.ts';
import { readAnalyzerFile } from '../../../domain/skill/analyzer-file.ts';
import { executedWith } from '../../../domain/skill/executed-with.ts';
import { pathOf } from '../../../domain/skill/place.ts';
import type { SkillArtifact } from '../../../domain/skill/skill.ts';
import { filesOfHead } from '../../../engine/steps/head-files.ts';
import type { StepContext, StepHandler } from '../../../engine/steps/step.ts';
import {
  ALL_FILES,
  brokenAnalyzer,
  NEEDS_A_REVIEW,
  NO_LIST_OF_FILES,
} from '../../../messages/skills/analyzer.ts';
import { NOT_OF_A_PULL_REQUEST, TOO_MANY_FILES } from '../../../messages/skills/prompt.ts';
import { GitHubError, type PullRequestFile } from '../../../ports/github.ts';
import { withContents } from '../../runtime/contents.ts';
import type { AnyHandler } from '../../runtime/handler.ts';
import type { SkillContext } from '../../runtime/skill-context.ts';
import { type ConfiguredAnalyzer, configureAnalyzer, type Facts } from './configured.ts';
import { type NamedReport, readReports } from './sarif-reports.ts';

const TIMEOUT_MS = 3 * 60_000;
/** Lock files reach this size and are read completely. */
const MAX_BYTES = 5_000_000;
const FILES_READ_AT_ONCE = 6;

/** Every file that a package is for is needed, because no other analyzer reads it. */
const EVERY_FILE: Admittance = {
  isNeeded: () => true,
  secretsOnly: () => undefined,
  maxBytes: MAX_BYTES,
};

/** Secrets are found only to mask them where findings quote files. None of its rules is reported. */
const SECRETS_TO_HIDE = 'secrets to hide';

export interface AnalyzerDeps {
  /** The skill that says whether CI still runs. Reports from CI are awaited for that long. */
  ci: Pick<StepHandler, 'run'>;
  /** The processes that the analyzers run in. By default, one is started for each review. */
  pool?: AnalyzerPool;
}

/**
 * Runs the analyzers of a package on the files that they are for, in the processes of `pr-review` and
 * with its rule for the verdict.
 */
export function analyzerSkill({ ci, pool }: AnalyzerDeps): AnyHandler<SkillContext> {
  return {
    kind: 'analyzer',

    async execute(artifact, { step, skill, outcome }) {
      const { run } = step.state;
      if (run.pullRequest === null) return failed(NOT_OF_A_PULL_REQUEST);
      if (outcome !== 'review_verdict') return failed(NEEDS_A_REVIEW);
      const read = analyzersOf(executedWith(artifact, skill));
      if ('because' in read) return failed(read.because);

      const reports = await readReports(step, read.reports, ci);
      if (reports.kind === 'failed') return failed(reports.because);
      if (reports.kind === 'waits') return reports;

      const list = await filesOfHead(step);
      if (list.truncated) return failed(TOO_MANY_FILES);
      const reported = new Set(reports.told.flatMap(({ findings }) => findings.map(({ path }) => path)));
      const files = list.files.filter(
        ({ path }) => reported.has(path) || read.analyzers.some((one) => one.concerns(path)),
      );
      const facts = await factsFor(step, files, read.analyzers);
      const admission = admit(await withContents(step, files, MAX_BYTES), EVERY_FILE);
      if (facts.tree === undefined && files.length > 0 && read.analyzers.some(({ needs }) => needs.tree)) {
        admission.leftOut.push({ path: ALL_FILES, reason: NO_LIST_OF_FILES, needed: true });
      }
      admission.leftOut.push(...reports.leftOut);
      const { report } = await runAnalyzers(
        admission,
        [...read.analyzers.map((one) => one.analyzer(facts)), secretsToHide()],
        { timeoutMs: TIMEOUT_MS, signal: step.signal, onProgress: step.print, pool },
        reports.told,
      );
      const verdict = verdictOf(report, { headSha: run.headSha, round: await step.round() });
      return { kind: 'done', value: verdict as unknown as Json, log: report.log };
    },
  };
}

function failed(because: string) {
  return { kind: 'failed', because, retryable: false, log: '' } as const;
}

function analyzersOf(
  artifacts: readonly SkillArtifact[],
): { analyzers: ConfiguredAnalyzer[]; reports: NamedReport[] } | { because: string } {
  const analyzers: ConfiguredAnalyzer[] = [];
  const reports: NamedReport[] = [];
  for (const artifact of artifacts) {
    const { value, diagnostics } = readAnalyzerFile(artifact.content, pathOf(artifact));
    if (!value) return { because: brokenAnalyzer(diagnostics) };
    const name = artifact.name.replace(/\.yml$/, '');
    if (value.analyzer === 'sarif') reports.push({ name, file: value });
    else analyzers.push(configureAnalyzer(value, name));
  }
  return { analyzers, reports };
}

function secretsToHide() {
  return { ...shippedAnalyzer('secrets'), name: SECRETS_TO_HIDE, rules: {} };
}

async function factsFor(
  step: StepContext,
  files: readonly PullRequestFile[],
  analyzers: readonly ConfiguredAnalyzer[],
): Promise<Facts> {
  const compared = analyzers.filter(({ needs }) => needs.before);
  const changed = files.filter(
    ({ path, status }) => status !== 'added' && compared.some(({ concerns }) => concerns(path)),
  );
  const before = new Map<string, string>();
  for (let start = 0; start < changed.length; start += FILES_READ_AT_ONCE) {
    const texts = changed
      .slice(start, start + FILES_READ_AT_ONCE)
      .map(async ({ path, previousPath = path }) => {
        const text = await textAtBase(step, previousPath);
        if (text !== undefined) before.set(path, text);
      });
    await Promise.all(texts);
  }
  const wantsTree = analyzers.some(
    ({ needs, concerns }) => needs.tree && files.some(({ path }) => concerns(path)),
  );
  return { before, tree: wantsTree ? await treeOf(step) : undefined };
}

/**
 * `undefined` if the file does not exist or is too large. Then everything in it counts as new, so that
 * nothing is missed.
 */
async function textAtBase({ reader, repo, state }: StepContext, path: string): Promise<string | undefined> {
  const entry = await reader.file(repo, path, state.run.baseSha);
  const bytes = entry && (await reader.blob(repo, entry.sha, MAX_BYTES));
  return bytes && new TextDecoder().decode(bytes);
}

async function treeOf({ reader, repo, state }: StepContext): Promise<string[] | undefined> {
  try {
    return (await reader.tree(repo, state.run.headSha))?.map(({ path }) => path);
  } catch (error) {
    if (error instanceof GitHubError && error.kind === 'invalid') return undefined;
    throw error;
  }
}
