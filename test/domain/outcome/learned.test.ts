import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import type { Finding, Severity } from '../../../src/domain/outcome/finding.ts';
import {
  canBeLearned,
  hiddenByRule,
  isHidden,
  learnedIn,
  learnedOn,
  type RuleHistory,
  shownFindings,
} from '../../../src/domain/outcome/learned.ts';
import { at } from '../../support/rows.ts';

const MIA = { id: 10, login: 'mia' };

function finding(more: Partial<Finding> = {}): Finding {
  return {
    severity: 'medium',
    category: 'style',
    file: 'src/a.ts',
    line: 1,
    description: 'A name is short.',
    suggestion: null,
    rule: 'oxlint/short-name',
    evidence: 'let x',
    ...more,
  };
}

function history(pullRequests: readonly number[], more: Partial<RuleHistory> = {}): RuleHistory {
  return {
    repositoryId: 70,
    rule: 'oxlint/short-name',
    foundOn: pullRequests.length,
    accepted: pullRequests.map((pullRequest) => ({ pullRequest, severity: 'medium', by: MIA, at: at(0) })),
    ...more,
  };
}

const anybody = () => true;

describe('a rule is learned', () => {
  test('from acceptances on three pull requests', () => {
    expect(learnedOn(history([1, 2, 3]), 'medium', anybody)).toBe(3);
  });

  test('not from three acceptances on two pull requests', () => {
    expect(learnedOn(history([1, 2, 2]), 'medium', anybody)).toBeUndefined();
  });

  test('only if those are half of the pull requests on which it was found', () => {
    expect(learnedOn(history([1, 2, 3], { foundOn: 6 }), 'medium', anybody)).toBe(3);
    expect(learnedOn(history([1, 2, 3], { foundOn: 7 }), 'medium', anybody)).toBeUndefined();
  });

  test('only from people whose acceptance counts', () => {
    const some = history([1, 2, 3]);
    const [first, second, third] = some.accepted;
    if (!first || !second || !third) throw new Error('there are three');
    const accepted = [first, second, { ...third, by: { id: 11, login: 'ada' } }];
    expect(learnedOn({ ...some, accepted }, 'medium', ({ by }) => by.id !== 11)).toBeUndefined();
    expect(learnedOn({ ...some, accepted }, 'medium', anybody)).toBe(3);
  });

  test('only for findings that weigh no more than what was accepted', () => {
    const weigh: [Severity, number | undefined][] = [
      ['critical', undefined],
      ['high', undefined],
      ['medium', 3],
      ['low', 3],
    ];
    for (const [severity, on] of weigh)
      expect(learnedOn(history([1, 2, 3]), severity, anybody), severity).toBe(on);
  });
});

describe('a rule can be learned', () => {
  const [version, status] = ['1', 'ok'] as const;
  const review = { analyzers: [{ name: 'sql', version, status, files: 1, duration_ms: 1 }] };

  test.each([
    ['of an analyzer of the review', 'sql/index-locks-writes', true],
    ['not of what no analyzer of the review found', 'naming/ask.md', false],
    ['not of an analyzer whose name only begins so', 'sql2/index-locks-writes', false],
    ['not that a file could not be analysed', 'sql/not-analysed', false],
  ])('%s', (_, rule, can) => {
    expect(canBeLearned(rule, review)).toBe(can);
  });
});

describe('what was learned', () => {
  const learned = (findings: Finding[], severity: Severity = 'medium') =>
    learnedIn(
      findings,
      [...new Set(findings.map(({ rule }) => rule))].map((rule) => {
        const all = history([1, 2, 3, 4], { rule });
        return { ...all, accepted: all.accepted.map((one) => ({ ...one, severity })) };
      }),
      anybody,
    );

  test('hides a suggestion, and says how many of which rule', () => {
    const findings = [finding(), finding({ line: 2 }), finding({ evidence: 'let y', severity: 'low' })];
    const review = { findings, learned: learned(findings) };
    expect(shownFindings(review)).toEqual([]);
    expect(hiddenByRule(review)).toEqual([{ rule: 'oxlint/short-name', count: 3, pullRequests: 4 }]);
  });

  test('never hides what blocks, however often it was accepted', () => {
    const findings = [finding({ severity: 'critical' }), finding({ severity: 'high', evidence: 'let y' })];
    const review = { findings, learned: learned(findings, 'critical') };
    expect(review.learned).toHaveLength(1);
    expect(shownFindings(review)).toEqual(findings);
    expect(hiddenByRule(review)).toEqual([]);
  });

  test('never hides what a model found, because its rule is only a category', () => {
    const findings = [finding({ rule: 'model/style' })];
    expect(shownFindings({ findings, learned: learned(findings) })).toEqual(findings);
  });

  test('shows a line of which one finding is not learned', () => {
    const findings = [finding({ severity: 'medium' }), finding({ severity: 'low' })];
    const histories = [history([1, 2, 3])].map((one) => ({
      ...one,
      accepted: one.accepted.map((acceptance) => ({ ...acceptance, severity: 'low' as const })),
    }));
    expect(learnedIn(findings, histories, anybody)).toEqual([]);
  });

  test('hides nothing of a rule that it does not name, even with the same hash', () => {
    const [entry] = learned([finding()]);
    if (!entry) throw new Error('it is learned');
    expect(isHidden(finding(), [entry])).toBe(true);
    expect(isHidden(finding(), [{ ...entry, rule: 'oxlint/other' }])).toBe(false);
  });

  test('never hides a blocking finding, whatever people accepted', () => {
    const severity = fc.constantFrom<Severity>('critical', 'high', 'medium', 'low', 'info');
    const acceptance = fc.record({ pullRequest: fc.integer({ min: 1, max: 9 }), severity });
    fc.assert(
      fc.property(
        severity,
        fc.array(acceptance, { maxLength: 20 }),
        fc.nat(20),
        (found, accepted, foundOn) => {
          const one = history([], {
            foundOn: Math.max(1, foundOn),
            accepted: accepted.map((rest) => ({ ...rest, by: MIA, at: at(0) })),
          });
          const findings = [finding({ severity: found })];
          const isShown =
            shownFindings({ findings, learned: learnedIn(findings, [one], anybody) }).length === 1;
          if (found === 'critical' || found === 'high') expect(isShown).toBe(true);
          if (!isShown)
            expect(new Set(accepted.map(({ pullRequest }) => pullRequest)).size).toBeGreaterThan(2);
        },
      ),
    );
  });
});
