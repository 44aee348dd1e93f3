import { plainGlobMatches } from '../../../core/glob.ts';

/*
 * CODEOWNERS files, parsed as GitHub does:
 * https://docs.github.com/en/repositories/managing-your-repositorys-settings-and-features/customizing-your-repository/about-code-owners
 */

/** Where GitHub looks for the file on the base branch. Only the first existing one counts. */
export const CODEOWNERS_PATHS = ['.github/CODEOWNERS', 'CODEOWNERS', 'docs/CODEOWNERS'] as const;
/** In bytes. GitHub ignores larger files. */
export const MAX_CODEOWNERS_BYTES = 3_000_000;

export type Owner =
  | { kind: 'user'; login: string }
  | { kind: 'team'; organisation: string; slug: string }
  /** GitHub does not reveal accounts' addresses, so only its own no-reply addresses identify an account. */
  | { kind: 'account'; id: number }
  /** An owner whose account cannot be determined, so it never approves. */
  | { kind: 'nobody' };

export interface OwnersOf {
  /** As written, for people. */
  owners: readonly { text: string; owner: Owner }[];
  line: number;
}

export interface Codeowners {
  /**
   * The owners of a path: those of the last pattern that matches. `undefined`, or an entry without owners,
   * needs no approval.
   */
  of(path: string): OwnersOf | undefined;
  /** Lines that GitHub ignores, from 1. */
  skipped: readonly number[];
}

/** Thrown for a file whose evaluation would block the process for seconds. */
export class TooManyOwners extends Error {}

/** The limit in comparisons of plain patterns. A glob counts as twenty. */
const MAX_WORK = 6_000_000;
const GLOB_WORK = 20;

/**
 * Parses a file. A line that GitHub would skip, because of its pattern or one of its owners, is skipped and
 * reported. An owner that is valid but cannot be determined still owns its paths, and never approves.
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

/** The words of a line without its comment; `\ ` is a space inside a word. */
function wordsOf(line: string): string[] {
  const words = line.match(/(?:\\.|[^\s\\])+/g) ?? [];
  const comment = words.findIndex((word) => word.startsWith('#'));
  return comment < 0 ? words : words.slice(0, comment);
}

interface Matcher {
  matches(path: string, segments: readonly string[]): boolean;
  work: number;
}

/** One character, together with its backslash if it is escaped. */
const CHARACTER = /\\?./gsu;
const UNSUPPORTED = new Set(['[', ']', '\\']);

/**
 * A pattern with gitignore's rules. With a slash inside it is relative to the root, otherwise it matches at
 * any depth. If it names a folder, it owns everything below, except that `docs/*` and `/*` match direct
 * children only. CODEOWNERS does not support `!`, `[ ]`, `\#` at the start, or three stars.
 */
function matcherOf(text: string): Matcher | undefined {
  const characters = text.match(CHARACTER) ?? [];
  if (/^(?:!|\\#)/.test(text) || characters.some((character) => UNSUPPORTED.has(character))) return undefined;
  if (text.includes('***')) return undefined;
  const isFolder = text.endsWith('/');
  const inner = text.replace(/^\//, '').replace(/\/$/, '');
  if (inner === '') return undefined;
  const isAnchored = text.startsWith('/') || inner.includes('/');
  // Two stars match folders only as a whole part of the path.
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
      ((!isFolder && plainGlobMatches(start, path)) || (!endsHere && plainGlobMatches(`${start}/**`, path))),
  };
}

const LOGIN = /^@([A-Za-z0-9][A-Za-z0-9_-]{0,38})$/;
const TEAM = /^@([A-Za-z0-9][A-Za-z0-9-]{0,38})\/([A-Za-z0-9][A-Za-z0-9_-]*)$/;
const ADDRESS = /^[^@\s]+@[^@\s]+\.[^@\s]+$/;
const NOREPLY = /^(\d{1,15})\+[A-Za-z0-9-]+@users\.noreply\./;

/** @returns `undefined` for a word that is not a valid owner */
function ownerOf(word: string): Owner | undefined {
  const login = LOGIN.exec(word)?.[1];
  if (login !== undefined) return { kind: 'user', login };
  const [, organisation, slug] = TEAM.exec(word) ?? [];
  if (organisation !== undefined && slug !== undefined) return { kind: 'team', organisation, slug };
  const id = NOREPLY.exec(word)?.[1];
  if (id !== undefined) return { kind: 'account', id: Number(id) };
  return ADDRESS.test(word) ? { kind: 'nobody' } : undefined;
}
