import { describe, expect, test } from 'vitest';
import { formatDiagnostic } from '../../../src/core/diagnostic.ts';
import { levelFor, readRollout } from '../../../src/domain/chain/rollout-setting.ts';
import { parseSettings } from '../../../src/domain/chain/settings.ts';

const FILE = '.github/countersign.yml';
const LIST = `rollout:
  - { repositories: [shop, "team-a-*"], level: enforce }
  - { repositories: Docs, level: comment }
  - { repositories: "*", level: observe }
`;

function settingIn(text: string) {
  const read = readRollout(text, FILE);
  return read.kind === 'read' ? read.setting : read;
}

describe('the level of a repository', () => {
  test.each([
    ['noise: quiet\n', 'shop', 'enforce'],
    ['rollout: observe\n', 'shop', 'observe'],
    ['rollout: observe\n', '.github', 'observe'],
    [LIST, 'shop', 'enforce'],
    [LIST, 'SHOP', 'enforce'],
    [LIST, 'team-a-web', 'enforce'],
    [LIST, 'docs', 'comment'],
    [LIST, 'other', 'observe'],
  ])('by %j is, for %s, %s', (text, name, level) => {
    expect(levelFor(parseSettings(text, FILE).settings?.rollout, name)).toBe(level);
  });
});

describe('an error in the rollout', () => {
  test.each([
    ['a level that does not exist', 'rollout: observ\n'],
    ['a list without an entry for all others', 'rollout:\n  - { repositories: shop, level: enforce }\n'],
    ['a level in the list that does not exist', 'rollout:\n  - { repositories: "*", level: all }\n'],
    ['a name with its owner', 'rollout:\n  - { repositories: [octo/shop, "*"], level: off }\n'],
    ['a mapping', 'rollout: { observe: true }\n'],
    ['an empty list', 'rollout: []\n'],
  ])('is reported for %s, and makes it unreadable', (_, text) => {
    expect(parseSettings(text, FILE).diagnostics.map(formatDiagnostic)).toMatchSnapshot();
    expect(settingIn(text)).toEqual({ kind: 'unreadable', mentioned: true });
  });
});

describe('what a file says of the rollout', () => {
  test('counts if something else in it is wrong', () => {
    expect(levelFor(settingIn('rollout: observe\ncountersing: {}\n') as never, 'shop')).toBe('observe');
  });

  test.each([
    ['rollout: [observe\n', true],
    ['countersign: [\n', false],
  ])('is unknown if %j is no YAML', (text, mentioned) => {
    expect(settingIn(text)).toEqual({ kind: 'unreadable', mentioned });
  });

  test('is an error in a repository that is not the organisation’s', () => {
    const { diagnostics } = parseSettings('rollout: off\n', FILE, undefined, { mayRollOut: false });
    expect(diagnostics.map(formatDiagnostic)).toEqual([
      '.github/countersign.yml:1:1: only the settings of the organisation, in its .github repository, can set "rollout"; here, "merging: off" stops merges and "chains: []" stops runs',
    ]);
  });
});
