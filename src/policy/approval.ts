import type { Why } from '../run/why.ts';

export const APPROVAL_STATUSES = ['open', 'countersigned', 'rejected', 'void'] as const;
export type ApprovalStatus = (typeof APPROVAL_STATUSES)[number];

/** A question put to the maintainers: may this head be merged into this base? One per run and head. */
export interface Approval {
  id: string;
  runId: string;
  invocationId: string;
  headSha: string;
  baseRef: string;
  status: ApprovalStatus;
  askedAt: Date;
  lookedAt: Date | null;
  /** What the last look found. */
  decision: Why | null;
  countersignedBy: string[];
}
