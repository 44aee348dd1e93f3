// @module-tag security

import { describe, expect, test } from 'vitest';
import { type Acceptance, judgedAgain } from '../../../src/domain/outcome/accept.ts';
import type { Finding, Severity } from '../../../src/domain/outcome/finding.ts';
import { fingerprintHash } from '../../../src/domain/outcome/fingerprint.ts';
import type { ReviewVerdict } from '../../../src/domain/outcome/review-verdict.ts';
import { reviewWithAccepted } from '../../../src/engine/steps/judged-findings.ts';
import { at, reviewOutcome } from '../../support/builders.ts';

const mia = { id: 10, login: 'mia' };

function finding(severity: Severity, line: string, more: Partial<Finding> = {}): Finding {
  return {
    severity,
    category: 'correctness',
    file: 'db/1.sql',
    line: 1,
    description: 'This loses data.',
    suggestion: null,
    rule: 'sql-migrations/drop-column',
    evidence: line,
    ...more,
  };
}

const drop = finding('high', 'DROP COLUMN a');
const lock = finding('medium', 'CREATE INDEX b');
const note = finding('info', 'SELECT 1');

function review(findings: Finding[], more: Partial<ReviewVerdict> = {}): ReviewVerdict {
  const outcome = reviewOutcome(false, '1 high finding must be fixed first.') as ReviewVerdict;
  return { ...outcome, findings, ...more };
}

function accepted(one: Finding, more: Partial<Acceptance> = {}): Acceptance {
  return {
    finding: fingerprintHash(one),
    severity: one.severity,
    by: mia,
    because: 'intended',
    at: at(0),
    ...more,
  };
}

describe('the verdict of a review', () => {
  test.each<[string, ReviewVerdict, Acceptance[], ReviewVerdict['verdict']]>([
    ['stays without an acceptance', review([drop]), [], 'REQUEST_CHANGES'],
    ['passes once its only blocking finding is accepted', review([drop]), [accepted(drop)], 'APPROVE'],
    ['keeps its suggestions', review([drop, lock]), [accepted(drop)], 'APPROVE_WITH_SUGGESTIONS'],
    ['ignores notes', review([drop, note]), [accepted(drop)], 'APPROVE'],
    ['stays while another finding blocks', review([drop, lock]), [accepted(lock)], 'REQUEST_CHANGES'],
    ['is not lifted from a rejection', review([drop], { verdict: 'REJECT' }), [accepted(drop)], 'REJECT'],
    ['is missing if the review is incomplete', review([drop], { incomplete: true }), [accepted(drop)], null],
    [
      'is missing if an analyzer crashed',
      review([drop], {
        analyzers: [{ name: 'x', version: '1', status: 'crashed', files: 1, duration_ms: 1 }],
      }),
      [accepted(drop)],
      null,
    ],
    [
      'is missing if an older version says in words that the review is incomplete',
      review([drop], { summary: '1 high finding. The review is incomplete: x was not reviewed.' }),
      [accepted(drop)],
      null,
    ],
    ['stays missing', review([lock], { verdict: null, passed: null }), [accepted(lock)], null],
    ['stays as a skill stated it without findings', review([]), [], 'REQUEST_CHANGES'],
    [
      'stays as a skill stated it while not every finding is accepted',
      review([lock, note]),
      [accepted(lock)],
      'REQUEST_CHANGES',
    ],
    [
      'passes once every finding behind what a skill stated is accepted',
      review([lock, note]),
      [accepted(lock), accepted(note)],
      'APPROVE',
    ],
    [
      'stays if the finding weighs more than when it was accepted',
      review([drop]),
      [accepted(drop, { severity: 'medium' })],
      'REQUEST_CHANGES',
    ],
    [
      'stays if only a similar finding is accepted',
      review([drop]),
      [accepted(finding('high', 'DROP COLUMN b'))],
      'REQUEST_CHANGES',
    ],
    [
      'stays if only the beginning of the hash fits',
      review([drop]),
      [accepted(drop, { finding: fingerprintHash(drop).slice(0, 8) })],
      'REQUEST_CHANGES',
    ],
  ])('%s', (_, before, acceptances, verdict) => {
    const judged = judgedAgain(before, acceptances);
    expect(judged.verdict).toBe(verdict);
    expect(judged.passed).toBe(verdict === null ? null : verdict.startsWith('APPROVE'));
  });
});

describe('a review that is judged again', () => {
  test('has the accepted findings beside the others, and a summary that says so', () => {
    const judged = reviewWithAccepted(review([drop, lock]), [accepted(drop)]);
    expect(judged).toMatchObject({
      verdict: 'APPROVE_WITH_SUGGESTIONS',
      findings: [lock],
      accepted: [{ finding: drop, by: mia, because: 'intended' }],
      summary: '1 finding accepted by mia; 1 medium left, and nothing that stands in the way of merging.',
    });
    expect(judged.content_hash).not.toBe(review([drop, lock]).content_hash);
  });

  test('is the same if it is judged a second time', () => {
    const once = reviewWithAccepted(review([drop, lock]), [accepted(drop)]);
    expect(reviewWithAccepted(once, [accepted(drop)])).toEqual(once);
  });

  test('requests changes again once an acceptance is withdrawn', () => {
    const once = reviewWithAccepted(review([drop, lock]), [accepted(drop)]);
    expect(reviewWithAccepted(once, [])).toMatchObject({
      verdict: 'REQUEST_CHANGES',
      findings: [lock, drop],
      summary: 'No finding is accepted any more: 1 high, 1 medium.',
    });
  });

  test('requests changes again for a reason that no finding stands for', () => {
    const all = [accepted(lock), accepted(note)];
    const once = reviewWithAccepted(review([lock, note]), all);
    expect(once.verdict).toBe('APPROVE');
    expect(reviewWithAccepted(once, [accepted(note)]).verdict).toBe('REQUEST_CHANGES');
    expect(reviewWithAccepted(reviewWithAccepted(once, []), all).verdict).toBe('APPROVE');
  });

  test('stays incomplete however often it is judged', () => {
    const old = review([drop, lock], { summary: 'The review is incomplete: x was not reviewed.' });
    const once = reviewWithAccepted(old, [accepted(lock)]);
    expect(reviewWithAccepted(once, [accepted(lock), accepted(drop)])).toMatchObject({
      verdict: null,
      summary: '2 findings accepted by mia; the review is incomplete, so there is no verdict.',
    });
  });

  test('leaves out the rules that the settings ignore, and says so', () => {
    expect(reviewWithAccepted(review([drop]), [], ['sql-migrations/drop-column'])).toMatchObject({
      verdict: 'APPROVE',
      findings: [],
      summary: '1 finding of rules that the settings ignore; nothing else was found.',
      notes: ['Left out, because the settings ignore the rule sql-migrations/drop-column: 1 finding.'],
    });
  });
});
