import { unreachable } from '../core/errors.ts';
import type { AnalyzerReport } from '../domain/outcome/review-verdict.ts';
import { analyzerEnded } from '../messages/skills/analyzer.ts';
import type { Admission, AdmittedFile } from './admit.ts';
import type { RawFinding } from './analyzer.ts';
import { conclude } from './findings.ts';
import type { Edit } from './fix.ts';
import { masker, shown } from './mask.ts';
import { type AnalyzerPool, createAnalyzerPool } from './pool.ts';
import type { Analysis } from './report.ts';
import type { Rule } from './rules.ts';
import type { Job, JobResult } from './worker/protocol.ts';

/** One analyzer with its rules and settings. */
export interface Analyzer {
  /** Its name in findings and reports, unique within a review. */
  name: string;
  version: string;
  module: URL;
  /** Findings of other rules are dropped. */
  rules: Readonly<Record<string, Rule>>;
  wants(file: AdmittedFile): boolean;
  /** The module's settings for the files that it wants. Files are identified by their index. */
  config(files: readonly AdmittedFile[]): unknown;
  /** It finds secrets, which are then masked wherever files are quoted. */
  findsSecrets?: boolean;
  isNative?: boolean;
  /** How long it takes for a text, in relation to the others; 1 by default. */
  cost?: number;
}

/** Findings of an external analyzer, by the files' paths. */
export interface ExternalFindings {
  name: string;
  version: string;
  rules: Readonly<Record<string, Rule>>;
  /** Without a line, the finding applies to the whole file. */
  findings: readonly {
    path: string;
    rule: string;
    line?: number;
    endLine?: number;
    message: string;
    edits?: readonly Edit[];
  }[];
}

export interface Limits {
  /** For all of them together. A single analyzer gets 80 % of it. */
  timeoutMs: number;
  signal: AbortSignal;
  /** Called with a line for each that ended, which quotes no file. */
  onProgress?: ((line: string) => void) | undefined;
  /** The processes that they run in. By default, one is started for this review. */
  pool?: AnalyzerPool | undefined;
}

const NO_SPARES = createAnalyzerPool({ spares: false });

/** In characters, for the log that a review stores beside its outcome. */
export const MAX_LOG = 5_000_000;
/**
 * Every shown text is searched for each of them. A change with more secrets gets their positions, but no
 * text.
 */
const MAX_SECRETS = 200;

/**
 * Runs the analyzers on the files in sandboxed processes. If one fails, the report says so and the findings
 * of the others stay. An analyzer that wants none of the files does not run.
 * @throws the signal's reason if aborted. No content of a file can cause an exception.
 */
export async function runAnalyzers(
  { files, leftOut }: Admission,
  analyzers: readonly Analyzer[],
  limits: Limits,
  external: readonly ExternalFindings[] = [],
): Promise<Analysis> {
  const jobs: Job[] = inTurn(analyzers).flatMap((analyzer) => {
    const wanted = [...files.entries()].filter(([, file]) => analyzer.wants(file)).map(([index]) => index);
    if (wanted.length === 0) return [];
    const { name, module, cost = 1 } = analyzer;
    const characters = wanted.reduce((sum, index) => sum + (files[index]?.text.length ?? 0), 0);
    const config = analyzer.config(files);
    return [{ analyzer: name, module: module.href, files: wanted, cost: cost * characters, config }];
  });
  const sources = files.map(({ name, language, text }, index) => ({ index, name, language, text }));
  const { pool = NO_SPARES, onProgress } = limits;
  const filesOf = new Map(jobs.map((job) => [job.analyzer, job.files.length]));
  const ended = await pool.run(
    { files: sources, jobs },
    {
      ...limits,
      onResult: (result) => onProgress?.(analyzerEnded(result, filesOf.get(result.analyzer) ?? 0)),
    },
  );

  const byName = new Map(analyzers.map((analyzer) => [analyzer.name, analyzer]));
  const results = [...byName.keys()].flatMap((name) => ended.filter(({ analyzer }) => analyzer === name));
  const mask = maskFrom(results.filter((result) => byName.get(result.analyzer)?.findsSecrets));
  const ran = results.flatMap((result) =>
    result.status === 'ok'
      ? [
          {
            analyzer: result.analyzer,
            rules: byName.get(result.analyzer)?.rules ?? {},
            findings: result.findings,
          },
        ]
      : [],
  );
  const externalFindings = external.map((one) => ({
    analyzer: one.name,
    rules: one.rules,
    findings: positioned(one, files),
  }));
  const { findings, more } = conclude(files, [...ran, ...externalFindings], mask);
  const notListed = {
    path: '(findings)',
    reason: `${more} more of no higher severity are not listed`,
    needed: false,
  };
  const report = {
    findings,
    analyzers: [
      ...results.map((result) => reportOf(result, byName.get(result.analyzer), jobs, mask)),
      ...external.map(({ name, version }) => ({
        name,
        version,
        status: 'ok' as const,
        files: files.length,
        duration_ms: 0,
      })),
    ],
    leftOut: more > 0 ? [...leftOut, notListed] : leftOut,
    filesReviewed: files.length,
    log: logOf(files, results, mask),
  };
  return { report, files, mask };
}

/**
 * The search for secrets comes first, because what is shown depends on it, and before anything could disturb it.
 * Native code comes last, because a flaw of it can end the process.
 */
function inTurn(analyzers: readonly Analyzer[]): Analyzer[] {
  const turnOf = ({ findsSecrets, isNative }: Analyzer) => (findsSecrets ? 0 : isNative ? 2 : 1);
  return analyzers.toSorted((a, b) => turnOf(a) - turnOf(b));
}

/** A finding on a whole file moves to the first changed line. Findings on unchanged files are dropped. */
function positioned({ findings }: ExternalFindings, files: readonly AdmittedFile[]): RawFinding[] {
  const byPath = new Map(files.map((file, index) => [file.path, { index, file }]));
  return findings.flatMap(({ path, rule, message, line, endLine, edits }) => {
    const known = byPath.get(path);
    if (!known) return [];
    const { index, file } = known;
    const [from, to] = line === undefined ? [1, file.lines.length] : [line, endLine ?? line];
    return [{ file: index, rule, line: from, endLine: to, message, ...(edits && { edits }) }];
  });
}

/** Known only if the search for secrets succeeded. Otherwise no text of the files may be shown. */
function maskFrom(results: readonly JobResult[]): ((text: string) => string) | undefined {
  const known: string[] = [];
  for (const result of results) {
    if (result.status !== 'ok') return undefined;
    known.push(...(result.secrets ?? []));
  }
  return results.length > 0 && known.length <= MAX_SECRETS ? masker(known) : undefined;
}

function reportOf(
  { analyzer, ...result }: JobResult,
  known: Analyzer | undefined,
  jobs: readonly Job[],
  mask: ((text: string) => string) | undefined,
): AnalyzerReport {
  const report = {
    name: analyzer,
    version: known?.version ?? 'unknown',
    files: jobs.find((job) => job.analyzer === analyzer)?.files.length ?? 0,
    duration_ms: Math.round(result.durationMs),
  };
  switch (result.status) {
    case 'ok':
      return { ...report, status: result.status };
    case 'timed_out':
      return { ...report, status: result.status, message: result.message };
    case 'crashed':
      // The message can quote the file.
      return {
        ...report,
        status: result.status,
        message: mask ? shown(mask(result.message), 900) : 'it failed',
      };
    default:
      return unreachable(result);
  }
}

function logOf(
  files: readonly AdmittedFile[],
  results: readonly JobResult[],
  mask: ((text: string) => string) | undefined,
): string {
  const names = files.map((file, index) => `${index} ${file.name} ${JSON.stringify(file.path)}`);
  const sections = results.map((result) => {
    const output = result.status === 'ok' ? result.log : result.message;
    const safe = mask ? mask(output) : '(not kept: it might hold a secret)';
    return `== ${result.analyzer}: ${result.status}\n${safe}\n`;
  });
  return ['== files', ...names, ...sections].join('\n').slice(0, MAX_LOG);
}
