import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import {
  type AppliedCommand,
  answerOvertakenBy,
  BUTTON_DELAY_MS,
  type GivenAt,
  givenByButton,
  givenExactly,
  givenInComment,
  inOrderGiven,
  type OrderedCommand,
  overtakenBy,
  scopesOf,
} from '../../../src/domain/command/order.ts';

const T = '2026-03-02T09:00:00Z';
const inComment = (comment_id: number, line = 0, created_at = T) =>
  givenInComment({ comment_id, created_at }, line);
const later = (ms: number) => new Date(Date.parse(T) + ms);

describe('of two commands the older one is', () => {
  test.each<[string, GivenAt, GivenAt]>([
    [
      'the one whose comment was written in an earlier second',
      inComment(9, 0, '2026-03-02T08:59:59Z'),
      inComment(1),
    ],
    ['in the same second the one with the smaller number', inComment(1, 4), inComment(2, 0)],
    ['in the same comment the one that comes first', inComment(1, 0), inComment(1, 1)],
    [
      'a button that continues, within the second of a comment',
      givenByButton('resume', later(BUTTON_DELAY_MS + 999)),
      inComment(1),
    ],
    ['a comment, within the second of a button that blocks', inComment(1), givenByButton('pause', later(0))],
    [
      'on the command line the one that came first, within the same second',
      givenExactly(later(100)),
      givenExactly(later(900)),
    ],
    ['a comment, within the second of the command line', inComment(1), givenExactly(later(0))],
    [
      'of two such buttons the one that came first',
      givenByButton('pause', later(1)),
      givenByButton('cancel', later(2)),
    ],
    [
      'a button that continues, as long as its delivery may have been under way',
      givenByButton('resume', later(BUTTON_DELAY_MS)),
      inComment(1),
    ],
    [
      'a comment, if a button that continues came later than that',
      inComment(1),
      givenByButton('resume', later(BUTTON_DELAY_MS + 1_000)),
    ],
  ])('%s', (_, older, newer) => {
    expect(inOrderGiven(older, newer)).toBeLessThan(0);
    expect(inOrderGiven(newer, older)).toBeGreaterThan(0);
    expect(inOrderGiven(older, older)).toBe(0);
  });
});

interface World {
  paused: boolean;
  running: Record<string, boolean>;
  answers: Record<string, string>;
  accepted: Record<string, boolean>;
  applied: AppliedCommand[];
}

const CHAINS = ['ship', 'deploy'];

/** The part of the command handler that concerns order. */
function apply(world: World, act: OrderedCommand, given: GivenAt): void {
  const mayDo = (one: OrderedCommand) => overtakenBy(one, given, world.applied) === undefined;
  if (act.kind === 'stop') {
    for (const chain of CHAINS) if (mayDo({ ...act, chain })) world.running[chain] = false;
  } else if (!mayDo(act)) return;
  if (act.kind === 'hold') world.paused = act.verb === 'pause';
  if (act.kind === 'begin') world.running[act.chain] = true;
  if (act.kind === 'answer') world.answers[`${act.person} ${act.step}`] = act.verb;
  if (act.kind === 'acceptance') world.accepted[act.finding] = act.verb === 'accept';
  for (const scope of scopesOf(act)) {
    const known = world.applied.find((other) => other.scope === scope);
    if (known && inOrderGiven(known.given, given) > 0) continue;
    const mark = { scope, verb: act.verb, actor: 'mia', given };
    world.applied = [...world.applied.filter((other) => other.scope !== scope), mark];
  }
}

const acts: fc.Arbitrary<OrderedCommand> = fc.oneof(
  fc.constantFrom<OrderedCommand>({ kind: 'hold', verb: 'pause' }, { kind: 'hold', verb: 'resume' }),
  fc.constant<OrderedCommand>({ kind: 'stop', verb: 'cancel', chain: null }),
  fc
    .tuple(fc.constantFrom('rerun', 'review', 'ci', 'fire'), fc.constantFrom(...CHAINS))
    .map(([verb, chain]): OrderedCommand => ({ kind: 'begin', verb, chain, newRun: verb === 'fire' })),
  fc
    .tuple(fc.constantFrom('approve', 'reject'), fc.constantFrom(1, 2))
    .map(([verb, person]): OrderedCommand => ({ kind: 'answer', verb, person, chain: 'ship', step: 'safe' })),
  fc
    .tuple(fc.constantFrom('accept', 'withdraw'), fc.constantFrom('f1', 'f2'))
    .map(([verb, finding]): OrderedCommand => ({ kind: 'acceptance', verb, headSha: 'a', finding })),
);

/** Each has its own place in the order; some share a second; they come from comments and buttons. */
const commands = fc
  .array(fc.tuple(acts, fc.integer({ min: 0, max: 3_000 }), fc.boolean()), { maxLength: 12 })
  .map((all) =>
    all.map(([act, ms, isButton], index) => {
      const at = later(ms);
      const given = isButton ? givenByButton(act.verb, at) : inComment(index, 0, at.toISOString());
      return { act, given: { ...given, line: index } };
    }),
  );

test('commands that arrive in any order have the effect of the order in which people gave them', () => {
  const newWorld = (): World => ({
    paused: false,
    running: { ship: true, deploy: true },
    answers: {},
    accepted: {},
    applied: [],
  });
  fc.assert(
    fc.property(
      commands.chain((all) =>
        fc.tuple(fc.constant(all), fc.shuffledSubarray(all, { minLength: all.length })),
      ),
      ([all, asTheyCame]) => {
        const written = newWorld();
        for (const { act, given } of all.toSorted((a, b) => inOrderGiven(a.given, b.given)))
          apply(written, act, given);
        const came = newWorld();
        for (const { act, given } of asTheyCame) apply(came, act, given);
        expect({ ...came, applied: [] }).toEqual({ ...written, applied: [] });
      },
    ),
  );
});

test('a person’s answer to a closed approval is only overtaken by their own newer answer', () => {
  const act = { kind: 'answer', verb: 'reject', person: 1, chain: 'ship', step: 'safe' } as const;
  const [scope = ''] = scopesOf(act);
  const applied = [{ scope, verb: act.verb, actor: 'mia', given: inComment(5) }];
  const of = (verb: 'approve' | 'reject', person: number, step: string | undefined, comment: number) =>
    answerOvertakenBy({ verb, person, step }, inComment(comment), applied)?.actor;
  expect(of('approve', 1, 'safe', 4)).toBe('mia');
  expect(of('approve', 1, undefined, 4)).toBe('mia');
  expect(of('approve', 1, 'other', 4)).toBeUndefined();
  expect(of('approve', 2, 'safe', 4)).toBeUndefined();
  expect(of('approve', 1, 'safe', 6)).toBeUndefined();
  expect(of('reject', 1, 'safe', 4)).toBeUndefined();
});
