import type { EffectStatus } from '../domain/effect/effect.ts';
import type { RunStatus } from '../domain/run/run.ts';
import type { SkillTrace } from './skill-traces.ts';
import type { Visible } from './visible.ts';

/** A delivery without its body. */
export interface DeliveryOutline {
  id: number;
  guid: string;
  event: string;
  action: string | null;
  installationId: number | null;
  receivedAt: Date;
  status: 'received' | 'processing' | 'done' | 'failed';
  attempts: number;
  error: string | null;
  finishedAt: Date | null;
}

export interface DeliverySearch {
  status?: DeliveryOutline['status'];
  event?: string;
  /** `owner/name`, in any case. */
  repository?: string;
  /** In the event with its action, the GUID or the error, in any case. */
  text?: string;
  /** Only those with smaller numbers. */
  before?: number;
  limit: number;
}

export interface FoundDeliveries {
  items: DeliveryOutline[];
  /** Where to go on; a page can have few items or none, because it looks at a bounded number of deliveries. */
  next?: number;
}

/** The next attempt at a delivery. */
export interface DeliveryJob {
  at: Date;
  /** That failed. */
  attempts: number;
  /** Since when GitHub cannot be asked. */
  outageSince: Date | null;
  /** A worker has it. */
  isHeld: boolean;
}

/** How many runs of a chain a repository has, by status. */
export interface ChainUse {
  chain: string;
  repositoryId: number;
  repository: string;
  runs: Partial<Record<RunStatus, number>>;
  newest: { id: string; at: Date };
}

/** What a list of chains is narrowed to. */
interface ChainFilter {
  names?: readonly string[];
  /** `owner/name`, in any case. */
  repository?: string;
  /** Somewhere in the name of the chain or of its repository. */
  text?: string;
  /** Only those whose newest run is older. */
  after?: ChainUse['newest'];
  /** At most 500, which is the default. */
  limit?: number;
}

/** How long a step took in one run. */
export interface StepTime {
  stepId: string;
  index: number;
  ms: number;
}

/** One effect as a list shows it; its content can be large and stays in the database. */
export interface EffectOutline {
  id: string;
  key: string;
  kind: string;
  status: EffectStatus;
  attempts: number;
  error: string | null;
  runId: string | null;
  updatedAt: Date;
}

/** The jobs of one kind. */
export interface QueuedJobs {
  kind: string;
  /** Could begin now. */
  due: number;
  /** A worker has them. */
  held: number;
  /** Wait for their time. */
  later: number;
  /** Failed at least once. */
  retried: number;
  /** Wait until GitHub can be asked again. */
  outage: number;
  /** The oldest that is due or held. */
  oldest: Date | null;
}

/** What the calls of one model used on one day. */
export interface ModelDay {
  /** In UTC, such as `2026-03-01`. */
  day: string;
  model: string;
  calls: number;
  failed: number;
  /** Of calls that have not ended, or whose usage is unknown: what they reserved. */
  tokens: number;
  /** In millionths of a dollar. */
  cost: number;
  /** Of these calls, the cost is unknown. */
  unpriced: number;
}

/** How a skill was used, in the newest traces. */
export interface SkillUse {
  skill: string;
  traces: number;
  failed: number;
  tokens: number;
  /** In millionths of a dollar. */
  cost: number;
  lastAt: Date;
}

export type VisibleTrace = Pick<
  SkillTrace,
  'id' | 'skillId' | 'artifact' | 'kind' | 'error' | 'startedAt' | 'completedAt' | 'model' | 'cost'
> & { runId: string | null; repository: string };

/** A package as it was once stored. */
export interface StoredVersion {
  id: string;
  version: string | null;
  source: string;
  /** The index that it is in force from. */
  index: string | null;
  createdAt: Date;
}

/** The questions of pages for operators, and about chains and skills. The number of statements never grows with the rows. */
export interface Operations {
  /** The one with the newest run first. */
  chains(visible: Visible, filter: ChainFilter): Promise<ChainUse[]>;
  /** The names of those that have runs. */
  repositories(visible: Visible): Promise<string[]>;
  /** Of the chain's newest runs that have ended, at most so many. */
  stepTimes(visible: Visible, chain: string, runs: number): Promise<StepTime[]>;
  /** Newest first. */
  deliveries(search: DeliverySearch): Promise<FoundDeliveries>;
  /** `bodyBytes`: `null` if retention deleted what GitHub sent. */
  delivery(
    by: { guid: string } | { id: number },
  ): Promise<(DeliveryOutline & { bodyBytes: number | null }) | undefined>;
  /** The job that processes the delivery. @param most among how many jobs it is looked for */
  jobOfDelivery(deliveryId: number, most: number): Promise<DeliveryJob | undefined>;
  /** Last changed first. */
  effects(filter: {
    status: EffectStatus;
    before?: { at: Date; id: string };
    limit: number;
  }): Promise<EffectOutline[]>;
  /** @param most how many jobs are counted */
  jobs(now: Date, most: number): Promise<QueuedJobs[]>;
  /** The owner of some repository of each installation, by the newest runs. @param newest how many runs count */
  owners(newest: number): Promise<Map<number, string>>;
  /** Of so many days until today, newest first. */
  modelDays(today: Date, days: number): Promise<ModelDay[]>;
  /** @param newest how many traces count */
  skills(visible: Visible, newest: number): Promise<SkillUse[]>;
  /** Newest first. */
  tracesOf(visible: Visible, skill: string, limit: number): Promise<VisibleTrace[]>;
  /** Those of Countersign and of indexes, newest first; of packages of repositories, only those with these ids. */
  versionsOf(skill: string, ids: readonly string[]): Promise<StoredVersion[]>;
}
