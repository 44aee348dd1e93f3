import { describe, expect, it } from 'vitest';
import { totalsOf } from '../../src/domain/run/report.ts';
import {
  configCheckText,
  isSuspended,
  notInstalledFor,
  placedErrors,
  waitingForLimit,
} from '../../src/messages/cli/config-check.ts';
import { reportText } from '../../src/messages/cli/report.ts';
import { at } from './builders.ts';
import { REPORTS } from './reports.ts';

const period = { since: at('09:00'), now: at('13:00'), isFiltered: false };

describe('the report on the command line', () => {
  it('has a line for each repository, the errors and the sums', () => {
    expect(reportText(REPORTS, totalsOf(REPORTS, []), period)).toMatchInlineSnapshot(`
      "REPOSITORY  ROLLOUT  ERRORS  MERGED  WOULD MERGE  FAILED  CHANGES  NO MERGE  STOPPED  ANSWER  90 %         OPEN
      acme/docs   observe  2               3                    2        1
      acme/api    enforce  1                                             1
      acme/shop   enforce          31                   4                          5        36 min  20 h 18 min  2, 3 h
      acme/quiet  off

      Errors in configurations, as last read:
        acme/docs: .github/countersign.yml:2:3: unknown key "<b>bye</b>": did you mean "by"? (and 1 more error)
        acme/.github: countersign/chains/deploy.yaml:4:1: there is no action "gh-coment"

      4 repositories, of which 2 have errors. Since 2025-03-01: 31 merged, 3 would have merged, 4 failed. 2 questions are open, the oldest for 3 h."
    `);
  });

  it('fits a screen of 70 columns', () => {
    const text = reportText(REPORTS, totalsOf(REPORTS, []), period, { columns: 70, colours: false });
    const [table = ''] = text.split('\n\n');
    expect(Math.max(...table.split('\n').map((line) => line.length))).toBeLessThanOrEqual(70);
    expect(table).toMatchInlineSnapshot(`
      "REPOSITORY  ROLLOUT  ERRORS  MERGED  WOULD MERGE  ANSWER  OPEN
      acme/docs   observe  2               3
      acme/api    enforce  1
      acme/shop   enforce          31                   36 min  2, 3 h
      acme/quiet  off"
    `);
  });

  it('says when repositories are listed if there is none', () => {
    expect(reportText([], totalsOf([], []), period)).toMatchInlineSnapshot(
      `"No repository has been read yet. Each is listed once the app has read its default branch: with its first pull request, and otherwise within a day."`,
    );
    expect(reportText([], totalsOf([], []), { ...period, isFiltered: true })).toMatchInlineSnapshot(
      `"No such repository has been read yet. Each is listed once the app has read its default branch: with its first pull request, and otherwise within a day."`,
    );
  });
});

describe('the check of configurations', () => {
  const error = { file: 'acme/.github:countersign/chains/a.yaml', line: 1, column: 1, message: 'is broken' };

  it('places the errors of an organisation in its own repository, once', () => {
    const own = { ...error, file: 'countersign/chains/a.yaml' };
    expect(
      placedErrors([
        { repository: 'acme/shop', errors: [error] },
        { repository: 'acme/api', errors: [error, { ...error, file: 'acme/.github' }] },
        { repository: 'acme/.github', errors: [own, error] },
      ]),
    ).toEqual([
      { ...error, repository: 'acme/.github', file: '' },
      { ...error, repository: 'acme/.github', file: own.file },
    ]);
  });

  it('says what was left out', () => {
    expect(
      configCheckText({
        read: 4,
        skipped: 12,
        empty: 1,
        errors: [],
        unreadable: [{ repository: 'acme/odd', because: 'Not Found' }],
      }),
    ).toMatchInlineSnapshot(`
      "REPOSITORY  FILE  LINE  ERROR
      acme/odd                cannot be read: Not Found

      4 repositories checked: no errors. 1 repository could not be read, 1 repository has no commit yet and 12 repositories are archived and skipped."
    `);
  });

  it('says where the App is not installed', () => {
    expect([
      notInstalledFor('acme', []),
      notInstalledFor('acme', ['octo']),
      isSuspended('acme'),
    ]).toMatchInlineSnapshot(`
      [
        "The App is not installed anywhere yet. Install it on its page on GitHub.",
        "The App is not installed for acme; it is for octo.",
        "acme has suspended the App's installation, so GitHub shows nothing of it.",
      ]
    `);
  });

  it('says until when it waits', () => {
    expect(waitingForLimit(at('10:00'))).toMatchInlineSnapshot(
      `"Waiting until 2025-03-01 10:00 UTC for GitHub's rate limit, of which the app keeps a part …"`,
    );
  });
});
