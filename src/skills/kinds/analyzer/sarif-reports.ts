import type { Omission } from '../../../analyzers/admit.ts';
import type { ExternalFindings } from '../../../analyzers/run-analyzers.ts';
import { DEFAULT_LEVELS, findingsOf, type Levels } from '../../../analyzers/sarif/findings.ts';
import { readReport, type SarifRun } from '../../../analyzers/sarif/report.ts';
import { messageOf } from '../../../core/errors.ts';
import { anyGlobMatches } from '../../../core/glob.ts';
import { textsInZip, ZipError } from '../../../core/zip.ts';
import type { Reason } from '../../../domain/explanation/reason.ts';
import type { ReportFile } from '../../../domain/skill/analyzer-file.ts';
import type { StepContext, StepHandler } from '../../../engine/steps/step.ts';
import {
  furtherReports,
  IN_THE_REPORT,
  NO_RIGHT_TO_READ,
  NO_SARIF_IN_IT,
  noReport,
  nowhere,
  TOO_LARGE_OR_EXPIRED,
  unreadableReport,
} from '../../../messages/skills/sarif.ts';
import { GitHubError, type WorkflowArtifact } from '../../../ports/github.ts';

/** Compressed. A report with 20,000 results takes one tenth of this. */
const MAX_ARCHIVE_BYTES = 10_000_000;
const UNPACKED = { maxEntries: 200, maxBytes: 10_000_000 };
/** Per head and name. Each workflow run of the head can leave one. */
const MAX_REPORTS = 10;

export interface NamedReport {
  name: string;
  file: ReportFile;
}

export type ReportsRead =
  | { kind: 'read'; told: ExternalFindings[]; leftOut: Omission[] }
  | { kind: 'waits'; until: Date; reason: Reason }
  | { kind: 'failed'; because: string };

/**
 * Reads the SARIF reports that CI left for the run's head. Waits for a missing report as long as CI runs.
 * After that, and for an unreadable report, there is a reason, never an empty report.
 * @param ci the skill that says whether CI still runs
 */
export async function readReports(
  step: StepContext,
  reports: readonly NamedReport[],
  ci: Pick<StepHandler, 'run'>,
): Promise<ReportsRead> {
  const externals: ExternalFindings[] = [];
  const leftOut: Omission[] = [];
  for (const { name, file } of reports) {
    try {
      const artifacts = await artifactsFor(step, file.artifact);
      if (artifacts.length === 0) return waitOrFail(step, file.artifact, ci);
      const runs: SarifRun[] = [];
      for (const artifact of artifacts.slice(0, MAX_REPORTS)) runs.push(...(await runsIn(step, artifact)));
      const unread = artifacts.length - MAX_REPORTS;
      if (unread > 0) {
        // Anybody who may push can start workflows until a report with findings is no longer among the
        // newest.
        leftOut.push({ path: IN_THE_REPORT, reason: furtherReports(unread, MAX_REPORTS), needed: true });
      }
      const levels: Levels = { ...DEFAULT_LEVELS, ...withoutUndefined(file.levels) };
      const found = findingsOf(runs, levels);
      const isMeant = ({ path }: { path: string }) => !file.paths || anyGlobMatches(file.paths, path);
      externals.push({
        name,
        version: versionsOf(runs),
        rules: found.rules,
        findings: found.findings.filter(isMeant),
      });
      const { results, blocking } = found.nowhere;
      if (results > 0) {
        // A blocking result without a location could be about a changed line, so there is no verdict.
        leftOut.push({ path: IN_THE_REPORT, reason: nowhere(results, blocking), needed: blocking > 0 });
      }
    } catch (error) {
      return { kind: 'failed', because: becauseOf(error, file.artifact) };
    }
  }
  return { kind: 'read', told: externals, leftOut };
}

/** The newest artifact of each workflow run of the head. */
async function artifactsFor({ reader, repo, state }: StepContext, name: string): Promise<WorkflowArtifact[]> {
  const all = await reader.workflowArtifacts(repo, name);
  const ofHead = all.filter(({ headSha }) => headSha === state.run.headSha);
  return ofHead.filter(({ runId }, index) => ofHead.findIndex((one) => one.runId === runId) === index);
}

async function runsIn({ reader, repo }: StepContext, { id }: WorkflowArtifact): Promise<SarifRun[]> {
  const archive = await reader.workflowArchive(repo, id, MAX_ARCHIVE_BYTES);
  if (!archive) throw new ZipError(TOO_LARGE_OR_EXPIRED);
  const files = textsInZip(archive, (name) => /\.sarif(?:\.json)?$/i.test(name), UNPACKED);
  if (files.length === 0) throw new ZipError(NO_SARIF_IN_IT);
  return files.flatMap(({ text }) => readReport(text));
}

/** @throws errors that the report did not cause, so that the step is retried */
function becauseOf(error: unknown, artifact: string): string {
  if (error instanceof GitHubError && error.kind === 'forbidden') return NO_RIGHT_TO_READ;
  if (error instanceof ZipError || error instanceof SyntaxError) {
    return unreadableReport(artifact, messageOf(error).slice(0, 300));
  }
  throw error;
}

async function waitOrFail(
  step: StepContext,
  artifact: string,
  ci: Pick<StepHandler, 'run'>,
): Promise<ReportsRead> {
  const ciResult = await ci.run(step);
  return ciResult.kind === 'waits'
    ? { kind: 'waits', until: ciResult.until, reason: ciResult.reason }
    : { kind: 'failed', because: noReport(artifact) };
}

function versionsOf(runs: readonly SarifRun[]): string {
  const tools = new Set(runs.map(({ tool }) => tool.driver.name ?? 'unknown'));
  return `of ${[...tools].join(', ').slice(0, 100)}`;
}

function withoutUndefined(levels: ReportFile['levels'] = {}): Partial<Levels> {
  return Object.fromEntries(Object.entries(levels).filter(([, weight]) => weight !== undefined));
}
