import { escapedGlobMatches } from '../../../core/glob.ts';

/*
 * CODEOWNERS files as GitHub reads them:
 * https://docs.github.com/en/repositories/managing-your-repositorys-settings-and-features/customizing-your-repository/about-code-owners
 */

/** Where GitHub looks for the file on the base branch; the first that is there counts, and no other. */
export const CODEOWNERS_PATHS = ['.github/CODEOWNERS', 'CODEOWNERS', 'docs/CODEOWNERS'] as const;
/** GitHub does not read larger ones, in bytes. */
export const MAX_CODEOWNERS_BYTES = 3_000_000;

export type Owner =
  | { kind: 'user'; login: string }
  | { kind: 'team'; organisation: string; slug: string }
  /** GitHub tells nobody's address, so only its own no-reply addresses name an account. */
  | { kind: 'account'; id: number }
  /** Nobody can be known to be this one, so it never approves. */
  | { kind: 'nobody' };

export interface OwnersOf {
  /** As written, for people. */
  owners: readonly { text: string; owner: Owner }[];
  line: number;
}

export interface Codeowners {
  /** The owners of a path: those of the last pattern that matches. No entry, or one without owners, needs nobody. */
  of(path: string): OwnersOf | undefined;
  /** Lines that mean nothing to GitHub, from 1. */
  skipped: readonly number[];
}

/** More work than this in one judgement would hold everything else up for seconds. */
export class TooManyOwners extends Error {}

/** What is compared at most: a glob costs as much as twenty plain patterns. */
const MAX_WORK = 6_000_000;
const GLOB_WORK = 20;

/**
 * Reads a file. A line that GitHub would skip, for its pattern or for one of its owners, is skipped here, too, and told. An owner that is
 * written well but cannot be known owns all the same, and never approves.
 */
export function parseCodeowners(text: string): Codeowners {
  const rules: (OwnersOf & { matcher: Matcher })[] = [];
  const skipped: number[] = [];
  for (const [index, raw] of text.split(/\r?\n/).entries()) {
    const words = wordsOf(raw);
    const [pattern, ...owners] = words;
    if (pattern === undefined) continue;
    const line = index + 1;
    const matcher = matcherOf(pattern);
    const read = owners.flatMap((text) => {
      const owner = ownerOf(text);
      return owner ? [{ text, owner }] : [];
    });
    if (!matcher || read.length < owners.length) skipped.push(line);
    else rules.push({ matcher, line, owners: read });
  }
  const lastFirst = rules.toReversed();
  let work = 0;
  return {
    skipped,
    of(path) {
      const segments = path.split('/');
      return lastFirst.find(({ matcher }) => {
        work += matcher.work;
        if (work > MAX_WORK) throw new TooManyOwners();
        return matcher.matches(path, segments);
      });
    },
  };
}

/** Words of a line without its comment; `\ ` is a space inside a word. */
function wordsOf(line: string): string[] {
  const words = line.match(/(?:\\.|[^\s\\])+/g) ?? [];
  const comment = words.findIndex((word) => word.startsWith('#'));
  return comment < 0 ? words : words.slice(0, comment);
}

interface Matcher {
  matches(path: string, segments: readonly string[]): boolean;
  work: number;
}

/** Every character with its backslash, so that what is escaped is told from what is not. */
const CHARACTER = /\\?./gsu;
const NOT_HERE = new Set(['[', ']', '\\']);

/**
 * A pattern of gitignore's kind: with a slash inside it begins at the root, else it may be anywhere; what it names may be a
 * folder, and then it owns all below, except that `docs/*` and `/*` end there. `!`, `[ ]`, `\#` at the start and three stars do not
 * exist here.
 */
function matcherOf(text: string): Matcher | undefined {
  const characters = text.match(CHARACTER) ?? [];
  if (/^(?:!|\\#)/.test(text) || characters.some((character) => NOT_HERE.has(character))) return undefined;
  if (text.includes('***')) return undefined;
  const isFolder = text.endsWith('/');
  const inner = text.replace(/^\//, '').replace(/\/$/, '');
  if (inner === '') return undefined;
  const isAnchored = text.startsWith('/') || inner.includes('/');
  // Two stars mean folders only as a whole part of the path.
  const parts = inner
    .split('/')
    .map((part) =>
      part === '**' ? part : part.replaceAll(/\\.|\*+/gsu, (run) => (run.startsWith('*') ? '*' : run)),
    );
  const glob = parts.join('/');
  const endsHere = !isFolder && isAnchored && parts.at(-1) === '*';

  if (!isAnchored && !isFolder && glob === '*') return { work: 1, matches: () => true };
  if (!(glob.match(CHARACTER) ?? []).some((character) => character === '*' || character === '?')) {
    const plain = glob.replaceAll(/\\(.)/gu, '$1');
    return isAnchored
      ? { work: 1, matches: (path) => path.startsWith(`${plain}/`) || (!isFolder && path === plain) }
      : {
          work: 1,
          matches: (_, segments) => (isFolder ? segments.slice(0, -1) : segments).includes(plain),
        };
  }
  const start = isAnchored ? glob : `**/${glob}`;
  const prefix = isAnchored ? (glob.split(/[*?\\]/)[0] ?? '') : '';
  return {
    work: GLOB_WORK,
    matches: (path) =>
      path.startsWith(prefix) &&
      ((!isFolder && escapedGlobMatches(start, path)) ||
        (!endsHere && escapedGlobMatches(`${start}/**`, path))),
  };
}

const LOGIN = /^@([A-Za-z0-9][A-Za-z0-9_-]{0,38})$/;
const TEAM = /^@([A-Za-z0-9][A-Za-z0-9-]{0,38})\/([A-Za-z0-9][A-Za-z0-9_-]*)$/;
const ADDRESS = /^[^@\s]+@[^@\s]+\.[^@\s]+$/;
const NOREPLY = /^(\d{1,15})\+[A-Za-z0-9-]+@users\.noreply\./;

/** @returns `undefined` for what is no owner at all, however one looks at it */
function ownerOf(word: string): Owner | undefined {
  const login = LOGIN.exec(word)?.[1];
  if (login !== undefined) return { kind: 'user', login };
  const [, organisation, slug] = TEAM.exec(word) ?? [];
  if (organisation !== undefined && slug !== undefined) return { kind: 'team', organisation, slug };
  const id = NOREPLY.exec(word)?.[1];
  if (id !== undefined) return { kind: 'account', id: Number(id) };
  return ADDRESS.test(word) ? { kind: 'nobody' } : undefined;
}
