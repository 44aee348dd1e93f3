import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import type { Expected } from '../../../src/domain/artifact/contract.ts';
import { deliveryOf } from '../../../src/domain/artifact/delivery.ts';
import { MIME_TYPES } from '../../../src/domain/artifact/mime-type.ts';
import { type ProducedFile, verificationSchema, verify } from '../../../src/domain/artifact/verification.ts';
import { at, ciOutcome } from '../../support/builders.ts';
import { file, files, produced } from './support.ts';

const PNG = [0x89, 0x50, 0x4e, 0x47, 0x0d, 0x0a, 0x1a, 0x0a, 0];
const outcome: Expected = {
  kind: 'outcome',
  id: 'it',
  outcome: 'ci_result',
  required: true,
  source: 'skill',
};

/** Why the only entry is missing, such as `absent: it is empty`; `there` if it is not missing. */
function came(entry: Expected, ...there: ProducedFile[]): string {
  const { missing_required, missing_optional } = verify({ expected: [entry] }, there, [], at(0));
  const [missing] = [...missing_required, ...missing_optional];
  return missing ? `${missing.problem}: ${missing.because}` : 'there';
}

describe('verify', () => {
  test.each<[string, Expected, ProducedFile[], string]>([
    ['a file that exists', file('a'), [produced('a')], 'there'],
    ['a file that does not', file('a'), [produced('b')], 'absent: it is not there'],
    ['an empty file', file('a'), [produced('a', '')], 'absent: it is empty'],
    ['a file of enough bytes', file('a', { min_size: 3 }), [produced('a', 'abc')], 'there'],
    [
      'a file of too few bytes',
      file('a', { min_size: 4 }),
      [produced('a', 'abc')],
      'invalid: it has 3 bytes, and needs 4',
    ],
    ['the type of its bytes', file('a.txt', { mime_type: 'image/png' }), [produced('a.txt', PNG)], 'there'],
    [
      'another type than its name claims',
      file('a.png', { mime_type: 'image/png' }),
      [produced('a.png', 'not a picture')],
      'invalid: it is not of the type image/png',
    ],
    ['JSON', file('a', { mime_type: 'application/json' }), [produced('a', 'null')], 'there'],
    [
      'broken JSON',
      file('a', { mime_type: 'application/json' }),
      [produced('a', '{"a":')],
      'invalid: it is not of the type application/json',
    ],
    [
      'bytes that are no text',
      file('a', { mime_type: 'text/plain' }),
      [produced('a', [0xff, 0xfe])],
      'invalid: it is not of the type text/plain',
    ],
    ['JSON of the right shape', file('a', { schema: { type: 'array' } }), [produced('a', '[]')], 'there'],
    [
      'JSON of another shape',
      file('a', { schema: { type: 'array' } }),
      [produced('a', '{}')],
      'invalid: it does not have the shape that was asked for (the whole: Invalid input: expected array, received object)',
    ],
    ['no JSON', file('a', { schema: { type: 'array' } }), [produced('a', 'x')], 'invalid: it is not JSON'],
    [
      'JSON too large to parse',
      file('a', { schema: { type: 'string' } }),
      [produced('a', `"${'x'.repeat(1_000_000)}"`)],
      'invalid: it has more than 1000000 bytes to parse',
    ],
    [
      'as many files as required',
      files('*.json', 2),
      [produced('a.json'), produced('b.json'), produced('c.txt')],
      'there',
    ],
    [
      'too few',
      files('*.json', 2, 3),
      [produced('a.json')],
      'invalid: 1 file matches, and there must be 2 to 3',
    ],
    [
      'too many',
      files('*.json', 1),
      [produced('a.json'), produced('b.json')],
      'invalid: 2 files match, and there must be 1',
    ],
    [
      'files of which one is empty',
      files('*.json', 2),
      [produced('a.json'), produced('b.json', '')],
      'invalid: 1 file matches, and there must be 2',
    ],
    [
      'files in a folder that a star does not cross',
      files('*.json', 1),
      [produced('a/b.json')],
      'absent: no file matches it',
    ],
    ['an outcome', outcome, [], 'absent: the session has no such outcome'],
  ])('checks an entry against %s', (_, entry, there, said) => {
    expect(came(entry, ...there)).toBe(said);
  });

  test('accepts an outcome that the session produced, with its size', () => {
    const { status, produced } = verify({ expected: [outcome] }, [], [ciOutcome(true)], at(0));
    expect({ status, produced }).toEqual({
      status: 'passed',
      produced: [{ id: 'it', path: 'ci_result', size: expect.any(Number) }],
    });
  });
});

test('each MIME type is recognised by its own bytes only', () => {
  const samples: Record<string, ProducedFile> = {
    'application/gzip': produced('a', [0x1f, 0x8b, 8, 0]),
    'application/json': produced('a', '{}'),
    'application/pdf': produced('a', '%PDF-1.7\u0000'),
    'application/zip': produced('a', [0x50, 0x4b, 3, 4]),
    'image/gif': produced('a', 'GIF89a\u0000'),
    'image/jpeg': produced('a', [0xff, 0xd8, 0xff, 0xe0]),
    'image/png': produced('a', PNG),
    'text/plain': produced('a', 'Grüße\n'),
  };
  const taken = MIME_TYPES.map((type) => [
    type,
    MIME_TYPES.filter(
      (other) => came(file('a', { mime_type: other }), samples[type] ?? produced('a')) === 'there',
    ),
  ]);
  expect(Object.fromEntries(taken)).toEqual({
    ...Object.fromEntries(MIME_TYPES.map((type) => [type, [type]])),
    'application/json': ['application/json', 'text/plain'],
  });
});

describe('a verification', () => {
  const [must, may] = [file('must', { id: 'must' }), file('may', { id: 'may', required: false })];

  test.each([
    ['passed', [must, may], ['must', 'may']],
    ['warning', [must, may], ['must']],
    ['failed', [must, may], ['may']],
    ['failed', [must, may], []],
    ['warning', [may], []],
    ['skipped', [], ['must']],
  ] as const)('is %s when %j is expected and %j is there', (status, expected, there) => {
    const made = verify(
      { expected: [...expected] },
      there.map((path) => produced(path)),
      [],
      at(0),
    );
    expect(verificationSchema.parse(made)).toMatchObject({ status, checked_at: at(0).toISOString() });
  });

  test('lists every entry exactly once, and fails exactly when a required one is missing', () => {
    const path = fc.constantFrom<string>('a', 'b', 'c', 'd');
    const expected = fc
      .uniqueArray(fc.record({ path, required: fc.boolean() }), { selector: (one) => one.path })
      .map((all) => all.map((one) => file(one.path, { id: one.path, required: one.required })));
    fc.assert(
      fc.property(expected, fc.uniqueArray(path), (entries, there) => {
        const made = verify(
          { expected: entries },
          there.map((one) => produced(one)),
          [],
          at(0),
        );
        const ids = [...made.missing_required, ...made.missing_optional, ...made.produced].map(
          ({ id }) => id,
        );
        expect(ids.toSorted()).toEqual(entries.map(({ id }) => id).toSorted());
        expect(made.status === 'failed').toBe(
          entries.some(({ required, path }) => required && !there.includes(path)),
        );
      }),
    );
  });
});

describe('the delivery of a run', () => {
  const verified = (...there: ProducedFile[]) =>
    verify({ expected: [file('a', { id: 'a', min_size: 2 }), file('b', { id: 'b' })] }, there, [], at(0));
  const [all, some, none] = [verified(produced('a'), produced('b')), verified(produced('a')), verified()];
  const wrong = verified(produced('a', 'x'), produced('b'));
  const optional = verify({ expected: [file('c', { required: false })] }, [], [], at(0));

  test.each([
    ['nothing if there is no contract', [], undefined],
    ['nothing if contracts require nothing', [verify({ expected: [] }, [], [], at(0))], undefined],
    ['passed if everything is there', [all, all], 'passed'],
    ['partial if one step left something out', [all, none], 'partial'],
    ['partial if half of it is there', [some], 'partial'],
    ['partial if only what is optional is missing', [all, optional], 'partial'],
    ['missing if nothing is there', [none, none], 'missing'],
    ['invalid if a file does not match', [all, wrong, none], 'invalid'],
  ])('is %s', (_, verifications, said) => {
    expect(deliveryOf(verifications)).toBe(said);
  });
});
