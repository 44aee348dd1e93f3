import type { Generated } from 'kysely';
import type { ChainStatus } from '../../domain/chain/stored.ts';
import type { OrderedVerb } from '../../domain/command/order.ts';
import type { EffectStatus } from '../../domain/effect/effect.ts';
import type { Severity } from '../../domain/outcome/finding.ts';
import type { ApprovalStatus } from '../../domain/policy/approval.ts';
import type { GateProtection } from '../../domain/policy/gate-check.ts';
import type { Rollout, RolloutLevel } from '../../domain/policy/rollout.ts';
import type { Figure } from '../../domain/run/figures.ts';
import type { PastTransition } from '../../domain/run/history.ts';
import type { RunStatus, SessionStatus, StepStatus } from '../../domain/run/run.ts';
import type { SkillArtifact } from '../../domain/skill/skill.ts';
import type { Firing } from '../../ports/firings.ts';
import type { PullRequestState } from '../../ports/retention.ts';
import type { DeliveryStatus, SkillSource } from '../../ports/storage.ts';
import type { Pack, Place } from './body-packs.ts';

/**
 * The tables as every database has them. A driver returns times as ISO 8601 text (UTC, milliseconds), JSON as
 * text, flags as 0 or 1, and big integers as numbers. This is the whole interface between SQLite and
 * PostgreSQL.
 */
export interface Database {
  deliveries: DeliveriesTable;
  delivery_archives: {
    last_id: number;
    first_id: number;
    newest_at: string;
    deliveries: number;
    content: Uint8Array;
  };
  archived_guids: { hash: number; archive_id: number };
  body_packs: Pack & { id: Generated<number> };
  delivery_bodies: Place & { delivery_id: number; pack_id: number };
  pull_requests: PullRequestsTable;
  former_names: { repository: string; repository_id: number; renamed_at: string };
  daily_figures: DailyFiguresTable;
  /** Triggers count in it what `pull_requests` says. */
  lead_figures: LeadFiguresTable;
  repository_states: RepositoryStatesTable;
  pushes: PushesTable;
  chain_runs: ChainRunsTable;
  run_archives: {
    id: Generated<number>;
    effects: number;
    artifacts: number;
    content: Uint8Array;
    results: Generated<string | null>;
  };
  archived_keys: { hash: number; archive_id: number };
  invocations: InvocationsTable;
  sessions: SessionsTable;
  session_logs: {
    session_id: string;
    position: number;
    run_id: string;
    begun_at: string;
    text: string;
  };
  artifacts: ArtifactsTable;
  approvals: ApprovalsTable;
  effects: EffectsTable;
  jobs: JobsTable;
  status_counts: StatusCountsTable;
  chain_counts: ChainCountsTable;
  newest_of_chains: NewestOfChainsTable;
  transitions: TransitionsTable;
  chains: ChainsTable;
  schedules: {
    repository_id: number;
    chain: string;
    trigger: string;
    installation_id: number;
    repository: string;
    schedule_json: string;
    next_at: string;
  };
  firings: FiringsTable;
  firing_counts: FiringCountsTable;
  composites: CompositesTable;
  cursors: { name: string; position_json: string; updated_at: string };
  gate_protections: {
    repository_id: number;
    branch: string;
    protection: GateProtection;
    read_at: string;
  };
  missed_deliveries: MissedDeliveriesTable;
  applied_commands: AppliedCommandsTable;
  accepted_findings: AcceptedFindingsTable;
  found_rules: FoundRulesTable;
  rule_sightings: RuleSightingsTable;
  forgotten_rules: ForgottenRulesTable;
  skills: SkillsTable;
  skill_artifacts: SkillArtifactsTable;
  model_calls: ModelCallsTable;
  skill_calls: SkillCallsTable;
  thread_replies: ThreadRepliesTable;
  skill_execution_traces: SkillExecutionTracesTable;
  audit_log: AuditLogTable;
  blobs_to_delete: { path: string };
  api_tokens: ApiTokensTable;
  studio_sessions: StudioSessionsTable;
  studio_commands: {
    id: string;
    person_id: number;
    repository_id: number;
    asked_at: string;
    ok: number | null;
    reply: string | null;
  };
  dry_runs: DryRunsTable;
  fired_once: { repository_id: number; head_sha: string; chain: string; subject: string; fired_at: string };
}

export interface DryRunsTable {
  id: string;
  person_id: number;
  repository_id: number;
  repository: string;
  pull_request: number | null;
  chain: string;
  is_pasted: number;
  begun_at: string;
  steps_json: string;
  changes: number;
  stops: number;
  end_json: string | null;
  ended_at: string | null;
}

export interface ApiTokensTable {
  id: string;
  name: string;
  hash: string;
  scopes_json: string;
  repositories_json: string;
  created_at: string;
  expires_at: string;
  revoked_at: string | null;
  used_at: string | null;
  owner_id: number | null;
  owner_login: string | null;
}

export interface StudioSessionsTable {
  token_hash: string;
  previous_hash: string | null;
  previous_until: string | null;
  person_id: number;
  login: string;
  sealed: Uint8Array;
  signed_in_at: string;
  rotated_at: string;
  seen_at: string;
  expires_at: string;
}

export interface CompositesTable {
  repository_id: number;
  chain: string;
  branch: string;
  position: number;
  key: string;
  installation_id: number;
  repository: string;
  definition_json: string;
  state_json: string;
  expires_at: string;
}

export interface FiringsTable {
  id: string;
  repository_id: number;
  chain: string;
  trigger: string;
  occasion: string;
  installation_id: number;
  repository: string;
  status: Firing['status'];
  reason: Firing['reason'];
  summary: string | null;
  count: number;
  run_id: string;
  pull_request: number | null;
  due_at: string;
  updated_at: string;
}

/** Triggers of `firings` maintain it. */
interface FiringCountsTable {
  status: Firing['status'];
  /** Empty if there is none. */
  reason: NonNullable<Firing['reason']> | '';
  count: number;
}

interface ChainsTable {
  id: string;
  owner: string;
  repository: string | null;
  name: string;
  definition: string | null;
  status: ChainStatus;
  created_at: string;
  updated_at: string;
}

export interface AuditLogTable {
  id: Generated<number>;
  at: string;
  kind: string;
  repository_id: number | null;
  repository: string | null;
  pull_request: number | null;
  head_sha: string | null;
  base_ref: string | null;
  configuration_sha: string | null;
  run_id: string | null;
  by_json: string;
  details_json: string;
  once_key: string | null;
}

export interface ModelCallsTable {
  id: Generated<number>;
  run_id: string | null;
  session_id: string | null;
  repository_id: number | null;
  pull_request: number | null;
  skill: string | null;
  artifact: string | null;
  model: string;
  tokens: number;
  cost: number | null;
  tokens_in: number | null;
  tokens_out: number | null;
  started_at: string;
  completed_at: string | null;
  error: string | null;
}

export interface AcceptedFindingsTable {
  repository_id: number;
  pull_request: number;
  head_sha: string;
  finding: string;
  rule: string;
  severity: Severity;
  because: string;
  by_id: number;
  by_login: string;
  accepted_at: string;
}

export interface FoundRulesTable {
  repository_id: number;
  rule: string;
  found: number;
  first_at: string;
  last_at: string;
}

export interface RuleSightingsTable {
  repository_id: number;
  rule: string;
  pull_request: number;
  first_at: string;
}

interface ForgottenRulesTable {
  repository_id: number;
  rule: string;
  forgotten_at: string;
  by_login: string | null;
}

interface AppliedCommandsTable {
  repository_id: number;
  pull_request: number;
  scope: string;
  verb: OrderedVerb;
  actor: string;
  given_json: string;
}

export interface MissedDeliveriesTable {
  guid: string;
  attempt_id: number;
  delivered_at: string;
  asked: number;
  ask_at: string;
}

export interface DeliveriesTable {
  id: Generated<number>;
  guid: string;
  event: string;
  action: string | null;
  installation_id: number | null;
  received_at: string;
  status: DeliveryStatus;
  attempts: number;
  error: string | null;
  finished_at: string | null;
  queue_key: string | null;
}

export interface PullRequestsTable {
  repository_id: number;
  number: number;
  repository: string;
  installation_id: number;
  paused_by: string | null;
  head_sha: string | null;
  previous_head_sha: string | null;
  head_seen_at: string | null;
  updated_at: string;
  state: Generated<PullRequestState | null>;
  state_at: Generated<string | null>;
  title: Generated<string | null>;
  author_id: Generated<number | null>;
  author_login: Generated<string | null>;
  seen_at: Generated<string | null>;
}

export interface DailyFiguresTable {
  day: string;
  repository_id: number;
  what: Figure['what'];
  name: string;
  bucket: number;
  count: number;
  total: number;
}

interface LeadFiguresTable {
  day: string;
  repository_id: number;
  bucket: number;
  count: number;
}

export interface RepositoryStatesTable {
  repository_id: number;
  installation_id: number;
  repository: string;
  branch: string;
  rollout: RolloutLevel;
  rollout_by: NonNullable<Rollout['by']> | null;
  errors: number;
  first_json: string | null;
  changed_at: string;
}

interface PushesTable {
  repository_id: number;
  after_sha: string;
  before_sha: string;
  actor_id: number;
  recorded_at: string;
}

export interface ChainRunsTable {
  id: string;
  installation_id: number;
  repository_id: number;
  repository: string;
  pull_request: number | null;
  head_sha: string;
  base_ref: string;
  base_sha: string;
  chain: string;
  definition_json: string;
  settings_json: string;
  facts_json: string;
  event_json: string;
  delivery_id: number | null;
  status: RunStatus;
  reason_json: string | null;
  paused: number;
  created_at: string;
  updated_at: string;
  finished_at: string | null;
  packed: Generated<number>;
  archive_id: Generated<number | null>;
}

export interface InvocationsTable {
  id: string;
  run_id: string;
  step_index: number;
  step_id: string;
  status: StepStatus;
  reason_json: string | null;
  attempts: number;
  session_id: string | null;
  wait_until: string | null;
  deadline_at: string | null;
  outcome_json: string | null;
  outcome_artifact_id: string | null;
  started_at: string | null;
  finished_at: string | null;
  one_file_json: string | null;
}

export interface SessionsTable {
  id: string;
  invocation_id: string;
  attempt: number;
  status: SessionStatus;
  reason_json: string | null;
  started_at: string;
  finished_at: string | null;
  artifact_contract_json: string | null;
  artifact_verification_json: string | null;
  choice_json: Generated<string | null>;
}

export interface ArtifactsTable {
  id: string;
  run_id: string;
  invocation_id: string;
  session_id: string;
  created_at: string;
  kind: string;
  name: string;
  content: string | null;
  file_path: string | null;
  result: Generated<string>;
}

export interface ApprovalsTable {
  id: string;
  run_id: string;
  invocation_id: string;
  head_sha: string;
  base_ref: string;
  status: ApprovalStatus;
  asked_at: string;
  looked_at: string | null;
  decision_json: string | null;
  countersigned_by_json: string;
  rejected_by_json: string;
  answers_json: string;
  authorship_json: string | null;
  watch_json: string | null;
  reviews_json: string | null;
  notices_json: string | null;
}

export interface EffectsTable {
  id: string;
  key: string;
  effect_json: string;
  wished_hash: string;
  applied_hash: string | null;
  status: EffectStatus;
  github_id: number | null;
  begun: number;
  progress_json: string;
  attempts: number;
  error: string | null;
  run_id: string | null;
  created_at: string;
  updated_at: string;
  /** NULL in rows of versions before 48. */
  installation_id: number | null;
  content_at: string | null;
}

export interface JobsTable {
  id: Generated<number>;
  kind: string;
  key: string;
  payload: string;
  run_at: string;
  attempts: number;
  away_since: string | null;
  lease_token: string | null;
  lease_until: string | null;
  worth: number;
  installation_id: number | null;
}

/** Only triggers write it. */
interface ChainCountsTable {
  chain: string;
  repository_id: number;
  status: RunStatus;
  runs: number;
}

/** Only triggers write it. */
interface NewestOfChainsTable {
  chain: string;
  repository_id: number;
  run_id: string;
  begun_at: string;
}

export interface StatusCountsTable {
  subject: 'delivery' | 'run' | 'effect';
  status: string;
  count: number;
}

export interface TransitionsTable {
  id: Generated<number>;
  subject_kind: 'run' | 'invocation' | 'session';
  subject_id: string;
  from_status: PastTransition['from'];
  to_status: PastTransition['to'];
  reason_code: string | null;
  at: string;
  actor_json: string | null;
}

export interface SkillsTable {
  id: string;
  name: string;
  description: string;
  version: string | null;
  tags_json: string;
  source: SkillSource;
  author: string | null;
  intent_patterns_json: string;
  trigger_phrases_json: string;
  marketplace_id: string | null;
  sync_etag: string | null;
  created_at: string;
  updated_at: string;
}

export interface SkillArtifactsTable {
  id: string;
  skill_id: string;
  kind: SkillArtifact['kind'];
  name: string;
  ordinal: number;
  content: string;
  model_variant: string | null;
  metadata_json: string;
  state_blob: string | null;
}

export interface SkillCallsTable {
  id: string;
  installation_id: number;
  repository_id: number;
  repository: string;
  pull_request: number;
  comment_id: number;
  asked_by: string;
  question: string;
  decision_json: string | null;
  created_at: string;
  finished_at: string | null;
}

interface ThreadRepliesTable {
  comment_id: number;
  thread: number;
  repository_id: number;
  pull_request: number;
  asked_by: string;
  asked_at: string;
}

export interface SkillExecutionTracesTable {
  id: Generated<number>;
  run_id: string | null;
  session_id: string | null;
  call_id: string | null;
  skill: string;
  skill_id: string;
  artifact: string;
  kind: SkillArtifact['kind'];
  input_path: string;
  output_path: string | null;
  error: string | null;
  started_at: string;
  completed_at: string;
  duration_ms: number;
  tokens_in: number | null;
  tokens_out: number | null;
  model: string | null;
  cost: number | null;
  assertions_run: number;
  assertions_passed: number;
}
