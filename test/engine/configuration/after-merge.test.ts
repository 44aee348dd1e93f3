import { describe, expect, test } from 'vitest';
import { formatDiagnostic } from '../../../src/core/diagnostic.ts';
import { CHAINS_FOLDER, SETTINGS_FILE } from '../../../src/domain/chain/configuration-files.ts';
import type { ParsedChain } from '../../../src/domain/chain/scope.ts';
import {
  type ChangedFile,
  diagnosticsAfterMerge,
  removedPaths,
} from '../../../src/engine/configuration/after-merge.ts';
import { NO_SETTINGS, settingsSource } from '../../../src/engine/configuration/settings-source.ts';
import type { PullRequestFile } from '../../../src/ports/github.ts';
import { KNOWN } from '../../support/chains.ts';

const SHIP = `${CHAINS_FOLDER}/ship.yaml`;
const LAB = `${CHAINS_FOLDER}/lab.yaml`;
const ABOVE = 'octo/.github:.github/countersign.yml';

const chain = (file: string, name: string): ParsedChain => ({ file, name, diagnostics: [] });
const changed = (path: string, name: string): ChangedFile => ({
  path,
  chain: chain(path, name),
  diagnostics: [],
});

/** The errors of a repository that has a chain `ship`, named by its settings, besides what `base` says. */
function reportedErrors(
  change: { changes?: ChangedFile[]; gone?: string[] },
  base: { own?: string; above?: string; organisation?: ParsedChain[] } = {},
): string[] {
  const { own = 'chains: [ship]', above, organisation = [] } = base;
  const read = {
    chains: { repository: [chain(SHIP, 'ship')], organisation, stored: [], shipped: [] },
    settings: {
      repository: own === '' ? NO_SETTINGS : settingsSource(own, SETTINGS_FILE),
      organisation: above === undefined ? NO_SETTINGS : settingsSource(above, ABOVE),
    },
  };
  return diagnosticsAfterMerge(read, change.changes ?? [], change.gone ?? [], KNOWN)
    .errors.filter(({ message }) => message.includes('no chain'))
    .map(formatDiagnostic);
}

const missing = (place: string, allowed = 'none') =>
  `${place}: there is no chain "ship"; allowed: ${allowed}`;

describe('a chain that the settings name', () => {
  test('is reported as missing when it is deleted', () => {
    expect(reportedErrors({ gone: [SHIP] })).toEqual([missing('.github/countersign.yml:1:10')]);
  });

  test('is reported as missing when its file gives it another name', () => {
    const changes = [changed(SHIP, 'shop')];
    expect(reportedErrors({ changes })).toEqual([
      '.github/countersign.yml:1:10: there is no chain "ship": did you mean "shop"? Allowed: shop',
    ]);
  });

  test('is not missing when its file moves, or when the organisation has one with its name', () => {
    expect(reportedErrors({ changes: [changed(LAB, 'ship')], gone: [SHIP] })).toEqual([]);
    expect(reportedErrors({ gone: [SHIP] }, { organisation: [chain('octo/.github:ship', 'ship')] })).toEqual(
      [],
    );
  });

  test('is not missing when the settings no longer name it', () => {
    const settings = settingsSource('chains: []', SETTINGS_FILE);
    expect(
      reportedErrors({ changes: [{ path: SETTINGS_FILE, settings, diagnostics: [] }], gone: [SHIP] }),
    ).toEqual([]);
  });

  test('is reported as missing in the organisation’s list if the repository has no list, or removes its own', () => {
    const above = 'chains: [ship]';
    expect(reportedErrors({ gone: [SHIP] }, { own: '', above })).toEqual([missing(`${ABOVE}:1:10`)]);
    expect(reportedErrors({ gone: [SHIP, SETTINGS_FILE] }, { above })).toEqual([missing(`${ABOVE}:1:10`)]);
    expect(reportedErrors({ gone: [SHIP] }, { own: 'chains: []', above })).toEqual([]);
  });
});

test('a name that no chain had before is reported only to pull requests that change the settings', () => {
  const own = 'chains: [gone, ship]';
  expect(reportedErrors({ changes: [changed(LAB, 'lab')] }, { own })).toEqual([]);
  expect(reportedErrors({ gone: [SHIP] }, { own })).toEqual([missing('.github/countersign.yml:1:16')]);
  const settings = settingsSource(own, SETTINGS_FILE);
  expect(reportedErrors({ changes: [{ path: SETTINGS_FILE, settings, diagnostics: [] }] }, { own })).toEqual([
    '.github/countersign.yml:1:10: there is no chain "gone"; allowed: ship',
  ]);
});

test('a renamed file is removed from its old path, a copied one is not', () => {
  const file = (more: Pick<PullRequestFile, 'path' | 'status' | 'previousPath'>): PullRequestFile => ({
    blobSha: null,
    additions: 0,
    deletions: 0,
    headSha: null,
    ...more,
  });
  expect(
    removedPaths([
      file({ path: 'docs/ship.yaml', status: 'renamed', previousPath: SHIP }),
      file({ path: `${CHAINS_FOLDER}/copy.yaml`, status: 'copied', previousPath: LAB }),
      file({ path: SETTINGS_FILE, status: 'removed' }),
      file({ path: `${CHAINS_FOLDER}/sub/lab.yaml`, status: 'removed' }),
    ]),
  ).toEqual([SHIP, SETTINGS_FILE]);
});
