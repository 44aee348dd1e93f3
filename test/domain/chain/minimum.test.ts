import { describe, expect, test } from 'vitest';
import {
  diagnosticsBelowMinimum,
  mergeSettings,
  parseSettings,
  strictestMinimum,
} from '../../../src/domain/chain/settings.ts';

const FILE = '.github/countersign.yml';
const file = (text: string) => parseSettings(text, FILE).settings;
const ORGANISATION =
  'minimum: { count: 2, permission: maintain, review: required, no_checks: block, trust: standard }\n';

describe('the minimum of an organisation', () => {
  test('replaces a laxer setting of a repository, and the settings say so', () => {
    const repository =
      'countersign: { count: 1, permission: write, review: optional, users: [will] }\nci: { no_checks: allow }\n';
    const settings = mergeSettings(file(ORGANISATION), file(repository));
    expect(settings.countersign).toMatchObject({
      count: 2,
      permission: 'maintain',
      least: 'maintain',
      review: 'required',
    });
    expect(settings.ci.no_checks).toBe('block');
    expect(settings.leastTrust).toBe('standard');
    expect(settings.lifted).toEqual([
      'countersign.count is 2, the minimum of the organisation, and not 1',
      'countersign.permission is maintain, the minimum of the organisation, and not write',
      'countersign.review is required, the minimum of the organisation, and not optional',
      'ci.no_checks is block, the minimum of the organisation, and not allow',
    ]);
  });

  test('leaves a stricter setting of a repository alone', () => {
    const settings = mergeSettings(
      file(ORGANISATION),
      file('countersign: { count: 3, permission: admin }\n'),
    );
    expect(settings.countersign).toMatchObject({ count: 3, permission: 'admin' });
  });

  test('also applies to named people when no role may countersign', () => {
    const settings = mergeSettings(
      file(ORGANISATION),
      file('countersign: { permission: none, users: [will] }\n'),
    );
    expect(settings.countersign).toMatchObject({ permission: 'none', least: 'maintain' });
  });

  test.each([
    [{ count: 2 }, { count: 1 }, { count: 2 }],
    [{ count: 1 }, { count: 3 }, { count: 3 }],
    [{ permission: 'admin' }, { permission: 'write' }, { permission: 'admin' }],
    [{ permission: 'write' }, { permission: 'maintain' }, { permission: 'maintain' }],
    [{ trust: 'elevated' }, { trust: 'sandbox' }, { trust: 'elevated' }],
    [{ no_checks: 'block' }, {}, { no_checks: 'block' }],
    [{}, { review: 'required' }, { review: 'required' }],
    [{}, {}, {}],
  ] as const)('takes the stricter of both: %j and %j become %j', (organisation, repository, both) => {
    expect(strictestMinimum(organisation, repository)).toEqual(both);
  });

  test('is reported at the line of each setting that is laxer', () => {
    const text = 'ci:\n  no_checks: allow\ncountersign:\n  count: 1\n';
    expect(diagnosticsBelowMinimum(text, FILE, { count: 2, no_checks: 'block' })).toEqual([
      {
        file: FILE,
        line: 4,
        column: 10,
        message: '1 is less than the minimum of the organisation, so 2 holds',
      },
      {
        file: FILE,
        line: 2,
        column: 14,
        message: 'allow is less than the minimum of the organisation, so block holds',
      },
    ]);
  });
});

test('merging is off if the organisation or the repository turns it off', () => {
  expect(mergeSettings(file('merging: off\n'), file('merging: on\n')).mergingOff).toBe('organisation');
  expect(mergeSettings(file('merging: on\n'), file('merging: off\n')).mergingOff).toBe('repository');
  expect(mergeSettings(file('merging: on\n'), undefined).mergingOff).toBeUndefined();
});
