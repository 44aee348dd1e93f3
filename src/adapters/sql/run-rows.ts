import type { Selectable } from 'kysely';
import { z } from 'zod';
import type { Contract } from '../../domain/artifact/contract.ts';
import { verificationSchema } from '../../domain/artifact/verification.ts';
import type { Chain } from '../../domain/chain/chain.ts';
import type { Settings } from '../../domain/chain/settings.ts';
import { eventSchema } from '../../domain/event/event.ts';
import { reasonSchema } from '../../domain/explanation/reason.ts';
import { outcomeSchema } from '../../domain/outcome/outcome.ts';
import type { Invocation, OneFile, Run, RunFacts, Session } from '../../domain/run/run.ts';
import { type SkillChoice, skillChoiceSchema } from '../../domain/skill/decision.ts';
import type { RunOfEffect } from '../../ports/storage.ts';
import {
  fromJson,
  fromJsonOrNull,
  parseJson,
  reading,
  toDate,
  toDateOrNull,
  toJsonOrNull,
  toText,
} from './columns.ts';
import { parsedOnce } from './parsed-once.ts';
import type { ChainRunsTable, InvocationsTable, SessionsTable } from './schema.ts';

const eventIn = parsedOnce(eventSchema);
const outcomeIn = parsedOnce(outcomeSchema);
const verificationIn = parsedOnce(verificationSchema);
// Not validated: they were validated before they were stored as a snapshot, and a later version's schema could
// make an old run unreadable.
const definitionIn = parsedOnce(z.custom<Chain>());
const settingsIn = parsedOnce(z.custom<Settings>());
const factsIn = parsedOnce(z.custom<RunFacts>());

/** `packed` and `archive_id` are only of the tables. */
export type ChainRunRow = Omit<Selectable<ChainRunsTable>, 'packed' | 'archive_id'>;

/** `archive_id` may name an archive that a transaction has restored since. */
export type StoredRun = ChainRunRow & Pick<Selectable<ChainRunsTable>, 'archive_id'>;

export function runRow(run: Run): ChainRunRow {
  return {
    id: run.id,
    installation_id: run.installationId,
    repository_id: run.repositoryId,
    repository: run.repository,
    pull_request: run.pullRequest,
    head_sha: run.headSha,
    base_ref: run.baseRef,
    base_sha: run.baseSha,
    chain: run.chain,
    definition_json: JSON.stringify(run.definition),
    settings_json: JSON.stringify(run.settings),
    facts_json: JSON.stringify(run.facts),
    event_json: JSON.stringify(run.event),
    delivery_id: run.deliveryId,
    status: run.status,
    reason_json: toJsonOrNull(run.reason),
    paused: run.paused ? 1 : 0,
    created_at: toText(run.createdAt),
    updated_at: toText(run.updatedAt),
    finished_at: toText(run.finishedAt),
  };
}

export function runOf(row: ChainRunRow): Run {
  return reading('chain_runs', row.id, () => ({
    id: row.id,
    installationId: row.installation_id,
    repositoryId: row.repository_id,
    repository: row.repository,
    pullRequest: row.pull_request,
    headSha: row.head_sha,
    baseRef: row.base_ref,
    baseSha: row.base_sha,
    chain: row.chain,
    definition: definitionIn(row.definition_json),
    settings: settingsIn(row.settings_json),
    facts: factsIn(row.facts_json),
    event: eventIn(row.event_json),
    deliveryId: row.delivery_id,
    status: row.status,
    reason: fromJsonOrNull(reasonSchema, row.reason_json),
    paused: row.paused === 1,
    createdAt: toDate(row.created_at),
    updatedAt: toDate(row.updated_at),
    finishedAt: toDateOrNull(row.finished_at),
  }));
}

type ColumnsOfEffect = Pick<
  Selectable<ChainRunsTable>,
  'repository_id' | 'pull_request' | 'event_json' | 'facts_json' | 'reason_json' | 'finished_at'
>;

export function runOfEffect(row: ColumnsOfEffect): RunOfEffect {
  return {
    repositoryId: row.repository_id,
    pullRequest: row.pull_request,
    event: eventIn(row.event_json),
    facts: factsIn(row.facts_json),
    reason: fromJsonOrNull(reasonSchema, row.reason_json),
    finishedAt: toDateOrNull(row.finished_at),
  };
}

export function invocationRow(invocation: Invocation): Selectable<InvocationsTable> {
  return {
    id: invocation.id,
    run_id: invocation.runId,
    step_index: invocation.stepIndex,
    step_id: invocation.stepId,
    status: invocation.status,
    reason_json: toJsonOrNull(invocation.reason),
    attempts: invocation.attempts,
    session_id: invocation.sessionId,
    wait_until: toText(invocation.waitUntil),
    deadline_at: toText(invocation.deadlineAt),
    outcome_json: toJsonOrNull(invocation.outcome),
    outcome_artifact_id: invocation.outcomeArtifactId,
    started_at: toText(invocation.startedAt),
    finished_at: toText(invocation.finishedAt),
    one_file_json: toJsonOrNull(invocation.oneFile),
  };
}

/** An invocation with its current session's choice and verification, which are columns of that session. */
export type InvocationRow = Selectable<InvocationsTable> &
  Pick<Selectable<SessionsTable>, 'artifact_verification_json' | 'choice_json'>;

export function invocationOf(row: InvocationRow): Invocation {
  return reading('invocations', row.id, () => ({
    id: row.id,
    runId: row.run_id,
    stepIndex: row.step_index,
    stepId: row.step_id,
    status: row.status,
    reason: fromJsonOrNull(reasonSchema, row.reason_json),
    attempts: row.attempts,
    sessionId: row.session_id,
    waitUntil: toDateOrNull(row.wait_until),
    deadlineAt: toDateOrNull(row.deadline_at),
    outcome: row.outcome_json === null ? null : outcomeIn(row.outcome_json),
    outcomeArtifactId: row.outcome_artifact_id,
    verification:
      row.artifact_verification_json === null ? null : verificationIn(row.artifact_verification_json),
    ...choiceIn(row),
    // Archives of earlier versions have no such column.
    oneFile: row.one_file_json == null ? null : fromJson(oneFileSchema, row.one_file_json),
    startedAt: toDateOrNull(row.started_at),
    finishedAt: toDateOrNull(row.finished_at),
  }));
}

const oneFileSchema: z.ZodType<OneFile> = z.strictObject({ path: z.string(), rest: z.string().nullable() });

export function sessionRow(session: Session): Omit<Selectable<SessionsTable>, 'choice_json'> {
  return {
    id: session.id,
    invocation_id: session.invocationId,
    attempt: session.attempt,
    status: session.status,
    reason_json: toJsonOrNull(session.reason),
    artifact_contract_json: toJsonOrNull(session.contract),
    artifact_verification_json: toJsonOrNull(session.verification),
    started_at: toText(session.startedAt),
    finished_at: toText(session.finishedAt),
  };
}

/** Does not validate the contract, like a run's definition. The session validates it when it starts. */
export function sessionOf(row: Selectable<SessionsTable>): Session {
  return reading('sessions', row.id, () => ({
    id: row.id,
    invocationId: row.invocation_id,
    attempt: row.attempt,
    status: row.status,
    reason: fromJsonOrNull(reasonSchema, row.reason_json),
    contract: row.artifact_contract_json === null ? null : parseJson<Contract>(row.artifact_contract_json),
    verification:
      row.artifact_verification_json === null ? null : verificationIn(row.artifact_verification_json),
    ...choiceIn(row),
    startedAt: toDate(row.started_at),
    finishedAt: toDateOrNull(row.finished_at),
  }));
}

function choiceIn({ choice_json }: Pick<Selectable<SessionsTable>, 'choice_json'>): { choice?: SkillChoice } {
  return choice_json === null ? {} : { choice: fromJson(skillChoiceSchema, choice_json) };
}
