import { type Finding, isBlocking, SEVERITIES, type Severity } from './finding.ts';
import { fingerprintHash } from './fingerprint.ts';
import { MOSTLY } from './learn.ts';
import type { LearnedRule, ReviewVerdict } from './review-verdict.ts';

/** On which pull requests of a repository reviews found a rule, and what people accepted of it. */
export interface RuleHistory {
  repositoryId: number;
  rule: string;
  /** On how many pull requests reviews have found it. */
  foundOn: number;
  /**
   * What people accepted since the rule was last forgotten, the newest first. Only on pull requests that `foundOn` counts, so that a
   * share can be computed.
   */
  accepted: readonly {
    pullRequest: number;
    severity: Severity;
    by: { id: number; login: string };
    at: Date;
  }[];
}

/**
 * A rule is learned if people accepted it on at least so many pull requests, and mostly on those on which reviews found it.
 * docs/adr/0068 has the reasons.
 */
const LEARNED_AFTER = 3;

/**
 * On how many pull requests people accepted findings of the rule that weigh as much as this one or more. `undefined` if that is
 * too few, or less than half of those on which it was found: in doubt, a finding is shown.
 * @param counts whether an acceptance by this person, on this pull request, counts
 */
export function learnedOn(
  { accepted, foundOn }: RuleHistory,
  severity: Severity,
  counts: (acceptance: RuleHistory['accepted'][number]) => boolean,
): number | undefined {
  const heavyEnough = accepted.filter(
    (one) => SEVERITIES.indexOf(one.severity) <= SEVERITIES.indexOf(severity) && counts(one),
  );
  const on = new Set(heavyEnough.map(({ pullRequest }) => pullRequest)).size;
  return on >= LEARNED_AFTER && on / foundOn >= MOSTLY ? on : undefined;
}

/** The rule of a file that could not be read: each time, something else is left unsaid. */
const NOT_ANALYSED = '/not-analysed';

/**
 * Whether something can be learned about a rule: an analyzer of the review found it, so the rule names one cause. The prompts, agents and
 * programs of a package have one rule for all that they say, about anything.
 */
export function canBeLearned(rule: string, { analyzers }: Pick<ReviewVerdict, 'analyzers'>): boolean {
  return !rule.endsWith(NOT_ANALYSED) && analyzers.some(({ name }) => rule.startsWith(`${name}/`));
}

/** A rule whose findings are not shown on new pull requests of the repository, as far as people who accepted them may still countersign. */
export interface HiddenRule extends Pick<RuleHistory, 'repositoryId' | 'rule' | 'foundOn'> {
  acceptedOn: number;
  /** Findings that weigh more are shown. */
  upTo: Severity;
  by: readonly string[];
}

/** The rules that hide something, by repository and name. */
export function hiddenRules(histories: readonly RuleHistory[]): HiddenRule[] {
  return histories.flatMap((history) => {
    const { repositoryId, rule, foundOn, accepted } = history;
    for (const severity of SEVERITIES) {
      const on = mayBeHidden({ severity, rule }) ? learnedOn(history, severity, () => true) : undefined;
      if (on === undefined) continue;
      const by = [...new Set(accepted.map((one) => one.by.login))];
      return [{ repositoryId, rule, foundOn, acceptedOn: on, upTo: severity, by }];
    }
    return [];
  });
}

/** The findings of a review that belong to what was learned, by rule. */
export function learnedIn(
  findings: readonly Finding[],
  histories: readonly RuleHistory[],
  counts: (acceptance: RuleHistory['accepted'][number]) => boolean,
): LearnedRule[] {
  const historyOf = new Map(histories.map((history) => [history.rule, history]));
  return [...Map.groupBy(findings, ({ rule }) => rule)].flatMap(([rule, ofRule]) => {
    const history = historyOf.get(rule);
    if (!history) return [];
    const on = (finding: Finding) => learnedOn(history, finding.severity, counts);
    // One line can have the same finding twice, with two severities.
    const others = new Set(ofRule.filter((finding) => on(finding) === undefined).map(fingerprintHash));
    const learned = ofRule.filter((finding) => !others.has(fingerprintHash(finding)));
    const [first] = learned;
    if (!first) return [];
    const least = Math.min(...learned.map((finding) => on(finding) ?? 0));
    return [{ rule, pull_requests: least, findings: [...new Set(learned.map(fingerprintHash))] }];
  });
}

/** Whether people have mostly accepted such findings: they come after the others of their severity. */
export function isLearned(finding: Finding, learned: readonly LearnedRule[] | undefined): boolean {
  if (!learned) return false;
  const of = learned.find(({ rule }) => rule === finding.rule);
  return of?.findings.includes(fingerprintHash(finding)) ?? false;
}

/**
 * Whether the finding is not shown. What blocks a merge is always shown, because people have to know what to do about it. So is a
 * model's finding: its "rule" is only a category, in which the next one can be about something else.
 */
export function isHidden(finding: Finding, learned: readonly LearnedRule[] | undefined): boolean {
  return mayBeHidden(finding) && isLearned(finding, learned);
}

function mayBeHidden(finding: Pick<Finding, 'severity' | 'rule'>): boolean {
  return !isBlocking(finding) && !finding.rule.startsWith('model/');
}

/** The findings of a review that are shown. The others count for its verdict all the same. */
export function shownFindings({
  findings,
  learned,
}: { findings: readonly Finding[] } & Pick<ReviewVerdict, 'learned'>): Finding[] {
  return findings.filter((finding) => !isHidden(finding, learned));
}

/** How many findings of a review are not shown, by rule. */
export function hiddenByRule({
  findings,
  learned = [],
}: Pick<ReviewVerdict, 'findings' | 'learned'>): { rule: string; count: number; pullRequests: number }[] {
  return learned.flatMap(({ rule, pull_requests }) => {
    const count = findings.filter((finding) => finding.rule === rule && isHidden(finding, learned)).length;
    return count === 0 ? [] : [{ rule, count, pullRequests: pull_requests }];
  });
}
