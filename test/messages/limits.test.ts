import { describe, expect, it } from 'vitest';
import { defaultSettings } from '../../src/domain/chain/settings.ts';
import { criterion } from '../../src/domain/explanation/explanation.ts';
import { reason } from '../../src/domain/explanation/reason.ts';
import { makeOutcome } from '../../src/domain/outcome/outcome.ts';
import { explain } from '../../src/domain/run/explain.ts';
import { checkRunContent } from '../../src/messages/check-run/check-run.ts';
import { approvalComment } from '../../src/messages/comments/approval-comment.ts';
import { statusComment } from '../../src/messages/comments/status-comment.ts';
import {
  at,
  check,
  done,
  ends,
  finding,
  makeApproval,
  makeCi,
  makeReview,
  makeState,
  NOWHERE,
} from './builders.ts';

const LIMIT = 65_535;
/** Every character of it grows when it is encoded, and most take more than one byte. */
const nasty = (letters: number) => '`|<@é💥'.repeat(Math.ceil(letters / 7)).slice(0, letters);

const findings = Array.from({ length: 1_000 }, (_, index) =>
  finding({
    severity: index % 2 === 0 ? 'critical' : 'low',
    file: `${nasty(200)}/${index}.ts`,
    line: index + 1,
    description: nasty(2_000),
    suggestion: nasty(2_000),
    rule: nasty(200),
    evidence: nasty(300),
  }),
);
const checks = Array.from({ length: 500 }, (_, index) =>
  check(`${nasty(200)} ${index}`, {
    state: index % 3 === 0 ? 'failed' : 'passed',
    url: `https://ci.example/${nasty(1_000)}`,
  }),
);
const huge = makeState(
  {
    status: 'completed',
    reason: reason('run.completed.changes_requested', nasty(4_000)),
    finishedAt: at('12:09'),
  },
  {
    review: done(
      makeReview({
        passed: false,
        verdict: 'REQUEST_CHANGES',
        summary: nasty(4_000),
        findings,
        left_out: Array.from({ length: 3_000 }, (_, index) => ({
          path: `${nasty(4_000)}${index}`,
          reason: nasty(500),
        })),
        analyzers: Array.from({ length: 50 }, () => ({
          name: nasty(300),
          version: nasty(300),
          status: 'crashed' as const,
          files: 1,
          duration_ms: 1,
          message: nasty(1_000),
        })),
      }),
    ),
    ci: done(makeCi(checks, { summary: nasty(4_000) })),
    merge: ends('failed', reason('step.failed.error', nasty(4_000))),
    changes: ends('failed', reason('step.failed.error', nasty(4_000))),
  },
);
const deep = criterion(
  'unmet',
  nasty(4_000),
  Array.from({ length: 300 }, () =>
    criterion(
      'unmet',
      nasty(4_000),
      [criterion('unmet', nasty(4_000), [], [nasty(4_000)])],
      Array(50).fill(nasty(500)),
    ),
  ),
);
const hugeApproval = makeApproval({
  baseRef: nasty(250),
  decision: deep,
  countersignedBy: Array.from({ length: 300 }, (_, index) => `${nasty(39)}${index}`),
});
const content = checkRunContent({
  state: huge,
  approval: hugeApproval,
  pages: NOWHERE,
  now: at('13:00'),
});

describe('a check run of 1,000 findings, 500 checks and 3,000 omitted files', () => {
  it('keeps summary and text inside GitHub’s limit of bytes', () => {
    expect(Buffer.byteLength(content.summary)).toBeLessThanOrEqual(LIMIT);
    expect(Buffer.byteLength(content.text)).toBeLessThanOrEqual(LIMIT);
  });

  it('still has all its parts, each complete', () => {
    for (const heading of [
      '### Why',
      '### Review: changes requested',
      '#### Must be fixed',
      '### CI:',
      '### Steps',
    ]) {
      expect(content.summary).toContain(heading);
    }
    expect(content.summary).not.toContain('did not fit');
    expect(content.summary.split('<details>')).toHaveLength(content.summary.split('</details>').length);
  });

  it('continues in the text below the summary, and says how many entries are still omitted and where they are', () => {
    expect(content.text).toMatch(/### Everything that was not reviewed/);
    expect(content.text).toMatch(/### All checks/);
    const [, left] =
      /… and (\d+) more, `countersign run show run_01 --json` prints them all/.exec(content.text) ?? [];
    const shown = content.text.split('### All checks')[0]?.match(/^- /gm)?.length ?? 0;
    expect(shown - 1 + Number(left)).toBe(3_000);
  });

  it('lists the nine worst findings, counts the others, and says where all of them are', () => {
    const card = content.summary.split('### CI:')[0] ?? '';
    const listed = card.match(/^- (?:🔴|🟠|🟡|🔵|⚪) \*\*/gmu)?.length ?? 0;
    const counted = [
      ...card.matchAll(/… and (\d+) more, `countersign run show run_01 --json` prints them all/g),
    ];
    expect(listed).toBeLessThanOrEqual(9);
    expect(listed + counted.reduce((sum, [, left]) => sum + Number(left), 0)).toBe(1_000);
    expect(content.text).not.toMatch(/🔴|🟠|🔵/u);
  });

  it('has the 500 worst findings as annotations, and says so', () => {
    expect(content.annotations).toHaveLength(500);
    expect(content.annotations.every(({ level }) => level === 'failure')).toBe(true);
    expect(content.summary).toContain('500 of 1,000 findings are shown in the diff, the worst first');
  });

  it('has all findings of analyzers as annotations, and the nine worst of a model', () => {
    const of = (count: number, rule: string, severity: 'high' | 'low') =>
      Array.from({ length: count }, (_, n) => finding({ rule, severity, line: n + 1 }));
    const findings = [
      ...of(60, 'oxlint/no-eval', 'low'),
      ...of(15, 'model/style', 'low'),
      ...of(6, 'model/security', 'high'),
    ];
    const state = makeState({}, { review: done(makeReview({ findings })) });
    const { annotations, summary } = checkRunContent({
      state,
      approval: null,
      pages: NOWHERE,
      now: at('13:00'),
    });
    const count = (rule: string) => annotations.filter(({ title }) => title.includes(rule)).length;
    expect([count('oxlint'), count('model/security'), count('model/style')]).toEqual([60, 6, 3]);
    expect(annotations[0]?.title).toContain('model/security');
    expect(summary).toContain('69 of 81 findings are shown in the diff, the worst first: ');
  });

  it('keeps every annotation inside GitHub’s limits', () => {
    for (const note of content.annotations) {
      expect(note.title.length).toBeLessThanOrEqual(255);
      expect(Buffer.byteLength(note.message)).toBeLessThanOrEqual(64 * 1_024);
      expect(note.end_line).toBeGreaterThanOrEqual(note.start_line);
    }
  });

  it('has a one-line title for GitHub’s list of checks', () => {
    expect(content.title.length).toBeLessThanOrEqual(255);
    expect(content.title).not.toMatch(/\n/);
  });
});

describe('many outcomes of one kind', () => {
  it('lose whole parts that do not fit, and the text says so', { tags: 'slow' }, () => {
    const state = makeState({ status: 'completed', reason: reason('run.completed', 'done') });
    const review = done(makeReview({ findings, verdict: 'REQUEST_CHANGES', passed: false }));
    state.invocations = state.invocations.flatMap((step) => [
      { ...step, ...review },
      { ...step, ...review },
    ]);
    const many = checkRunContent({
      state,
      approval: null,
      pages: NOWHERE,
      now: at('13:00'),
    });
    expect(Buffer.byteLength(many.summary)).toBeLessThanOrEqual(LIMIT);
    expect(many.summary).toMatch(/\d+ more parts did not fit here/);
  });

  it('keep a gate of 1,000 criteria inside the limit', () => {
    const gate = makeOutcome<'gate_verdict'>({
      outcome_kind: 'gate_verdict',
      summary: nasty(4_000),
      passed: false,
      gate: 'huge',
      scope: 'step',
      step: 'review',
      at: 'pre',
      gate_passed: false,
      on_failure: 'block',
      feedback: '',
      notes: [],
      criteria: Array.from({ length: 1_000 }, (_, index) => ({
        id: `c${index}`,
        description: nasty(2_000),
        passed: false,
        evidence: nasty(2_000),
        may_change: false,
      })),
      blocking_reason: nasty(4_000),
      next_action: nasty(4_000),
      inputs_hash: 'sha256:0',
    });
    const state = makeState(
      { status: 'completed', reason: reason('run.completed', 'x') },
      { review: done(gate) },
    );
    const { summary } = checkRunContent({
      state,
      approval: null,
      pages: NOWHERE,
      now: at('13:00'),
    });
    expect(Buffer.byteLength(summary)).toBeLessThanOrEqual(LIMIT);
    expect(summary).toMatch(/### Gates/);
    expect(explain(state, null).reasons.flatMap(({ reasons }) => reasons).length).toBeLessThanOrEqual(1_001);
  });
});

describe('a huge comment', () => {
  it('stays inside the limit with the status of 60 runs, and begins with its marker', () => {
    const body = statusComment(
      Array.from({ length: 60 }, () => ({ state: huge, approval: hugeApproval, checkRunUrl: null })),
    );
    expect(body.length).toBeLessThanOrEqual(65_536);
    expect(body.split('\n')[0]).toBe('<!-- countersign:status -->');
    expect(body).toMatch(/… and \d+ more chains, each with a check run of its own\.$/);
  });

  it.each(['open', 'countersigned', 'rejected', 'void'] as const)(
    'stays inside the limit as an approval comment when %s, and begins with its marker',
    (status) => {
      const state = {
        ...huge,
        run: {
          ...huge.run,
          settings: {
            ...defaultSettings,
            countersign: {
              ...defaultSettings.countersign,
              teams: Array.from({ length: 50 }, (_, index) => `acme/${'t'.repeat(2_000)}${index}`),
              users: Array.from({ length: 50 }, (_, index) => `u${index}`),
            },
          },
        },
      };
      const body = approvalComment({
        state,
        pages: NOWHERE,
        checkRunUrl: null,
        approval: { ...hugeApproval, status },
      });
      expect(body.length).toBeLessThanOrEqual(65_536);
      expect(body.split('\n')[0]).toMatch(/^<!-- countersign:approval head=\S+ base=.* -->$/);
    },
  );
});
