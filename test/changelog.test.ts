import { execFileSync } from 'node:child_process';
import {
  cpSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { describe, expect, it, onTestFinished } from 'vitest';
import { dated, kindOf, notes } from '../scripts/changelog.ts';

const ROOT = fileURLToPath(new URL('..', import.meta.url));
const read = (path: string) => readFileSync(join(ROOT, path), 'utf8');

const BY_CHANGESETS = `# Changelog

Words.

## 0.2.0

### Minor Changes

- Added: one thing.
- Fixed: a fault
  in two lines.

  And a paragraph.

### Patch Changes

- Fixed: another fault.

## 0.1.0 - 2026-12-01

### Added

- Everything.
`;

const KEPT = `# Changelog

Words.

## 0.2.0 - 2027-01-02

### Added

- one thing.

### Fixed

- a fault
  in two lines.

  And a paragraph.
- another fault.

## 0.1.0 - 2026-12-01

### Added

- Everything.
`;

describe('the changelog', () => {
  it('gets a date and the headings of Keep a Changelog, and keeps older versions', () => {
    expect(dated(BY_CHANGESETS, '2027-01-02')).toBe(KEPT);
  });

  it('refuses an entry without its kind of change', () => {
    expect(() => dated('## 0.2.0\n\n- one thing.\n', '2027-01-02')).toThrow('not with: one thing.');
  });

  it('refuses to date a version twice', () => {
    expect(() => dated(KEPT, '2027-01-03')).toThrow('no version without a date');
  });

  it('returns the entries of one version', () => {
    expect(notes(KEPT, '0.1.0')).toBe('### Added\n\n- Everything.\n');
    expect(() => notes(KEPT, '0.3.0')).toThrow('no version 0.3.0');
    expect(() => notes('## 0.1.0 - Unreleased\n', '0.1.0')).toThrow('no date for 0.1.0');
  });

  it('of this checkout begins with the version of package.json', () => {
    const { version } = JSON.parse(read('package.json')) as { version: string };
    const newest = /^## (\S+) - (\d{4}-\d\d-\d\d|Unreleased)$/m.exec(read('CHANGELOG.md'));
    expect(newest?.[1]).toBe(version);
  });
});

describe('a changeset', () => {
  const files = readdirSync(join(ROOT, '.changeset')).filter((name) => /(?<!README)\.md$/.test(name));
  it.skipIf(files.length === 0).each(files)('%s names its kind of change', (name) => {
    const [, , summary = ''] = read(join('.changeset', name)).split(/^---$/m);
    expect(kindOf(summary.trim()).text).not.toBe('');
  });

  it('becomes an entry of the next version', { tags: 'slow' }, () => {
    const folder = mkdtempSync(join(tmpdir(), 'countersign-changelog-'));
    onTestFinished(() => rmSync(folder, { recursive: true }));
    mkdirSync(join(folder, '.changeset'));
    for (const name of ['CHANGELOG.md', '.changeset/config.json', 'scripts'])
      cpSync(join(ROOT, name), join(folder, name), { recursive: true });
    symlinkSync(join(ROOT, 'node_modules'), join(folder, 'node_modules'));
    // Changesets asks which package manager keeps the workspace.
    writeFileSync(join(folder, 'package-lock.json'), '{}\n');
    writeFileSync(
      join(folder, 'package.json'),
      '{ "name": "countersign", "version": "7.0.0", "type": "module" }\n',
    );
    const changeset = '---\n"countersign": minor\n---\n\nAdded: more.\nSecond line.\n';
    writeFileSync(join(folder, '.changeset/nice-day.md'), changeset);

    const inFolder = (command: string, ...args: string[]) =>
      execFileSync(command, args, { cwd: folder, stdio: 'pipe', encoding: 'utf8' });
    inFolder('git', 'init', '--quiet');
    inFolder(process.execPath, 'node_modules/@changesets/cli/bin.js', 'version');
    inFolder(process.execPath, 'scripts/changelog.ts', 'prepare');

    const changelog = readFileSync(join(folder, 'CHANGELOG.md'), 'utf8');
    const today = new Date().toISOString().slice(0, 4);
    expect(changelog).toContain(`\n## 7.1.0 - ${today}-`);
    expect(changelog.replace(/## 7\.1\.0 - \S+\n\n### Added\n\n- more\.\n {2}Second line\.\n\n/, '')).toBe(
      read('CHANGELOG.md'),
    );
    expect(existsSync(join(folder, '.changeset/nice-day.md'))).toBe(false);
    expect(inFolder(process.execPath, 'scripts/changelog.ts', 'notes', 'v7.1.0')).toContain('- more.');
  });
});
