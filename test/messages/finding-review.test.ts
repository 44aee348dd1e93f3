import { expect, test } from 'vitest';
import type { EffectOf } from '../../src/domain/effect/effect.ts';
import type { Finding } from '../../src/domain/outcome/finding.ts';
import {
  type Placed,
  reviewAlone,
  reviewMarker,
  reviewRequest,
  reviewTexts,
} from '../../src/messages/comments/finding-review.ts';

test('a review of 1,000 long findings with a long introduction fits into what GitHub takes', () => {
  const findings = Array.from(
    { length: 1_000 },
    (_, index): Finding => ({
      severity: 'high',
      category: 'security',
      file: `${'folder/'.repeat(30)}${index}.ts`,
      line: index + 1,
      description: `${index} ${'words of a finding '.repeat(100)}`,
      suggestion: null,
      rule: 'some/rule',
    }),
  );
  const placed = findings.slice(0, 25).map(
    (finding, index): Placed => ({
      finding,
      startLine: index + 1,
      line: index + 1,
      isExact: true,
    }),
  );
  const effect: EffectOf<'review'> = {
    kind: 'review',
    installation_id: 1,
    owner: 'acme',
    repo: 'shop',
    pull_request: 7,
    head_sha: 'a'.repeat(40),
    marker: reviewMarker('run_01', 'step', 'ses_01'),
    ...reviewTexts(placed, findings.slice(25), 'word '.repeat(4_000)),
  };
  for (const { body } of [reviewRequest(effect), reviewAlone(effect)])
    expect(body.length).toBeLessThanOrEqual(65_536);
});
