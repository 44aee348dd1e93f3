import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { formatDiagnostic } from '../../../src/core/diagnostic.ts';
import {
  defaultSettings,
  mergeSettings,
  parseSettings,
  unknownChains,
} from '../../../src/domain/chain/settings.ts';

const faultsOf = (text: string) => parseSettings(text, 'countersign.yml').diagnostics.map(formatDiagnostic);

function settingsOf(text: string) {
  const { settings, diagnostics } = parseSettings(text, 'countersign.yml');
  if (!settings)
    throw new Error(`the test's own settings have errors:\n${diagnostics.map(formatDiagnostic).join('\n')}`);
  return settings;
}

describe('the parser of settings', () => {
  test.each(['', '# nothing', '{}'])('takes the defaults from a file without settings (%j)', (text) => {
    expect(mergeSettings(undefined, settingsOf(text))).toEqual(defaultSettings);
  });

  test('reads every setting', () => {
    const text = `
chains: [pr-review, release]
countersign:
  permission: admin
  teams: [acme/maintainers]
  users: [octocat]
  count: 2
  unattributed: refuse
  review: required
  approve: [heart]
  reject: []
merge: { method: rebase, changes_requested: ignore }
ci: { wait: 90m, no_checks: block, required: [build], ignore: [flaky] }
noise: quiet
`;
    expect(mergeSettings(undefined, settingsOf(text))).toEqual({
      chains: ['pr-review', 'release'],
      countersign: {
        permission: 'admin',
        teams: ['acme/maintainers'],
        users: ['octocat'],
        count: 2,
        unattributed: 'refuse',
        review: 'required',
        approve: ['heart'],
        reject: [],
      },
      merge: { method: 'rebase', by: 'app', changes_requested: 'ignore' },
      ci: { wait: 5_400_000, no_checks: 'block', required: ['build'], ignore: ['flaky'] },
      noise: 'quiet',
    });
  });

  test.each(['users: [octocat]', 'teams: [acme/maintainers]'])(
    'lets only named people countersign: %s',
    (named) => {
      const { countersign } = settingsOf(`countersign: {permission: none, ${named}}`);
      expect(countersign?.permission).toBe('none');
    },
  );

  test('accepts thumbs with and without quotes', () => {
    expect(settingsOf('countersign: {approve: [+1], reject: [-1]}')).toEqual(
      settingsOf('countersign: {approve: ["+1"], reject: ["-1"]}'),
    );
  });
});

describe('the rules that reviews leave out', () => {
  const ignored = (organisation: string, repository: string) =>
    mergeSettings(settingsOf(organisation), settingsOf(repository)).review;

  test.each([
    [
      'those of both files',
      'review: { ignore: [b/two] }\n',
      'review: { ignore: [a/one, b/two] }\n',
      ['a/one', 'b/two'],
    ],
    ['those of one file', '', 'review: { ignore: [sql/drop-column] }\n', ['sql/drop-column']],
  ])('are %s', (_, organisation, repository, rules) => {
    expect(ignored(organisation, repository)).toEqual({ ignore: rules });
  });

  test('are none by default, and the settings do not mention them', () => {
    expect(ignored('', 'review: { ignore: [] }\n')).toBeUndefined();
  });

  test.each([
    ['organisation', 'review: { learning: off }\n', 'review: { learning: on }\n'],
    ['repository', '', 'review: { learning: off }\n'],
  ])('come with a switch for what is learned, which the %s turns off', (_, organisation, repository) => {
    expect(ignored(organisation, repository)).toEqual({ ignore: [], learning: 'off' });
  });

  test('have a name with the analyzer', () => {
    expect(faultsOf('review: { ignore: [drop-column] }\n')).toEqual([
      'countersign.yml:1:20: a rule is written analyzer/rule, as its finding shows it',
    ]);
  });
});

describe('an error in the settings', () => {
  const table: [behaviour: string, text: string, diagnostics: string[]][] = [
    [
      'a misspelt section',
      'countersing: {}',
      [
        'countersign.yml:1:1: unknown key "countersing": did you mean "countersign"? Allowed: chains, countersign, merge, ci, notify, noise, review, gates, minimum, merging, shell, rollout',
      ],
    ],
    [
      'notices that contradict each other or cannot be read',
      `notify:
  mention: reminder
  remind: never
  webhooks: [Team]
  quiet_hours: { from: "18:00", to: "25:00", time_zone: Middle/Earth }`,
      [
        'countersign.yml:2:12: "remind: never" sends no reminder, so nobody would be mentioned',
        'countersign.yml:4:14: a webhook is the name that the operator gave it, such as team-chat',
        'countersign.yml:5:37: a time of day has the form "18:00"; write it in quotes',
        'countersign.yml:5:57: a time zone has a name such as Europe/Berlin',
      ],
    ],
    [
      'a time for a reminder that is too long',
      'notify: { remind: 31d }',
      [
        'countersign.yml:1:19: a reminder comes after a length of time, such as 24h and at most 30d, or never',
      ],
    ],
    [
      'an unknown time for a mention',
      'notify: { mention: always }',
      ['countersign.yml:1:20: "mention" cannot be "always"; allowed: question, reminder, never'],
    ],
    [
      'a misspelt key in a section',
      'countersign:\n  permision: admin',
      [
        'countersign.yml:2:3: unknown key "permision": did you mean "permission"? Allowed: permission, teams, users, count, unattributed, review, approve, reject',
      ],
    ],
    [
      'an invalid permission',
      'countersign: {permission: read}',
      ['countersign.yml:1:27: "permission" cannot be "read"; allowed: admin, maintain, write, none'],
    ],
    ...['', ', users: []', ', teams: []', ', users: [], teams: []'].map(
      (named): [string, string, string[]] => [
        `nobody who may countersign (none${named})`,
        `countersign: {permission: none${named}}`,
        [
          'countersign.yml:1:27: with "permission: none" nobody could countersign: name teams or users beside it',
        ],
      ],
    ),
    ['counts out of range', 'countersign: {count: 0}', ['countersign.yml:1:22: "count" must be at least 1']],
    [
      'the app’s own reactions',
      'countersign: {approve: [eyes, hooray], reject: [confused]}',
      [
        'countersign.yml:1:25: the reaction "eyes" is one the bot uses itself; allowed: rocket, +1, -1, heart, laugh',
        'countersign.yml:1:31: the reaction "hooray" is one the bot uses itself; allowed: rocket, +1, -1, heart, laugh',
        'countersign.yml:1:49: the reaction "confused" is one the bot uses itself; allowed: rocket, +1, -1, heart, laugh',
      ],
    ],
    [
      'unknown reactions',
      'countersign: {approve: [roket, 2]}',
      [
        'countersign.yml:1:25: "roket" is not a reaction for this: did you mean "rocket"? Allowed: rocket, +1, -1, heart, laugh',
        'countersign.yml:1:32: 2 is not a reaction for this; allowed: rocket, +1, -1, heart, laugh',
      ],
    ],
    [
      'no approving reaction',
      'countersign: {approve: []}',
      ['countersign.yml:1:24: "approve" must have at least 1 entry'],
    ],
    [
      'one reaction for both answers',
      'countersign: {approve: [heart, +1], reject: ["+1"]}',
      ['countersign.yml:1:46: the reaction "+1" cannot both approve and reject'],
    ],
    [
      'a check that is both required and ignored',
      'ci: {required: [a], ignore: [b, a]}',
      ['countersign.yml:1:33: the check "a" cannot be both required and ignored'],
    ],
    [
      'everything, if one value is invalid and others contradict each other',
      `noise: loud
countersign: { permission: none, approve: [eyes, -1, heart], reject: [eyes, "-1", 3], count: x }
ci: { required: [a, 1], ignore: [1, a], wait: soon }`,
      [
        'countersign.yml:1:8: "noise" cannot be "loud"; allowed: normal, quiet',
        'countersign.yml:2:28: with "permission: none" nobody could countersign: name teams or users beside it',
        'countersign.yml:2:44: the reaction "eyes" is one the bot uses itself; allowed: rocket, +1, -1, heart, laugh',
        'countersign.yml:2:71: the reaction "eyes" is one the bot uses itself; allowed: rocket, +1, -1, heart, laugh',
        'countersign.yml:2:77: the reaction "-1" cannot both approve and reject',
        'countersign.yml:2:83: 3 is not a reaction for this; allowed: rocket, +1, -1, heart, laugh',
        'countersign.yml:2:94: "count" must be a number, not "x"',
        'countersign.yml:3:21: entry 2 of "required" must be a text, not 1',
        'countersign.yml:3:34: entry 1 of "ignore" must be a text, not 1',
        'countersign.yml:3:37: the check "a" cannot be both required and ignored',
        'countersign.yml:3:47: a length of time is a number and a unit, such as 90s, 30m, 2h or 7d, and at most 7d',
      ],
    ],
    [
      'teams and users in another form',
      'countersign: {teams: [maintainers], users: ["@octocat"]}',
      [
        'countersign.yml:1:23: a team is written organisation/team-slug',
        'countersign.yml:1:45: a user is a GitHub login, without @',
      ],
    ],
    [
      'a duration without a unit',
      'ci: {wait: 6}',
      [
        'countersign.yml:1:12: a length of time is a number and a unit, such as 90s, 30m, 2h or 7d, and at most 7d',
      ],
    ],
    ['an invalid chain name', 'chains: [Pr]', ['countersign.yml:1:10: this is not a chain name']],
    [
      'a section left empty',
      'ci:\n',
      ['countersign.yml:1:4: "ci" must be a mapping of keys to values, not null'],
    ],
  ];
  test.each(table)('is reported for %s', (_, text, diagnostics) => {
    expect(faultsOf(text)).toEqual(diagnostics);
  });

  test('is reported at most as often as the longest allowed list has entries', () => {
    const names = JSON.stringify(Array.from({ length: 2_000 }, () => 'x'));
    expect(faultsOf(`ci: { required: ${names}, ignore: ${names} }`)).toHaveLength(2 + 100);
    expect(unknownChains(`chains: ${names}`, 'countersign.yml', ['a'])).toHaveLength(50);
  });

  test('is the only answer to any text that does not parse: the parser never throws', {
    tags: 'slow',
  }, () => {
    fc.assert(
      fc.property(fc.string({ unit: 'binary' }), (text) => {
        const { settings, diagnostics } = parseSettings(text, 'f.yml');
        expect(settings === undefined).toBe(diagnostics.length > 0);
      }),
    );
  });
});

describe('the settings of a repository', () => {
  test('notify nobody unless a file says so, and then override those of the organisation key by key', () => {
    expect(mergeSettings({}, {}).notify).toBeUndefined();
    const { notify } = mergeSettings(
      settingsOf('notify: { request_review: true, mention: question }'),
      settingsOf('notify: { mention: never }'),
    );
    expect(notify).toEqual({ request_review: true, mention: 'never', webhooks: [], remind: 86_400_000 });
  });

  test('override those of its organisation key by key', () => {
    const merged = mergeSettings(
      settingsOf('countersign: {count: 2, permission: admin}\nnoise: quiet\nchains: [a]'),
      settingsOf('countersign: {permission: write}\nmerge: {method: merge}'),
    );
    expect(merged).toMatchObject({
      chains: ['a'],
      countersign: { count: 2, permission: 'write', approve: ['rocket', '+1'] },
      merge: { method: 'merge' },
      noise: 'quiet',
    });
  });

  test('can empty the organisation’s list of chains', () => {
    expect(mergeSettings(settingsOf('chains: [a]'), settingsOf('chains: []')).chains).toEqual([]);
  });

  test('cannot make a rejecting reaction approve', () => {
    const merged = mergeSettings(
      settingsOf('countersign: {reject: [rocket, "-1"]}'),
      settingsOf('countersign: {approve: [rocket, heart]}'),
    );
    expect(merged.countersign).toMatchObject({ approve: ['heart'], reject: ['rocket', '-1'] });
  });

  test('cannot make CI ignore a required check', () => {
    const merged = mergeSettings(
      settingsOf('ci: {required: [build]}'),
      settingsOf('ci: {ignore: [build, x]}'),
    );
    expect(merged.ci).toMatchObject({ required: ['build'], ignore: ['x'] });
  });

  test('leave the defaults unchanged', () => {
    const before = structuredClone(defaultSettings);
    mergeSettings(settingsOf('countersign: {reject: [rocket]}'), undefined);
    expect(defaultSettings).toEqual(before);
  });
});

test.each([
  [undefined, undefined, undefined],
  [undefined, 'allow', 'allow'],
  ['allow', undefined, 'allow'],
  ['allow', 'off', undefined],
  ['off', 'allow', 'off_in_organisation'],
] as const)(
  'with shell: %s in the organisation and %s in the repository, it is %s',
  (organisation, repository, shell) => {
    expect(mergeSettings({ shell: organisation }, { shell: repository }).shell).toBe(shell);
  },
);
