import fc from 'fast-check';
import type { Chain } from '../../../src/domain/chain/chain.ts';
import { reason } from '../../../src/domain/explanation/reason.ts';
import type { Signal } from '../../../src/domain/run/transition.ts';
import { actionOutcome, at, chain, ciOutcome, reviewOutcome } from '../../support/builders.ts';
import type { Player } from './player.ts';

/**
 * Any chain of up to eight steps that the parser accepts: any graph without a cycle, conditions on dependencies, both ways to
 * handle a failure, timeouts, and up to `attempts` attempts.
 */
export function anyChain({ attempts }: { attempts: number }): fc.Arbitrary<Chain> {
  const step = fc.record({
    edges: fc.array(fc.nat(), { maxLength: 3 }),
    condition: fc.constantFrom(
      undefined,
      undefined,
      'steps.ID.outcome.passed',
      'not steps.ID.outcome.passed',
      "steps.ID.status == 'failed'",
      "trigger.author == 'ada'",
      'false',
    ),
    on_failure: fc.constantFrom('fail' as const, 'continue' as const),
    timeout: fc.constantFrom(undefined, '20s', '10m'),
    retry: fc.record({
      attempts: fc.integer({ min: 1, max: attempts }),
      backoff: fc.constantFrom(undefined, '1s', '40m'),
    }),
  });
  const limit = fc.option(fc.integer({ min: 1, max: 6 }), { nil: undefined });
  return fc.tuple(limit, fc.array(step, { minLength: 1, maxLength: 8 })).map(([max_parallel, steps]) =>
    chain(
      JSON.stringify({
        name: 'any',
        trigger: { event: 'pr.opened' },
        max_parallel,
        steps: steps.map(({ edges, condition, ...keys }, index) => {
          const depends_on = index === 0 ? [] : [...new Set(edges.map((edge) => `s${edge % index}`))];
          const [first] = depends_on;
          const usable = first !== undefined || !condition?.includes('ID');
          return {
            id: `s${index}`,
            skill: 'ci',
            depends_on,
            ...(condition && usable ? { condition: condition.replaceAll('ID', first ?? '') } : {}),
            ...keys,
          };
        }),
      }),
    ),
  );
}

/** Something that happens to a run. Sessions are picked from all that were ever started, so many reports are late. */
export type Happening =
  | { what: 'signal'; signal: Signal }
  | { what: 'report'; pick: number; says: 'yes' | 'no' | 'nothing' | 'waits' | 'fails' | 'fails for good' }
  | { what: 'time'; ms: number };

const endings = [
  { kind: 'end', status: 'cancelled', reason: reason('run.cancelled.closed', 'closed') },
  { kind: 'end', status: 'aborted', reason: reason('run.aborted.installation_gone', 'gone') },
] as const;

export const anyHappening: fc.Arbitrary<Happening> = fc.oneof(
  {
    weight: 8,
    arbitrary: fc.record({
      what: fc.constant('report' as const),
      pick: fc.nat(),
      says: fc.constantFrom('yes', 'no', 'nothing', 'waits', 'fails', 'fails for good'),
    }),
  },
  {
    weight: 3,
    arbitrary: fc.record({
      what: fc.constant('time' as const),
      ms: fc.constantFrom(0, 1_000, 15_000, 4_000_000),
    }),
  },
  {
    weight: 3,
    arbitrary: fc.record({
      what: fc.constant('signal' as const),
      signal: fc.oneof(
        fc.constantFrom<Signal>({ kind: 'start' }, { kind: 'pause' }, { kind: 'resume' }),
        fc.constantFrom<Signal>({ kind: 'wake', for: ['ci'] }, { kind: 'wake', for: ['approval', 'until'] }),
        fc.nat({ max: 7 }).map((stepIndex): Signal => ({ kind: 'rerun', stepIndex })),
      ),
    }),
  },
  {
    weight: 1,
    arbitrary: fc.record({
      what: fc.constant('signal' as const),
      signal: fc.constantFrom<Signal>(...endings),
    }),
  },
);

/** The signal that a happening becomes in this run; `undefined` if no session was ever started. */
export function signalOf(play: Player, happening: Happening): Signal | undefined {
  if (happening.what === 'signal') return happening.signal;
  if (happening.what === 'time') {
    play.elapsedMs += happening.ms;
    return { kind: 'time' };
  }
  const session = play.sessions[happening.pick % Math.max(1, play.sessions.length)];
  if (!session) return undefined;
  const done = (outcome: ReturnType<typeof ciOutcome>): Signal => ({
    kind: 'session',
    sessionId: session.id,
    result: { kind: 'done', outcome, artifactId: `art_${session.id}` },
  });
  switch (happening.says) {
    case 'yes':
      return done(actionOutcome('gh-label', 'done'));
    case 'no':
      return done(reviewOutcome(false));
    case 'nothing':
      return done(ciOutcome(null));
    case 'waits':
      return {
        kind: 'session',
        sessionId: session.id,
        result: {
          kind: 'waits',
          for: (['ci', 'approval', 'until'] as const)[happening.pick % 3] ?? 'ci',
          until: at(play.elapsedMs + 5_000),
          reason: reason('step.waiting.ci', 'not yet'),
        },
      };
    case 'fails':
    case 'fails for good':
      return {
        kind: 'session',
        sessionId: session.id,
        result: {
          kind: 'failed',
          reason: reason('step.failed.error', 'it broke:\n  on two lines\n'),
          retryable: happening.says === 'fails',
        },
      };
  }
}
