import { z } from 'zod';

/** What GitHub shows of the conversations and the required reviews of a pull request. No decision rests on it. */
const discussionSchema = z.strictObject({
  /** The base branch requires reviews, and some are missing. */
  lacks_reviews: z.boolean(),
  /** How many approving reviews the base branch requires, as far as GitHub says so. */
  needed_reviews: z.int(),
  /** How many conversations are unresolved. */
  unresolved: z.int(),
  /** There are more conversations than were counted. */
  more: z.boolean(),
  /** The base branch requires that all conversations are resolved. */
  must_resolve: z.boolean(),
});
export type Discussion = z.infer<typeof discussionSchema>;

/** What people have said on GitHub about the head of a question, beside their answers to it. */
export const saidOnGitHubSchema = z.strictObject({
  /** Logins of those who may countersign and whose review approves this head. */
  approved_by: z.array(z.string()),
  /** `null` if GitHub did not show it. */
  discussion: discussionSchema.nullable(),
});
export type SaidOnGitHub = z.infer<typeof saidOnGitHubSchema>;

/**
 * Why GitHub would refuse the merge as things stand, as sentences without a full stop. GitHub decides that itself: an App that
 * may bypass the rules merges anyway. So this is said before anybody is asked, and blocks no merge.
 */
export function refusedByGitHub({ discussion }: SaidOnGitHub, baseRef: string): string[] {
  if (!discussion) return [];
  const { lacks_reviews, needed_reviews, must_resolve, unresolved } = discussion;
  return [
    ...(lacks_reviews
      ? [
          needed_reviews > 1
            ? `the branch ${baseRef} requires ${needed_reviews} approving reviews, and GitHub says that some are missing`
            : `the branch ${baseRef} requires an approving review, and GitHub says that it is missing`,
        ]
      : []),
    ...(must_resolve && unresolved > 0
      ? [
          `the branch ${baseRef} requires that every conversation is resolved, and ${unresolvedInWords(discussion)} not`,
        ]
      : []),
  ];
}

/** `2 are`, `1 is` or `at least 100 are`. */
export function unresolvedInWords({ unresolved, more }: Discussion): string {
  return `${more ? 'at least ' : ''}${unresolved} ${unresolved === 1 ? 'is' : 'are'}`;
}
