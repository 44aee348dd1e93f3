/**
 * Changesets (`npm run changeset`) collects the changes of the next version. This script keeps CHANGELOG.md
 * in the format of https://keepachangelog.com/en/1.1.0/:
 *
 * - Changesets imports it to write an entry (`.changeset/config.json`).
 * - `node scripts/changelog.ts prepare` groups the entries of the new version by kind of change, and dates
 *   it.
 * - `node scripts/changelog.ts notes v1.2.3` prints the entries of a version for its release page. It fails
 *   if that version is not the one of package.json or has no date yet.
 */
import { readFileSync, writeFileSync } from 'node:fs';

const CHANGELOG = new URL('../CHANGELOG.md', import.meta.url);
const MANIFEST = new URL('../package.json', import.meta.url);

/** In the order of the changelog. */
export const KINDS = ['Added', 'Changed', 'Deprecated', 'Removed', 'Fixed', 'Security'] as const;
const ENTRY = new RegExp(`^(${KINDS.join('|')}): (\\S.*)$`, 's');

/**
 * The functions that Changesets calls for each changeset, and for each dependency in the same repository, of
 * which there are none.
 */
export default {
  getReleaseLine: ({ summary }: { summary: string }): string =>
    `- ${summary.trim().replaceAll('\n', '\n  ').replaceAll(/^ +$/gm, '')}`,
  getDependencyReleaseLine: (): string => '',
};

/**
 * Gives the newest section a date and Keep a Changelog's headings, which replace those of Changesets, such as
 * "Minor Changes".
 * @throws Error for an entry that does not begin with a kind of change
 */
export function dated(changelog: string, date: string): string {
  const parts = changelog.split(/^(?=## )/m);
  const index = parts.findIndex((part) => /^## \d+\.\d+\.\d+\S*\n/.test(part));
  const [heading = '', ...lines] = parts[index]?.trimEnd().split('\n') ?? [];
  if (index < 0) throw new Error('CHANGELOG.md has no version without a date');
  const entries = lines
    .filter((line) => !line.startsWith('### '))
    .join('\n')
    .split(/^- /m)
    .slice(1)
    .map((text) => kindOf(text.trim()));
  const sections = KINDS.flatMap((kind) => {
    const ofKind = entries.filter((entry) => entry.kind === kind).map(({ text }) => `- ${text}`);
    return ofKind.length === 0 ? [] : [`### ${kind}\n\n${ofKind.join('\n')}\n`];
  });
  const section = [`${heading} - ${date}\n`, ...sections].join('\n');
  return parts.with(index, index === parts.length - 1 ? section : `${section}\n`).join('');
}

/** @throws Error if it does not begin with a kind of change and a colon */
export function kindOf(summary: string): { kind: string; text: string } {
  const [, kind, text] = ENTRY.exec(summary) ?? [];
  if (kind === undefined || text === undefined) {
    throw new Error(
      `a changeset begins with ${KINDS.map((one) => `"${one}:"`).join(', ')}, not with: ${summary.slice(0, 60)}`,
    );
  }
  return { kind, text };
}

/**
 * The entries of a version.
 * @throws Error if the version is not in the changelog, or not dated
 */
export function notes(changelog: string, version: string): string {
  const heading = changelog.split('\n').find((line) => line.startsWith(`## ${version} - `));
  if (heading === undefined) throw new Error(`CHANGELOG.md has no version ${version}`);
  if (!/ - \d{4}-\d\d-\d\d$/.test(heading)) throw new Error(`CHANGELOG.md has no date for ${version}`);
  const [, after = ''] = changelog.split(`${heading}\n`);
  return `${after.split(/^## /m)[0]?.trim()}\n`;
}

function main([command, tag = '']: readonly string[]): void {
  const changelog = readFileSync(CHANGELOG, 'utf8');
  if (command === 'prepare') {
    writeFileSync(CHANGELOG, dated(changelog, new Date().toISOString().slice(0, 10)));
    return;
  }
  const { version } = JSON.parse(readFileSync(MANIFEST, 'utf8')) as { version: string };
  if (command !== 'notes' || tag !== `v${version}`) {
    throw new Error(`the tag of version ${version} is v${version}, not ${tag === '' ? 'nothing' : tag}`);
  }
  process.stdout.write(notes(changelog, version));
}

if (import.meta.main) main(process.argv.slice(2));
