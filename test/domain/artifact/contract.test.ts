import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { safeJoin } from '../../../src/adapters/files/safe-join.ts';
import {
  type Contract,
  contractSchema,
  type Expected,
  foldContracts,
  resolve,
} from '../../../src/domain/artifact/contract.ts';
import { unfitGlobReason, unfitPathReason } from '../../../src/domain/artifact/place.ts';
import { chainOfSteps } from '../../support/builders.ts';
import { temporaryFolders } from '../../support/temp.ts';
import { file } from './support.ts';

const newFolder = temporaryFolders();

const entry = fc.record({
  id: fc.constantFrom('a', 'b', 'c', 'd'),
  path: fc.constantFrom('x', 'y', 'z'),
  required: fc.boolean(),
});
/** The entries of one source; their ids are unique. */
const entriesOf = (source: Expected['source']) =>
  fc
    .uniqueArray(entry, { selector: ({ id }) => id })
    .map((all) => all.map(({ id, path, required }) => file(path, { id, required, source })));
const [defaults, entries] = [entriesOf('skill'), entriesOf('step')];
const byId = ({ expected }: Contract) => new Map(expected.map((one) => [one.id, one]));

describe('merging the entries of a skill and a step', () => {
  test('yields each id of both exactly once', () => {
    fc.assert(
      fc.property(defaults, entries, (of, and) => {
        const ids = resolve(of, and).expected.map(({ id }) => id);
        expect(ids.toSorted()).toEqual([...new Set([...of, ...and].map(({ id }) => id))].toSorted());
        expect(contractSchema.safeParse(resolve(of, and)).success).toBe(true);
      }),
    );
  });

  test('replaces the skill’s entry with the step’s of the same id, and names the source', () => {
    fc.assert(
      fc.property(defaults, entries, (of, and) => {
        const all = byId(resolve(of, and));
        for (const one of and) expect(all.get(one.id)).toEqual(one);
        for (const one of of.filter(({ id }) => !and.some((other) => other.id === id))) {
          expect(all.get(one.id)).toEqual({ ...one, source: 'skill' });
        }
      }),
    );
  });

  test('changes nothing when the other side is empty or the same', () => {
    fc.assert(
      fc.property(defaults, entries, (of, and) => {
        const { expected } = resolve(of, and);
        expect(resolve(expected, [])).toEqual({ expected });
        expect(resolve([], expected)).toEqual({ expected });
        expect(resolve(expected, and)).toEqual({ expected });
      }),
    );
  });

  test('is associative', () => {
    fc.assert(
      fc.property(defaults, entries, entries, (a, b, c) => {
        expect(resolve(resolve(a, b).expected, c)).toEqual(resolve(a, resolve(b, c).expected));
      }),
    );
  });
});

describe('the contracts of a chain', () => {
  const chain = chainOfSteps(
    'id: a, artifacts: { expected: [{ id: log, path: mine.log }] }',
    'id: b',
    'id: c, action: gh-label',
  );
  const usual = file('usual.log', { id: 'log', source: 'skill' });
  const fold = () => foldContracts(chain, ({ uses }) => (uses.kind === 'skill' ? [usual] : []));

  test('are folded step by step, and an action without entries has none', () => {
    const of = fold().steps.map(({ artifacts }) => artifacts?.expected.map(placed));
    expect(of).toEqual([['step mine.log'], ['skill usual.log'], undefined]);
  });

  test('leave the chain unchanged', () => {
    const before = structuredClone(chain);
    fold();
    expect(chain).toEqual(before);
  });

  const placed = (one: Expected) => `${one.source} ${one.kind === 'file' ? one.path : one.kind}`;
});

describe('the path of a contract', () => {
  test.each([
    ['', 'empty'],
    ['/etc/passwd', 'absolute'],
    ['C:\\x', 'absolute'],
    ['../x', '".."'],
    ['a/../x', '".."'],
    ['a//x', 'empty'],
    ['./x', '"."'],
    ['a\\b', 'backslash'],
    ['a*', '* ? [ ]'],
    ['a?', '* ? [ ]'],
    ['[a]', '* ? [ ]'],
    ['a\u0000', 'cannot be seen'],
    ['txt.\u202Eexe', 'cannot be seen'],
    ['x'.repeat(257), '256'],
    [`${'é'.repeat(128)}`, '255 bytes'],
  ])('cannot be %j', (path, because) => {
    expect(unfitPathReason(path)).toContain(because);
    expect(contractSchema.safeParse({ expected: [file(path)] }).success).toBe(false);
  });

  test.each(['a', 'a/b.json', '.hidden', 'a/..b', 'ü.txt'])('can be %j', (path) => {
    expect(unfitPathReason(path)).toBeUndefined();
  });

  test('never leads out of the folder that it is relative to', async () => {
    const root = newFolder();
    const part = fc.oneof(
      fc.constantFrom('..', '.', '', '\\', '*', '~', 'a', '\u202E'),
      fc.string({ maxLength: 4 }),
    );
    let taken = 0;
    await fc.assert(
      fc.asyncProperty(fc.array(part, { minLength: 1, maxLength: 4 }), async (parts) => {
        const path = parts.join('/');
        if (unfitPathReason(path) !== undefined) return;
        taken++;
        expect((await safeJoin(root, `run_1/ses_1/${path}`)).endsWith(`/run_1/ses_1/${path}`)).toBe(true);
      }),
      { numRuns: 300 },
    );
    expect(taken).toBeGreaterThan(0);
  });

  test.each([
    ['reports/x.json', 'no wildcard'],
    ['../*', '".."'],
    ['/*', 'absolute'],
    ['[ab*', 'no "]"'],
    ['!*', '"!"'],
    ['*a'.repeat(9), '8 wildcards'],
    ['?'.repeat(9), '8 wildcards'],
  ])('cannot be the glob %j', (glob, because) => {
    expect(unfitGlobReason(glob)).toContain(because);
  });
});
