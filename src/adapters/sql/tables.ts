import type { Kysely } from 'kysely';
import type { Clock } from '../../core/clock.ts';
import type { Tx } from '../../ports/storage.ts';
import { acceptedFindingsTable } from './accepted-findings.ts';
import { apiTokensTable } from './api-tokens.ts';
import { appliedCommandsTable } from './applied-commands.ts';
import { approvalsTable } from './approvals.ts';
import { archivesOn } from './archives.ts';
import { artifactsTable } from './artifacts.ts';
import { auditTable } from './audit.ts';
import { chainsTable } from './chains.ts';
import { compositesTable } from './composites.ts';
import { cursorsTable } from './cursors.ts';
import { deliveriesTable } from './deliveries.ts';
import { dryRunsTable } from './dry-runs.ts';
import { effectsTable } from './effects.ts';
import { firingsTable, schedulesTable } from './firings.ts';
import { gateProtectionsTable } from './gate-protections.ts';
import { insightTable } from './insight.ts';
import { jobsTable } from './jobs.ts';
import type { KnownRows } from './known-rows.ts';
import { missedDeliveriesTable } from './missed-deliveries.ts';
import { modelCallsTable } from './model-calls.ts';
import { operationsTable } from './operations.ts';
import { overviewOf } from './overview.ts';
import { pruningTable } from './pruning.ts';
import { pullRequestsTable } from './pull-requests.ts';
import { pushesTable } from './pushes.ts';
import { repositoryStatesTable } from './repository-states.ts';
import { runsTable } from './runs.ts';
import type { Database } from './schema.ts';
import { sessionLogsTable } from './session-logs.ts';
import { skillCallsTable } from './skill-calls.ts';
import { skillTracesTable } from './skill-traces.ts';
import { skillsTable } from './skills.ts';
import { studioCommandsTable, studioSessionsTable } from './studio.ts';
import { threadRepliesTable } from './thread-replies.ts';
import type { UnitOfWork } from './unit-of-work.ts';

/**
 * All tables on one connection or transaction. The clock is for the times of `transitions` and of the audit
 * log.
 * @param of a transaction, and what its connection knows
 */
export function tablesOn(
  db: Kysely<Database>,
  clock: Clock,
  { unit, known }: { unit?: UnitOfWork; known?: KnownRows } = {},
): Tx {
  const archives = archivesOn(db, unit);
  const runs = runsTable(db, clock, archives, unit, known);
  return {
    deliveries: deliveriesTable(db, unit, known),
    runs,
    sessionLogs: sessionLogsTable(db),
    approvals: approvalsTable(db, archives, known),
    effects: effectsTable(db, archives, runs, unit, known),
    artifacts: artifactsTable(db, archives),
    pullRequests: pullRequestsTable(db, known),
    gateProtections: gateProtectionsTable(db, known),
    pushes: pushesTable(db),
    jobs: jobsTable(db, known?.jobs),
    chains: chainsTable(db),
    schedules: schedulesTable(db),
    firings: firingsTable(db),
    composites: compositesTable(db),
    cursors: cursorsTable(db),
    missedDeliveries: missedDeliveriesTable(db),
    modelCalls: modelCallsTable(db),
    skills: skillsTable(db),
    skillCalls: skillCallsTable(db),
    threadReplies: threadRepliesTable(db),
    skillTraces: skillTracesTable(db),
    apiTokens: apiTokensTable(db),
    audit: auditTable(db, clock, unit),
    appliedCommands: appliedCommandsTable(db),
    acceptedFindings: acceptedFindingsTable(db),
    studioSessions: studioSessionsTable(db),
    studioCommands: studioCommandsTable(db),
    dryRuns: dryRunsTable(db),
    operations: operationsTable(db),
    pruning: pruningTable(db, archives, unit),
    overview: overviewOf(db),
    insight: insightTable(db, unit),
    repositoryStates: repositoryStatesTable(db, known),
    beforeCommit: (work) => within(unit).beforeCommit(work),
    afterwards: (work) => within(unit).afterwards(work),
    endJob() {
      within(unit).endsJob = true;
    },
  };
}

function within(unit: UnitOfWork | undefined): UnitOfWork {
  if (!unit) throw new Error('no transaction is open that could end a job');
  return unit;
}
