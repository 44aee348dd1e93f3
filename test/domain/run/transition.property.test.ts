import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import type { Chain } from '../../../src/domain/chain/chain.ts';
import { REASON_CODES } from '../../../src/domain/explanation/reason.ts';
import {
  isRunOver,
  isStepOver,
  RUN_STATUSES,
  type RunState,
  STEP_STATUSES,
} from '../../../src/domain/run/run.ts';
import { transition } from '../../../src/domain/run/transition.ts';
import { at } from '../../support/builders.ts';
import { anyChain, anyHappening, type Happening, signalOf } from './arbitrary.ts';
import { Player } from './player.ts';

const LONG = process.env.COUNTERSIGN_LONG === '1';

/** Plays a chain through happenings and calls `check` after every signal. */
function playThrough(chain: Chain, happenings: readonly Happening[], check: (play: Player) => void): Player {
  const play = Player.started(chain);
  check(play);
  for (const happening of happenings) {
    const signal = signalOf(play, happening);
    if (!signal) continue;
    play.send(signal);
    check(play);
  }
  return play;
}

/** `check` holds after each signal, whatever happens in whatever order. */
function always(check: (play: Player) => void): void {
  fc.assert(
    fc.property(anyChain({ attempts: 3 }), fc.array(anyHappening, { maxLength: 40 }), (chain, happenings) => {
      playThrough(chain, happenings, check);
    }),
    { numRuns: LONG ? 1_500 : 80 },
  );
}

const running = (play: Player) => play.state.invocations.filter((step) => step.status === 'running');

describe('whatever happens to a run', () => {
  test('a step is pending until all its dependencies are over', () => {
    always((play) => {
      for (const step of play.state.invocations.filter((candidate) => candidate.status !== 'pending')) {
        const dependencies = play.run.definition.steps[step.stepIndex]?.dependsOn ?? [];
        for (const id of dependencies) expect(isStepOver(play.step(id).status)).toBe(true);
      }
    });
  });

  test('it is over exactly when all its steps are', () => {
    always((play) => {
      const allOver = play.state.invocations.every((step) => isStepOver(step.status));
      expect(isRunOver(play.run.status)).toBe(allOver);
    });
  });

  test('what is over has a reason and an end, and what is not over has no end', () => {
    always((play) => {
      for (const thing of [play.run, ...play.state.invocations]) {
        const over = thing === play.run ? isRunOver(play.run.status) : isStepOver(thing.status as never);
        expect(thing.finishedAt !== null).toBe(over);
        if (over) expect(thing.reason?.summary).toBeTruthy();
      }
    });
  });

  test('what is over has a one-sentence reason whose code fits its status', () => {
    always((play) => {
      const over = [
        ...[play.run].filter(({ status }) => isRunOver(status)).map((run) => ({ of: 'run', ...run })),
        ...play.state.invocations
          .filter(({ status }) => isStepOver(status))
          .map((step) => ({ of: 'step', ...step })),
        ...play.ended.map((session) => ({ of: 'step', ...session })),
      ];
      for (const { of, status, reason } of over) {
        expect(`${reason?.code}.`).toMatch(new RegExp(`^${of}\\.${status}\\.`));
        expect(reason?.summary).toMatch(/^\S(.*\S)?$/);
        expect(reason?.evidence).not.toEqual([]);
      }
    });
  });

  test('statuses and reason codes stay in their closed sets', () => {
    always((play) => {
      expect(RUN_STATUSES).toContain(play.run.status);
      for (const step of play.state.invocations) expect(STEP_STATUSES).toContain(step.status);
      const reasons = [play.run.reason, ...play.state.invocations.map((step) => step.reason)];
      for (const because of reasons) if (because) expect(REASON_CODES).toContain(because.code);
    });
  });

  test('exactly the completed steps have an outcome', () => {
    always((play) => {
      for (const step of play.state.invocations) {
        expect(step.outcome !== null).toBe(step.status === 'completed');
        expect(step.outcomeArtifactId !== null).toBe(step.status === 'completed');
      }
    });
  });

  test('no step has more attempts than the chain allows', () => {
    always((play) => {
      for (const step of play.state.invocations) {
        const allowed = play.run.definition.steps[step.stepIndex]?.retry.attempts ?? 0;
        expect(step.attempts).toBeLessThanOrEqual(allowed);
      }
    });
  });

  test('a running run has a running step, and a waiting one has none', () => {
    always((play) => {
      if (isRunOver(play.run.status)) return;
      const works = running(play).length > 0;
      if (works) expect(play.run.status).toBe('running');
      else expect(play.run.status).toMatch(/^waiting_/);
    });
  });

  test('no more steps run at once than the chain says, and at most four if it says nothing', () => {
    always((play) => expect(running(play).length).toBeLessThanOrEqual(play.run.definition.maxParallel ?? 4));
  });

  test('a step runs only after dependencies that completed, that may fail, or that its condition names', () => {
    always((play) => {
      const { steps } = play.run.definition;
      for (const step of running(play)) {
        const { dependsOn = [], condition = '' } = steps[step.stepIndex] ?? {};
        for (const id of dependsOn.filter((each) => !condition.includes(`steps.${each}.`))) {
          const { status, stepIndex } = play.step(id);
          const mayFail = steps[stepIndex]?.onFailure === 'continue';
          expect(mayFail ? ['completed', 'failed', 'timed_out'] : ['completed']).toContain(status);
        }
      }
    });
  });

  test('a run that was ended from outside never changes again', () => {
    let ended: { play: Player; state: RunState } | undefined;
    always((play) => {
      if (ended?.play === play) expect(play.state).toEqual(ended.state);
      const { status } = play.run;
      const isEnded = status === 'cancelled' || status === 'aborted';
      ended = isEnded ? { play, state: structuredClone(play.state) } : undefined;
    });
  });

  test('while it continues, only running steps are started, and only those and waiting ones are polled', () => {
    always((play) => {
      if (isRunOver(play.run.status)) return;
      for (const [verb, stepId = ''] of play.commands.map((command) => command.split(' '))) {
        if (verb === 'start') expect(play.step(stepId).status).toBe('running');
        if (verb === 'look') expect(play.step(stepId).status).toMatch(/^(waiting_|running$)/);
      }
    });
  });

  test('a session is stopped only when its step is over or has another session', () => {
    always((play) => {
      const stopped = play.commands.flatMap((command) => /^abort (.*)/.exec(command)?.[1] ?? []);
      for (const step of play.state.invocations) {
        if (stopped.includes(step.sessionId ?? '')) expect(isStepOver(step.status)).toBe(true);
      }
    });
  });
});

describe('the next wake', () => {
  test('is the first moment at which time alone changes something', { tags: 'slow' }, () => {
    always((play) => {
      const { wakesAt } = play;
      const atTime = (ms: number) => {
        const { state, commands } = transition(play.state, { kind: 'time' }, at(ms));
        const moved = state.invocations.some((step, i) => step.status !== play.state.invocations[i]?.status);
        return moved || commands.length > 0;
      };
      if (wakesAt === undefined) return expect(atTime(Number.MAX_SAFE_INTEGER / 1e3)).toBe(false);
      expect(atTime(wakesAt)).toBe(true);
      expect(atTime(wakesAt - 1)).toBe(false);
    });
  });

  test('is never set for a run that is over', () => {
    always((play) => {
      if (isRunOver(play.run.status)) expect(play.wakesAt).toBeUndefined();
    });
  });
});

describe('a session’s result', () => {
  test('has the same effect when it is applied twice', { tags: 'slow' }, () => {
    fc.assert(
      fc.property(
        anyChain({ attempts: 3 }),
        fc.array(anyHappening, { maxLength: 30 }),
        anyHappening.filter((happening) => happening.what === 'report'),
        (chain, happenings, report) => {
          const play = playThrough(chain, happenings, () => {});
          const signal = signalOf(play, report);
          if (!signal) return;
          play.send(signal);
          const once = structuredClone(play.state);
          play.send(signal);
          expect(play.state).toEqual(once);
          expect(play.commands).toEqual([]);
        },
      ),
      { numRuns: LONG ? 2_500 : 120 },
    );
  });
});

describe('a run', () => {
  const answers = fc.array(fc.constantFrom('yes', 'no', 'nothing', 'fails', 'fails for good'), {
    minLength: 1,
  });

  test('ends once every session that it starts reports and its waits come due', { tags: 'slow' }, () => {
    fc.assert(
      fc.property(
        anyChain({ attempts: 3 }),
        fc.array(anyHappening, { maxLength: 20 }),
        answers,
        (chain, happenings, says) => {
          const play = playThrough(chain, happenings, () => {});
          play.send({ kind: 'resume' });
          for (let turn = 0; !isRunOver(play.run.status); turn++) {
            expect(turn).toBeLessThan(200);
            const open = play.state.invocations.find(
              (step) => !isStepOver(step.status) && step.sessionId !== null,
            );
            const pick = play.sessions.findIndex((session) => session.id === open?.sessionId);
            const answer = says[turn % says.length] ?? 'yes';
            if (pick >= 0) {
              const signal = signalOf(play, { what: 'report', pick, says: answer });
              if (signal) play.send(signal);
            } else {
              const { wakesAt } = play;
              expect(wakesAt).toBeDefined();
              play.after(Math.max(0, (wakesAt ?? 0) - play.elapsedMs));
            }
          }
        },
      ),
      { numRuns: LONG ? 2_500 : 120 },
    );
  });
});
