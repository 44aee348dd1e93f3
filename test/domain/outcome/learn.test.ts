import { describe, expect, test } from 'vitest';
import { mostlyAccepted } from '../../../src/domain/outcome/learn.ts';
import { at } from '../../support/builders.ts';

const accepted = (rule: string, count: number, login = 'mia', first = at(0)) => ({
  rule,
  count,
  login,
  first,
});

describe('a rule that people mostly accept', () => {
  test.each([
    ['is listed if all its findings were accepted', 2, 2, true],
    ['is listed if half of its findings were accepted', 4, 2, true],
    ['is not listed if most of its findings stayed', 5, 2, false],
    ['is not listed after a single acceptance', 1, 1, false],
    ['is listed if its findings were not counted before', 0, 3, true],
  ])('%s', (_, found, count, listed) => {
    const learned = mostlyAccepted([{ rule: 'a/b', found }], [accepted('a/b', count)]);
    expect(learned.map(({ rule }) => rule)).toEqual(listed ? ['a/b'] : []);
  });

  test('names everybody who accepted it, and since when', () => {
    const people = [accepted('a/b', 3, 'mia', at(9)), accepted('a/b', 1, 'max', at(2))];
    expect(mostlyAccepted([{ rule: 'a/b', found: 5 }], people)).toEqual([
      {
        rule: 'a/b',
        found: 5,
        accepted: 4,
        by: [
          { login: 'mia', count: 3 },
          { login: 'max', count: 1 },
        ],
        since: at(2),
      },
    ]);
  });

  test('comes before those with fewer acceptances', () => {
    const all = [accepted('c/c', 2), accepted('a/a', 2), accepted('b/b', 3)];
    expect(mostlyAccepted([], all).map(({ rule }) => rule)).toEqual(['b/b', 'a/a', 'c/c']);
  });
});
