import { z } from 'zod';
import { shortHash } from '../../core/canonical.ts';
import type { Explanation } from '../explanation/explanation.ts';

export const APPROVAL_STATUSES = ['open', 'countersigned', 'rejected', 'void'] as const;
export type ApprovalStatus = (typeof APPROVAL_STATUSES)[number];

/** What somebody can say to a question in words, by a command or a button. */
export const SAYINGS = ['approve', 'reject'] as const;
export type Saying = (typeof SAYINGS)[number];

/** Somebody who answered. The id is who it is; the login is how GitHub is asked, and who else comes to have it has not answered. */
const answeringPersonSchema = z.strictObject({ id: z.int(), login: z.string() });
export type AnsweringPerson = z.infer<typeof answeringPersonSchema>;
export const answeringPeopleSchema = z.array(answeringPersonSchema);

/**
 * A person's answer in words. It is kept with the very question it was given to, so for its head and base, and is never
 * trusted by itself: whether that person may answer is read again for each look.
 */
export const spokenAnswerSchema = z.strictObject({
  person: answeringPersonSchema,
  says: z.enum(SAYINGS),
  /** ISO 8601. */
  at: z.iso.datetime(),
});
export type SpokenAnswer = z.infer<typeof spokenAnswerSchema>;

/** What people are told of commits that nobody can be credited with, and of what follows from it. */
export const askedAuthorshipSchema = z.strictObject({
  /** How many countersigns are needed. */
  needed: z.int(),
  unattributed: z.array(z.strictObject({ lacks: z.enum(['author', 'pusher']), sha: z.string() })),
});
export type AskedAuthorship = z.infer<typeof askedAuthorshipSchema>;

const TAG_LETTERS = 12;

/**
 * A question's name within the 20 characters of a button's identifier. A button without one would answer whatever question is
 * open when it is pressed, which need not be the one that was read.
 */
export function questionTag({ id }: Pick<Approval, 'id'>): string {
  return shortHash(id, TAG_LETTERS);
}

/** The answers with one more: the last word of a person takes the place of any before. */
export function withAnswer(answers: readonly SpokenAnswer[], said: SpokenAnswer): SpokenAnswer[] {
  return [...answers.filter(({ person }) => person.id !== said.person.id), said];
}

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
  decision: Explanation | null;
  countersignedBy: string[];
  /** Whose rejection ended the question. */
  rejectedBy: readonly AnsweringPerson[];
  /** By command or button; nothing can be said so of a merge. */
  answers: readonly SpokenAnswer[];
  /** Whom the commits could not be credited to, when it was last read; `null` before that. */
  authorship: AskedAuthorship | null;
}
