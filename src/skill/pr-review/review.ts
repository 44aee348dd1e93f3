import { unreachable } from '../../core/errors.ts';
import type { AnalyzerReport } from '../../outcome/review-verdict.ts';
import { type AdmittedFile, admit } from './admit.ts';
import { ANALYZERS, DEFAULT_ANALYZERS, type KnownAnalyzer, versionOf } from './analyzers.ts';
import type { ChangedFile } from './changed-file.ts';
import { conclude } from './findings.ts';
import { masker, shown } from './mask.ts';
import type { Analysis } from './report.ts';
import { type Rule, shippedRules } from './rules.ts';
import { runWorker } from './run-worker.ts';
import type { Job, JobResult } from './worker/protocol.ts';

export interface ReviewOptions {
  /** For the whole review; a single analyzer gets 80 % of it. */
  timeoutMs: number;
  signal: AbortSignal;
  /** Which analyzers may run; each runs only when a file is for it. */
  analyzers?: readonly KnownAnalyzer[];
  /** Analyzers of a test's own, by the address of their module; they get every file. */
  extra?: readonly { name: string; module: URL }[];
}

/** In characters, of what a review leaves behind beside its outcome. */
export const MAX_LOG = 5_000_000;
/** Each is looked for in all that is shown. Whoever commits more than this is told where they are, and shown nothing. */
const MAX_SECRETS = 200;

/**
 * Reviews the changed files with the analyzers that ship in our dependencies, in one child process without secrets.
 * An analyzer that fails is reported as such and the findings of the others are kept.
 * @throws the signal's reason when aborted. Nothing about the files themselves throws.
 */
export async function reviewFiles(
  changedFiles: readonly ChangedFile[],
  options: ReviewOptions,
): Promise<Analysis> {
  const book = shippedRules();
  const { files, leftOut } = admit(changedFiles);
  const jobs: Job[] = [];
  for (const name of options.analyzers ?? DEFAULT_ANALYZERS) {
    const { languages, module, rules } = ANALYZERS[name];
    const mine = [...files.keys()].filter((index) => {
      const file = files[index];
      return file !== undefined && (languages === 'all' || languages.has(file.language));
    });
    if (mine.length > 0) jobs.push({ analyzer: name, module: module.href, files: mine, config: book[rules] });
  }
  for (const { name, module } of options.extra ?? []) {
    jobs.push({ analyzer: name, module: module.href, files: [...files.keys()], config: {} });
  }

  const sources = files.map(({ name, language, text }, index) => ({ index, name, language, text }));
  const results = await runWorker({ files: sources, jobs }, options);

  const mask = maskFrom(results);
  const found = results.flatMap((result) =>
    result.status === 'ok'
      ? [{ analyzer: result.analyzer, rules: rulesOf(result.analyzer), findings: result.findings }]
      : [],
  );
  const { findings, more } = conclude(files, found, mask);
  if (more > 0) {
    leftOut.push({
      path: '(findings)',
      reason: `${more} more of no higher severity are not listed`,
      needed: false,
    });
  }
  return {
    report: {
      findings,
      analyzers: results.map((result) => reportOf(result, jobs, mask)),
      leftOut,
      filesReviewed: files.length,
      log: logOf(files, results, mask),
    },
    files,
    mask,
  };
}

/** Known only when the search for secrets went through; otherwise nothing of the files may be shown. */
function maskFrom(results: readonly JobResult[]): ((text: string) => string) | undefined {
  const secrets = results.find((result) => result.analyzer === 'secrets');
  if (secrets?.status !== 'ok') return undefined;
  const known = secrets.secrets ?? [];
  return known.length <= MAX_SECRETS ? masker(known) : undefined;
}

function rulesOf(analyzer: string): Readonly<Record<string, Rule>> {
  return Object.hasOwn(ANALYZERS, analyzer)
    ? shippedRules()[ANALYZERS[analyzer as KnownAnalyzer].rules].rules
    : {};
}

function reportOf(
  result: JobResult,
  jobs: readonly Job[],
  mask: ((text: string) => string) | undefined,
): AnalyzerReport {
  const { analyzer, status, durationMs } = result;
  const version = Object.hasOwn(ANALYZERS, analyzer)
    ? versionOf(ANALYZERS[analyzer as KnownAnalyzer].name)
    : 'unknown';
  const report = {
    name: analyzer,
    version,
    files: jobs.find((job) => job.analyzer === analyzer)?.files.length ?? 0,
    duration_ms: Math.round(durationMs),
  };
  switch (status) {
    case 'ok':
      return { ...report, status };
    case 'timed_out':
      return { ...report, status, message: result.message };
    case 'crashed':
      // The message may quote the file.
      return { ...report, status, message: mask ? shown(mask(result.message), 900) : 'it failed' };
    default:
      return unreachable(status);
  }
}

function logOf(
  files: readonly AdmittedFile[],
  results: readonly JobResult[],
  mask: ((text: string) => string) | undefined,
): string {
  const names = files.map((file, index) => `${index} ${file.name} ${JSON.stringify(file.path)}`);
  const sections = results.map((result) => {
    const said = result.status === 'ok' ? result.log : result.message;
    const safe = mask ? mask(said) : '(not kept: it might hold a secret)';
    return `== ${result.analyzer}: ${result.status}\n${safe}\n`;
  });
  return ['== files', ...names, ...sections].join('\n').slice(0, MAX_LOG);
}
