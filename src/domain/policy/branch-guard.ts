/**
 * Why people with only write access decide what a branch contains; `undefined` if they do not, so that the
 * branch's own files may configure merges into it.
 *
 * Two things are required to take the branch out of their hands:
 * - "Require a pull request before merging" or "Restrict updates" keeps them from pushing to it.
 * - "Restrict creations" keeps them from creating it. Without that, they can be the first to push a branch
 *   that the rule's pattern matches, with files of their own, because a pull request is only required for an
 *   existing branch.
 *
 * https://docs.github.com/en/repositories/configuring-branches-and-merges-in-your-repository/managing-rulesets/available-rules-for-rulesets
 *
 * Nothing else counts. Required checks can be reported by everybody with write access. Signatures, linear
 * history and "Block force pushes" allow a normal push. GitHub does not document that a merge queue refuses
 * one. The flag `protected` is not enough, because any rule sets it, even one that only forbids deletion.
 * GitHub shows classic branch protection only to administrators
 * (https://docs.github.com/en/rest/branches/branch-protection), so a branch with nothing else counts as
 * unprotected.
 * @param rules the types of the rules that apply to the branch, as GitHub names them
 */
export function openToWriters(rules: readonly string[]): string | undefined {
  if (!rules.includes('pull_request') && !rules.includes('update')) return 'whoever can write can push to it';
  return rules.includes('creation') ? undefined : 'whoever can write can make a branch of that name';
}
