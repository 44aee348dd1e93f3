// @module-tag security

import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { criterion } from '../../../src/domain/explanation/explanation.ts';
import type { Capability } from '../../../src/domain/policy/capability.ts';
import { builtInPolicy, type PolicyRequest, type Verdict } from '../../../src/domain/policy/engine.ts';
import { isTrusted, TRUST_LEVELS, type TrustLevel } from '../../../src/domain/policy/trust.ts';
import { explainText } from '../../../src/domain/run/explain.ts';

const { decide } = builtInPolicy;
const seed = Number(process.env.COUNTERSIGN_SEED ?? 4);

function capability(minimumTrust: TrustLevel, confirmation: Capability['confirmation'] = 'none'): Capability {
  return { name: 'deploy', minimumTrust, sideEffects: true, confirmation };
}

function request(more: Partial<PolicyRequest> = {}, level: TrustLevel = 'sandbox'): PolicyRequest {
  return {
    capability: capability('sandbox'),
    needsApproval: false,
    trust: { level, ifDispatched: 'elevated', facts: [criterion('unmet', 'nobody fired it by hand')] },
    gates: [],
    chain: 'release',
    ...more,
  };
}

describe('a decision', () => {
  test.each(TRUST_LEVELS.flatMap((has) => TRUST_LEVELS.map((needs) => ({ has, needs }))))(
    'follows the order of the levels if no approval is asked: $needs needed, $has given',
    ({ has, needs }) => {
      const { verdict } = decide(request({ capability: capability(needs) }, has));
      expect(verdict).toBe(isTrusted(has, needs) ? 'allowed' : 'denied');
    },
  );

  test.each(TRUST_LEVELS.flatMap((has) => TRUST_LEVELS.map((needs) => ({ has, needs }))))(
    'waits for the countersign, which gives every level, if the step asks for approval: $needs needed, $has given',
    ({ has, needs }) => {
      const { verdict } = decide(request({ capability: capability(needs), needsApproval: true }, has));
      expect(verdict).toBe(has === 'privileged' ? 'allowed' : 'needs_confirmation');
    },
  );

  test('denies what a person must confirm if nobody is asked, at every trust level', () => {
    const wanted = capability('sandbox', 'person');
    expect(decide(request({ capability: wanted }, 'privileged')).verdict).toBe('denied');
    expect(decide(request({ capability: wanted, needsApproval: true }, 'elevated')).verdict).toBe(
      'needs_confirmation',
    );
  });

  test.each<['met' | 'unmet' | 'pending' | 'unknown', Verdict]>([
    ['met', 'allowed'],
    ['pending', 'needs_confirmation'],
    ['unmet', 'denied'],
    ['unknown', 'unknown'],
  ])('with a gate that is %s is %s', (status, verdict) => {
    const gates = [criterion('met', 'small enough'), criterion(status, 'owners agree')];
    expect(decide(request({ gates }, 'privileged')).verdict).toBe(verdict);
  });

  test('to deny says what is needed, what the run has, why, and how to get there', () => {
    const { why: tree } = decide(request({ capability: capability('elevated') }));
    expect(explainText(tree)).toMatchInlineSnapshot(`
      "✘ deploy is not allowed: it needs elevated trust; this run has only sandbox
        ✘ it needs elevated trust; this run has only sandbox
          ✘ nobody fired it by hand
        ✔ nobody has to confirm it
        … to get there: somebody with maintain access comments \`/countersign fire release\`, or give the step \`requires_approval: true\` on the governing branch"
    `);
  });

  test('to deny what no dispatch can allow names only the countersign', () => {
    const { why: tree } = decide(request({ capability: capability('privileged') }));
    expect(explainText(tree)).toMatchInlineSnapshot(`
      "✘ deploy is not allowed: it needs privileged trust; this run has only sandbox
        ✘ it needs privileged trust; this run has only sandbox
          ✘ nobody fired it by hand
        ✔ nobody has to confirm it
        … to get there: give the step \`requires_approval: true\` on the governing branch, and have it countersigned"
    `);
  });

  test('to wait for a confirmation says so', () => {
    const merge = { capability: capability('privileged', 'person'), needsApproval: true };
    expect(explainText(decide(request(merge)).why)).toMatchInlineSnapshot(`
      "… deploy is allowed once somebody confirms it
        … it needs privileged trust, which a countersign for this head gives
          ✘ nobody fired it by hand
        … it must be countersigned first"
    `);
    expect(explainText(decide(request(merge, 'privileged')).why)).toMatchInlineSnapshot(`
      "✔ deploy is allowed
        ✔ it needs privileged trust; this run has privileged
          ✘ nobody fired it by hand
        ✔ it is countersigned"
    `);
  });

  test(`is the same for the same request, and allows nothing that lacks trust, a confirmation or a gate (seed ${seed})`, () => {
    const level = fc.constantFrom(...TRUST_LEVELS);
    const gate = fc.constantFrom('met' as const, 'unmet' as const, 'pending' as const, 'unknown' as const);
    fc.assert(
      fc.property(
        level,
        level,
        fc.constantFrom('none' as const, 'person' as const),
        fc.boolean(),
        fc.array(gate, { maxLength: 3 }),
        (has, needs, confirmation, needsApproval, statuses) => {
          const asked = request(
            {
              capability: capability(needs, confirmation),
              needsApproval,
              gates: statuses.map((status) => criterion(status, 'gate')),
            },
            has,
          );
          const decision = decide(asked);
          expect(decide(asked)).toEqual(decision);
          if (decision.verdict !== 'allowed') return;
          expect(isTrusted(has, needs)).toBe(true);
          expect(statuses.every((status) => status === 'met')).toBe(true);
          if (needsApproval || confirmation === 'person')
            expect([has, needsApproval]).toEqual(['privileged', true]);
        },
      ),
      { seed, numRuns: process.env.COUNTERSIGN_LONG === '1' ? 50_000 : 500 },
    );
  });
});
