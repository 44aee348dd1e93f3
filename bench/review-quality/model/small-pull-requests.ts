import { createHash } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { basename, join } from 'node:path';
import { type CorpusCase, type Group, type Half, halfOf, type Kind } from '../corpus-case.ts';

/** A change of one file, as small pull requests are. */
export interface SmallPullRequest {
  name: string;
  half: Half;
  title: string;
  path: string;
  /** What the file was; `undefined` for one that it adds. */
  before: string | undefined;
  after: string;
  /** The weakness that it brings; `undefined` if there is none to find. */
  weakness: { kind: Kind; places: readonly number[] } | undefined;
}

/** How many samples of each group. Secrets are left out: no model is shown any. */
const CHOSEN: Readonly<Partial<Record<Group, number>>> = {
  javascript: 14,
  python: 6,
  go: 5,
  workflows: 4,
  shell: 2,
  containers: 1,
  terraform: 2,
  kubernetes: 2,
};

/**
 * The pull requests that the review is measured on with a model: each adds a sample, and ten are ordinary changes with
 * no weakness known to their author. A sample appears once, either weak or corrected, as the hash of its
 * name says: a reader who sees both could tell them apart by comparing. Neither the title nor the path says which it is.
 */
export function smallPullRequests(samples: readonly CorpusCase[]): SmallPullRequest[] {
  const chosen = Object.entries(CHOSEN).flatMap(([group, count]) =>
    samples
      .filter((one) => one.group === group)
      .toSorted((a, b) => rankOf(a.name).compare(rankOf(b.name)))
      .slice(0, count),
  );
  const clean = parseChanges(readFileSync(join(import.meta.dirname, 'clean-changes.txt'), 'utf8'));
  return [...chosen.flatMap(asPullRequest), ...clean];
}

/** Differs from the hash that chooses the half, so that both halves occur. */
function rankOf(name: string): Buffer {
  return createHash('sha256').update(`with a model: ${name}`).digest();
}

function asPullRequest(sample: CorpusCase): SmallPullRequest[] {
  const { name, kind, weak, fixed } = sample;
  const isWeak = fixed === undefined || (rankOf(name)[31] ?? 0) % 2 === 0;
  const file = isWeak && weak ? weak : fixed;
  if (!file) return [];
  return [
    {
      name,
      half: halfOf(sample),
      title: `Add ${basename(neutralPath(file.path))}`,
      path: neutralPath(file.path),
      before: undefined,
      after: file.text,
      weakness: file === weak ? { kind, places: weak.places } : undefined,
    },
  ];
}

/** Without the name of the sample, which says what is wrong with it. */
function neutralPath(path: string): string {
  return path.startsWith('.github/workflows/') ? '.github/workflows/main.yml' : `src/${basename(path)}`;
}

/**
 * Reads changes, each of which begins with a line `== name | title | path`. The first character of the others says where
 * they belong: a space to both versions, `-` to the one before, `+` to the one after.
 * @throws Error naming the line that does not follow this
 */
export function parseChanges(text: string): SmallPullRequest[] {
  const changes: { name: string; title: string; path: string; body: string[] }[] = [];
  for (const [index, line] of text.trimEnd().split('\n').entries()) {
    const [, name, title, path] = /^== ([^|]+) \| ([^|]+) \| ([^|]+)$/.exec(line) ?? [];
    const open = changes.at(-1);
    if (name !== undefined && title !== undefined && path !== undefined)
      changes.push({ name, title, path, body: [] });
    else if (open && /^[ \-+]/.test(line)) open.body.push(line);
    else throw new Error(`line ${index + 1}: neither "== name | title | path" nor a line with a mark`);
  }
  return changes.map(({ body, ...change }) => {
    const version = (marks: RegExp) =>
      body
        .filter((line) => marks.test(line))
        .map((line) => `${line.slice(1)}\n`)
        .join('');
    return {
      ...change,
      half: halfOf(change),
      before: version(/^[ -]/),
      after: version(/^[ +]/),
      weakness: undefined,
    };
  });
}
