import type { Approval } from '../../domain/policy/approval.ts';
import { type CountersignRules, needsReview } from '../../domain/policy/countersign-rules.ts';
import { refusedByGitHub, unresolvedInWords } from '../../domain/policy/discussion.ts';
import { code, inline } from '../text/markdown.ts';
import { asSentence, listed } from '../text/pretty.ts';

const MAX_NAMED = 20;

/** Why GitHub would refuse the merge as things stand, for the top of the approval comment. */
export function refusalAhead({ reviews, baseRef }: Approval): string[] {
  const because = reviews ? refusedByGitHub(reviews, baseRef) : [];
  return because.length === 0
    ? []
    : [
        `> **GitHub refuses the merge for now:** ${because.map((one) => inline(asSentence(one), 400)).join(' ')} You can answer already; the merge follows once that is settled.`,
      ];
}

/** What people have said on GitHub beside their answers to the question, one paragraph each. */
export function saidOnGitHub({ reviews }: Approval, rules: CountersignRules): string[] {
  const { approved_by: by = [], discussion } = reviews ?? {};
  const isMissing = needsReview(rules) && by.length === 0;
  return [
    ...(by.length > 0
      ? [
          `**Approved on GitHub by:** ${listed(
            by.slice(0, MAX_NAMED).map((login) => code(login)),
            'and',
          )}.`,
        ]
      : []),
    ...(isMissing
      ? [
          '**A review is needed, too:** One of those who may answer approves this commit in a review on GitHub. The same person may do both.',
        ]
      : []),
    ...(discussion && discussion.unresolved > 0
      ? [`**Conversations:** ${unresolvedInWords(discussion)} unresolved.`]
      : []),
  ];
}
