import { describe, expect, test } from 'vitest';
import { withHash } from '../../../src/domain/outcome/base.ts';
import { knownOutcomeSchema, OUTCOME_KINDS } from '../../../src/domain/outcome/outcome.ts';
import { card } from '../../../src/messages/studio/cards/card.ts';
import type { CardOptions } from '../../../src/messages/studio/cards/frame.ts';
import { outcomesOfEachKind } from './outcomes.ts';

const options: CardOptions = {
  links: {
    githubUrl: 'https://github.com',
    repository: 'octo/shop',
    headSha: 'a'.repeat(40),
    artifact: '/artifacts/art_1',
  },
  durationMs: 4_200,
};

const shown = (kind: string, value: unknown, more: Partial<CardOptions> = {}) =>
  String(card(kind, value, { ...options, ...more }));

describe('the card of an outcome', () => {
  test.each(OUTCOME_KINDS)('of kind %s shows its members', async (kind) => {
    const [outcome] = outcomesOfEachKind().filter((one) => one.outcome_kind === kind);
    expect(knownOutcomeSchema.safeParse(outcome).success).toBe(true);
    await expect(shown(kind, outcome)).toMatchFileSnapshot(`snapshots/card-${kind}.html`);
  });

  test('of a kind that a package registers shows its data as JSON', () => {
    const own = withHash({
      outcome_kind: 'octo/coverage',
      summary: 'Covered.',
      passed: true,
      data: { lines: 93, files: ['src/a.ts'] },
    });
    const text = shown('octo/coverage', own);
    expect(text).toContain('Covered.');
    expect(text).toContain('<span class="name">lines</span>: <code>93</code>');
  });

  test.each([
    ['no outcome at all', 'review_verdict', [1, 2]],
    ['an outcome of another kind', 'ci_result', outcomesOfEachKind()[0]],
    [
      'an outcome of a kind that a later version knows',
      'later_verdict',
      { outcome_kind: 'later_verdict', x: 1 },
    ],
    ['null', 'ci_result', null],
  ])('is JSON for %s', (_, kind, value) => {
    const text = shown(kind, value);
    expect(text).toContain(`<h3>${kind}</h3>`);
    expect(text).toContain('class="json"');
  });

  test('links a finding to its lines at the head, and percent-encodes the path', () => {
    const [review] = outcomesOfEachKind().filter((one) => one.outcome_kind === 'review_verdict');
    const odd = {
      ...review,
      findings: [{ ...finding(), file: 'src/?a#b %41/"x".ts', line: 3, end_line: 5 }],
    };
    expect(shown('review_verdict', odd)).toContain(
      `href="https://github.com/octo/shop/blob/${'a'.repeat(40)}/src/%3Fa%23b%20%2541/%22x%22.ts?plain=1#L3-L5"`,
    );
  });

  test('shows a bounded number of findings, and links to the others', () => {
    const [review] = outcomesOfEachKind().filter((one) => one.outcome_kind === 'review_verdict');
    const text = shown('review_verdict', { ...review, findings: Array.from({ length: 3_000 }, finding) });
    expect(text.match(/class="finding /g)).toHaveLength(20);
    expect(text).toContain('<a href="/artifacts/art_1">… and 2980 more</a>');
    expect(text.length).toBeLessThan(20_000);
  });

  test('spells out characters that cannot be seen', () => {
    const [review] = outcomesOfEachKind().filter((one) => one.outcome_kind === 'review_verdict');
    expect(shown('review_verdict', { ...review, summary: 'ok\u202Eko\u0000\u001b[31m' })).toContain(
      'ok⟨U+202E⟩ko⟨U+0000⟩⟨U+001B⟩[31m',
    );
  });
});

describe('the JSON viewer', () => {
  test('says what it leaves out of deep, long and large values', () => {
    const deep = JSON.parse(`${'['.repeat(5_000)}${']'.repeat(5_000)}`) as unknown;
    const text = shown('x', {
      deep,
      many: Array.from({ length: 9_000 }, (_, at) => at),
      long: 'x'.repeat(9_000),
    });
    expect(text).toContain('nested too deep to show');
    expect(text).toContain('Only the first 2000 values are shown.');
    expect(shown('x', { long: 'x'.repeat(9_000) })).toContain('and 7000 more characters');
    expect(text.length).toBeLessThan(200_000);
  });

  test('shows only the beginning of many long values', () => {
    const text = shown(
      'x',
      Array.from({ length: 1_000 }, () => 'x'.repeat(2_000)),
    );
    expect(text).toContain('Only the beginning is shown.');
    expect(text.length).toBeLessThan(250_000);
  });

  test('escapes names and values', () => {
    expect(
      shown('x', JSON.parse('{"<img src=x onerror=alert(1)>":"</code><script>","__proto__":1}')),
    ).not.toMatch(/<img|<script/);
  });
});

function finding() {
  return {
    severity: 'high',
    category: 'security',
    file: 'src/a.ts',
    line: 1,
    description: 'Wrong.',
    suggestion: null,
    rule: 'x/y',
  };
}
