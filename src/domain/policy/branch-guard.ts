/**
 * Why somebody with no more than write access decides what a branch holds; `undefined` when they do not, so that the branch may
 * say by its own files who may merge into it.
 *
 * Two things take a branch out of their hands, and both are needed:
 * - "Require a pull request before merging" or "Restrict updates" keeps them from pushing to it.
 * - "Restrict creations" keeps them from making it. Without, they can push a branch that the rules' pattern is about for the first
 *   time, with files of their own, as a pull request is only required of a branch that is there.
 * https://docs.github.com/en/repositories/configuring-branches-and-merges-in-your-repository/managing-rulesets/available-rules-for-rulesets
 *
 * Nothing else counts. Required checks can be reported by whoever can write; signatures, linear history and "Block force pushes" let
 * a plain push pass; a merge queue is not documented to refuse one. GitHub's flag `protected` is not asked: any rule sets it, also
 * one that only forbids deletion. What classic branch protection asks for is shown to administrators alone
 * (https://docs.github.com/en/rest/branches/branch-protection), so a branch that has nothing else counts as not protected.
 * @param rules the types of the rules in force for it, as GitHub names them
 */
export function openToWriters(rules: readonly string[]): string | undefined {
  if (!rules.includes('pull_request') && !rules.includes('update')) return 'whoever can write can push to it';
  return rules.includes('creation') ? undefined : 'whoever can write can make a branch of that name';
}
