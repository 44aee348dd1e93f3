import { z } from 'zod';
import { shortHash } from '../../core/canonical.ts';
import type { Explanation } from '../explanation/explanation.ts';
import type { SaidOnGitHub } from './discussion.ts';
import type { Notices } from './notices.ts';
import type { QuestionWatch } from './question-watch.ts';

const APPROVAL_STATUSES = ['open', 'countersigned', 'rejected', 'void'] as const;
export type ApprovalStatus = (typeof APPROVAL_STATUSES)[number];

/** The answers that a person can give by a command or a button. */
const SAYINGS = ['approve', 'reject'] as const;
export type Saying = (typeof SAYINGS)[number];

/**
 * A person who answered. The id identifies the person. The login is needed for requests to GitHub; another
 * account that later gets this login has not answered.
 */
const answeringPersonSchema = z.strictObject({ id: z.int(), login: z.string() });
export type AnsweringPerson = z.infer<typeof answeringPersonSchema>;
export const answeringPeopleSchema = z.array(answeringPersonSchema);

/**
 * A person's answer by command or button. It is stored with its approval comment, so it is for one head and
 * base. It is never trusted by itself: whether that person may answer is read again at every poll.
 */
export const spokenAnswerSchema = z.strictObject({
  person: answeringPersonSchema,
  says: z.enum(SAYINGS),
  /** ISO 8601. */
  at: z.iso.datetime(),
});
export type SpokenAnswer = z.infer<typeof spokenAnswerSchema>;

/**
 * The approval comment's data about unattributed commits, and how many countersigns are needed because of
 * them.
 */
export const askedAuthorshipSchema = z.strictObject({
  /** How many countersigns are needed. */
  needed: z.int(),
  unattributed: z.array(z.strictObject({ lacks: z.enum(['author', 'pusher']), sha: z.string() })),
});
export type AskedAuthorship = z.infer<typeof askedAuthorshipSchema>;

const TAG_LETTERS = 12;

/**
 * The name of an approval comment, short enough for a button's identifier (20 characters). A button without
 * it would answer the currently open approval comment, which may not be the one that its user read.
 */
export function questionTag({ id }: Pick<Approval, 'id'>): string {
  return shortHash(id, TAG_LETTERS);
}

/** The key of the effect that writes an approval's comment. */
export function approvalKey(approvalId: string): string {
  return `approval:${approvalId}`;
}

/** The answers with one added, which replaces the person's earlier one. */
export function withAnswer(answers: readonly SpokenAnswer[], said: SpokenAnswer): SpokenAnswer[] {
  return [...answers.filter(({ person }) => person.id !== said.person.id), said];
}

/** An approval comment: may this head be merged into this base? One per run and head. */
export interface Approval {
  id: string;
  runId: string;
  invocationId: string;
  headSha: string;
  baseRef: string;
  status: ApprovalStatus;
  askedAt: Date;
  lookedAt: Date | null;
  /** The result of the last poll. */
  decision: Explanation | null;
  countersignedBy: string[];
  /** The people whose rejection closed the approval comment. */
  rejectedBy: readonly AnsweringPerson[];
  /** By command or button, which never approve a merge. */
  answers: readonly SpokenAnswer[];
  /** The unattributed commits when they were last read; `null` before that. */
  authorship: AskedAuthorship | null;
  /** The reviews and conversations when they were last read; absent before that. */
  reviews?: SaidOnGitHub;
  /** What the last recheck saw, for the poller; `null` before GitHub showed the comment. */
  watch: QuestionWatch | null;
  /** Whom it notified; absent before that. `Approvals.save` does not write it. */
  notices?: Notices;
}
