import fc from 'fast-check';
import { RULES, type RulesName } from './rules.ts';
import type { Guard } from './world.ts';

/** The people of a play, and one account that is none. `ann` is reserved for its end: an admin who did nothing before. */
const CAST = ['otto', 'ada', 'will', 'mia', 'meg', 'max', 'robo[bot]'] as const;
type Login = (typeof CAST)[number];
/** Whoever opened the pull request in question. */
const THE_AUTHOR = 'the author';

const EMOJI = ['rocket', '+1', '-1', 'heart'] as const;
const COMMANDS = ['cancel', 'pause', 'resume', 'rerun', 'ci', 'status'] as const;
const FAULTS = ['502', '429', 'reset', 'lost answer'] as const;
const FAULTY = ['anything', 'reads', 'writes', 'merge', 'reactions', 'permission'] as const;
const SURPRISES = ['push', 'draft', 'close', 'retarget'] as const;

/**
 * One thing that somebody does, or that happens. Every action is possible at any time: without an object it does nothing, so that
 * any part of a play is a play, and a failing one can be shrunk.
 */
export type Action =
  | { do: 'open'; by: Login; draft: boolean }
  | { do: 'push'; by: Login; withCoAuthor: Login | undefined }
  /** Force-pushes one commit of their own on top of the base branch. */
  | { do: 'rewrite'; by: Login }
  /** Force-pushes an earlier head. */
  | { do: 'push back'; by: Login }
  | {
      do: 'react';
      by: Login | typeof THE_AUTHOR;
      emoji: (typeof EMOJI)[number];
      on: 'newest' | 'older' | 'copy';
    }
  | { do: 'take back'; by: Login }
  | { do: 'forge'; by: Login }
  | { do: 'edit' | 'delete'; by: Login }
  | { do: 'say'; by: Login; command: (typeof COMMANDS)[number] }
  | { do: 'draft' | 'ready' | 'close' | 'retarget' }
  /** Of the last one that was closed. */
  | { do: 'reopen' }
  | { do: 'ci'; as: 'status' | 'check run'; says: 'success' | 'failure' | 'pending' }
  | { do: 'rule'; rules: RulesName }
  | { do: 'grant'; to: Login; role: 'admin' | 'maintain' | 'write' | 'none' }
  | { do: 'hold' }
  | { do: 'release'; order: 'fifo' | 'reverse' }
  | { do: 'redeliver'; back: number }
  | { do: 'wait'; seconds: number }
  | { do: 'fault'; how: (typeof FAULTS)[number]; on: (typeof FAULTY)[number]; times: number }
  /** Happens during the app's next attempt: while it reads the pull request, or right before its merge call. */
  | { do: 'surprise'; act: (typeof SURPRISES)[number]; when: 'reading' | 'merging' }
  | { do: 'restart' }
  /** The branches require the gate check from now on. */
  | { do: 'guard'; by: Guard }
  | { do: 'press' | 'auto-merge' | 'no auto-merge' | 'enqueue' | 'dequeue'; by: Login }
  /** The status `test` of the newest commit that the merge queue made. */
  | { do: 'ci of group'; says: 'success' | 'failure' | 'pending' }
  /** Opens a pull request with the same head against a branch of a writer. */
  | { do: 'elsewhere'; by: Login }
  /** Turns to another pull request, if there is one. */
  | { do: 'turn' };

const anybody = fc.constantFrom(...CAST);
const maintainer = fc.constantFrom<Login[]>('mia', 'meg', 'max');
const writer = fc.constantFrom<Login[]>('ada', 'will', 'mia');
const role = fc.constantFrom('admin', 'maintain', 'maintain', 'write', 'none');
const approval = fc.constantFrom<(typeof EMOJI)[number][]>('rocket', '+1');

const oneOf = (...actions: Action[]): fc.Arbitrary<Action> => fc.constantFrom(...actions);
const A_RECHECK: Action = { do: 'wait', seconds: 4 };
const GREEN: Action = { do: 'ci', as: 'status', says: 'success' };

const push = fc.record({
  do: fc.constant('push' as const),
  by: writer,
  withCoAuthor: fc.option(maintainer, { nil: undefined, freq: 2 }),
});
const rewrite = fc.record({ do: fc.constant('rewrite' as const), by: writer });
const pushBack = fc.record({ do: fc.constant('push back' as const), by: writer });
const open = fc.record({
  do: fc.constant('open' as const),
  by: writer,
  draft: fc.constantFrom(false, false, false, true),
});
const grant = fc.record({ do: fc.constant('grant' as const), to: anybody, role });
const lowRole = fc.constantFrom('write' as const, 'none' as const);
const standing = oneOf(
  { do: 'draft' },
  { do: 'ready' },
  { do: 'close' },
  { do: 'reopen' },
  { do: 'retarget' },
);
const unnoticed = [oneOf({ do: 'draft' }), oneOf({ do: 'close' }), oneOf({ do: 'retarget' })];
const rejection = reaction(maintainer, fc.constant('-1'));
const ci = fc.record({
  do: fc.constant('ci' as const),
  as: fc.constantFrom('status' as const, 'check run' as const),
  says: fc.constantFrom('success' as const, 'success' as const, 'failure' as const, 'pending' as const),
});
const rule = fc.record({
  do: fc.constant('rule' as const),
  rules: fc.constantFrom<RulesName[]>(...(Object.keys(RULES) as RulesName[]), 'usual', 'no CI', 'no CI'),
});
const fault = fc.record({
  do: fc.constant('fault' as const),
  how: fc.constantFrom(...FAULTS),
  on: fc.constantFrom(...FAULTY),
  times: fc.integer({ min: 1, max: 3 }),
});
const surprise = fc
  .record({
    do: fc.constant('surprise' as const),
    act: fc.constantFrom(...SURPRISES),
    when: fc.constantFrom('reading' as const, 'merging' as const),
  })
  // GitHub's merge call names no base, so nobody can rule out a retarget after the last read.
  .filter(({ act, when }) => act !== 'retarget' || when === 'reading');

const guard = fc.record({
  do: fc.constant('guard' as const),
  by: fc.constantFrom<Guard[]>('protection', 'ruleset', 'queue', 'tested queue'),
});
const press = fc.record({ do: fc.constant('press' as const), by: anybody });
const theirs = fc.record({
  do: fc.constantFrom('auto-merge' as const, 'auto-merge', 'enqueue', 'no auto-merge', 'dequeue'),
  by: anybody,
});
const pressByWriter = fc.record({ do: fc.constant('press' as const), by: writer });
const enqueueByWriter = fc.record({ do: fc.constant('enqueue' as const), by: writer });
const autoMerge = fc.record({ do: fc.constant('auto-merge' as const), by: writer });
const ciOfGroup = fc.record({
  do: fc.constant('ci of group' as const),
  says: fc.constantFrom('success' as const, 'success' as const, 'failure' as const, 'pending' as const),
});
const elsewhere = fc.record({ do: fc.constant('elsewhere' as const), by: writer });
const byOthers = fc.record({
  do: fc.constant('rule' as const),
  rules: fc.constantFrom<RulesName[]>('people', 'people', 'people without CI', 'two, then people', 'queue'),
});

const anyAction: fc.Arbitrary<Action> = fc.oneof(
  { weight: 5, arbitrary: oneOf(A_RECHECK, A_RECHECK, A_RECHECK, { do: 'wait', seconds: 35 }) },
  { weight: 2, arbitrary: open },
  { weight: 3, arbitrary: push },
  { weight: 2, arbitrary: rewrite },
  { weight: 1, arbitrary: pushBack },
  { weight: 6, arbitrary: reaction(fc.constantFrom(...CAST, THE_AUTHOR), fc.constantFrom(...EMOJI)) },
  { weight: 2, arbitrary: rejection },
  { weight: 2, arbitrary: fc.record({ do: fc.constant('take back' as const), by: maintainer }) },
  { weight: 1, arbitrary: fc.record({ do: fc.constant('forge' as const), by: anybody }) },
  {
    weight: 1,
    arbitrary: fc.record({ do: fc.constantFrom('edit' as const, 'delete' as const), by: writer }),
  },
  {
    weight: 3,
    arbitrary: fc.record({
      do: fc.constant('say' as const),
      by: anybody,
      command: fc.constantFrom(...COMMANDS),
    }),
  },
  { weight: 5, arbitrary: standing },
  { weight: 4, arbitrary: ci },
  { weight: 1, arbitrary: rule },
  { weight: 3, arbitrary: grant },
  { weight: 1, arbitrary: oneOf({ do: 'hold' }) },
  { weight: 4, arbitrary: oneOf({ do: 'release', order: 'fifo' }, { do: 'release', order: 'reverse' }) },
  { weight: 2, arbitrary: fc.record({ do: fc.constant('redeliver' as const), back: fc.nat(12) }) },
  { weight: 2, arbitrary: fault },
  { weight: 2, arbitrary: surprise },
  { weight: 1, arbitrary: oneOf({ do: 'restart' }) },
  { weight: 1, arbitrary: oneOf({ do: 'turn' }) },
  { weight: 5, arbitrary: press },
  { weight: 3, arbitrary: theirs },
  { weight: 2, arbitrary: ciOfGroup },
  { weight: 1, arbitrary: elsewhere },
);

const approve = reaction(maintainer, approval);

/**
 * Actions that belong together. With single actions, hardly any play would reach an approval, and a play without a merge proves
 * nothing.
 */
const anyScene: fc.Arbitrary<readonly Action[]> = fc.oneof(
  { weight: 12, arbitrary: anyAction.map((action) => [action]) },
  { weight: 3, arbitrary: fc.constant([GREEN, A_RECHECK] as const) },
  { weight: 3, arbitrary: fc.tuple(open, fc.constant(GREEN), fc.constant(A_RECHECK)) },
  { weight: 3, arbitrary: fc.tuple(approve, fc.constant(A_RECHECK)) },
  // Two answers come before the app polls again.
  { weight: 2, arbitrary: fc.tuple(fc.oneof(approve, rejection), approve, fc.constant(A_RECHECK)) },
  // Somebody else's commit replaces all of a maintainer's, and that maintainer answers.
  {
    weight: 2,
    arbitrary: fc.tuple(
      fc.record({ do: fc.constant('open' as const), by: maintainer, draft: fc.constant(false) }),
      rewrite,
      fc.constant(GREEN),
      fc.constant(A_RECHECK),
      reaction(fc.constant(THE_AUTHOR), approval),
      fc.constant(A_RECHECK),
    ),
  },
  // Somebody loses their role, and still answers.
  {
    weight: 1,
    arbitrary: maintainer.chain((to) =>
      fc.tuple(
        fc.record({ do: fc.constant('grant' as const), to: fc.constant(to), role: lowRole }),
        reaction(fc.constant(to), approval),
        fc.constant(A_RECHECK),
      ),
    ),
  },
  // Somebody else than the app merges, in whichever way the branch has: at once, after a poll, or after something has changed.
  {
    weight: 4,
    arbitrary: fc.tuple(
      byOthers,
      fc.constant(GREEN),
      fc.constant(A_RECHECK),
      approve,
      fc.constant(A_RECHECK),
      fc.oneof(fc.constant(A_RECHECK), anyAction),
      fc.oneof(fc.constant(A_RECHECK), anyAction),
      pressByWriter,
      enqueueByWriter,
      ciOfGroup,
    ),
  },
  {
    weight: 2,
    arbitrary: fc.tuple(autoMerge, fc.constant(GREEN), fc.constant(A_RECHECK), approve, anyAction),
  },
  // The head earns its check against a branch with low requirements, and is merged elsewhere.
  {
    weight: 2,
    arbitrary: fc.tuple(
      elsewhere,
      fc.constant(GREEN),
      fc.constant(A_RECHECK),
      approve,
      fc.constant(A_RECHECK),
      fc.constant<Action>({ do: 'turn' }),
      pressByWriter,
    ),
  },
  // Something happens that no webhook reports, and then somebody answers the earlier approval.
  {
    weight: 4,
    arbitrary: fc.tuple(
      fc.constant(GREEN),
      fc.constant(A_RECHECK),
      oneOf({ do: 'hold' }),
      fc.oneof(push, rewrite, pushBack, ci, ...unnoticed),
      approve,
      fc.constant(A_RECHECK),
      fc.constant<Action>({ do: 'release', order: 'fifo' }),
    ),
  },
);

/** A play of at most so many scenes, in most of which the branches require the gate check from the beginning. */
export function anyPlay(mostScenes: number): fc.Arbitrary<Action[]> {
  // Without an occasional pause, the app's writes per minute would soon be used up, and nobody would be asked anything.
  const pause = fc.constantFrom<Action[][]>([], [{ do: 'wait', seconds: 25 }]);
  const withPause = fc.tuple(anyScene, pause).map((parts) => parts.flat());
  const scenes = fc.array(withPause, { minLength: 1, maxLength: mostScenes, size: 'max' });
  return fc
    .tuple(fc.option(guard, { freq: 5 }), scenes)
    .map(([first, rest]) => [...(first ? [first] : []), ...rest.flat()]);
}

function reaction(by: fc.Arbitrary<Login | typeof THE_AUTHOR>, emoji: fc.Arbitrary<(typeof EMOJI)[number]>) {
  const on = fc.constantFrom(
    'newest' as const,
    'newest',
    'newest',
    'newest',
    'older' as const,
    'copy' as const,
  );
  return fc.record({ do: fc.constant('react' as const), by, emoji, on });
}
