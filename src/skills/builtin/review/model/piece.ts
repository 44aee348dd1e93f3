import { createHash } from 'node:crypto';
import type { AdmittedFile } from '../../../../analyzers/admit.ts';
import { type HunkLine, readHunks } from '../../../../core/hunks.ts';
import { visible } from '../../../../messages/text/markdown.ts';
import { anchorOf } from './anchor.ts';

/** Instead of lines that a secret may span. */
export const NOT_SHOWN = '(not shown: a secret spans these lines)';

/** A part of a file's change that a model sees as a whole: a hunk, or a run of lines of a large one. */
export interface Piece {
  path: string;
  heading: string;
  lines: readonly HunkLine[];
  /**
   * A fingerprint of its content and context, not its position: a rebase that only moves it changes nothing.
   */
  print: string;
}

/** The most in one piece, so that each fits into a question. */
const MAX_LINES = 400;
const MAX_CHARACTERS = 20_000;

/**
 * The pieces of a file's change. If the changed lines are unknown, every line counts, as for the analyzers.
 * @param lens what else a judgement depends on, such as the model; another lens gives other fingerprints
 */
export function piecesOf(file: AdmittedFile, lens: string): Piece[] {
  const runs = runsOf(file).map(({ heading, lines }) => ({
    heading,
    lines,
    content: JSON.stringify([lens, file.path, heading, lines.map(({ mark, text }) => [mark, text])]),
  }));
  const same = Map.groupBy(runs, ({ content }) => content);
  return runs.map((run) => {
    const { heading, lines, content } = run;
    const copies = same.get(content) ?? [];
    // If one of several copies disappears, nothing says which. So their number is part of the fingerprint:
    // when it changes, all copies are read again. With only the position among them, removing any copy would
    // lose the findings on the last one.
    const print = printOf([content, String(copies.indexOf(run)), String(copies.length)]);
    return { path: file.path, heading, lines, print };
  });
}

/** The combined fingerprint of a file's pieces. */
export function printOfFile(pieces: readonly Piece[]): string {
  return printOf(pieces.map(({ print }) => print));
}

/** 160 bits: with fewer, somebody could craft a harmless and a harmful piece with the same fingerprint. */
export function printOf(parts: readonly string[]): string {
  return createHash('sha256').update(JSON.stringify(parts)).digest().subarray(0, 20).toString('base64url');
}

function runsOf(file: AdmittedFile): { heading: string; lines: HunkLine[] }[] {
  if (file.patch !== undefined) {
    return readHunks(file.patch).hunks.flatMap(({ heading, lines }) =>
      splitUp(lines)
        .filter((run) => run.some(({ mark }) => mark !== ' '))
        .map((run) => ({ heading, lines: run })),
    );
  }
  const lines = file.lines.at(-1) === '' ? file.lines.slice(0, -1) : file.lines;
  const added = lines.map((text, index): HunkLine => ({ mark: '+', text, line: index + 1 }));
  return splitUp(added).map((run) => ({ heading: '', lines: run }));
}

function splitUp(lines: readonly HunkLine[]): HunkLine[][] {
  const runs: HunkLine[][] = [];
  let run: HunkLine[] = [];
  let characters = 0;
  for (const line of lines) {
    if (run.length > 0 && (run.length === MAX_LINES || characters + line.text.length > MAX_CHARACTERS)) {
      runs.push(run);
      run = [];
      characters = 0;
    }
    run.push(line);
    characters += line.text.length;
  }
  if (run.length > 0) runs.push(run);
  return runs;
}

/**
 * A piece as a model reads it, without secrets. Only lines that a finding can refer to begin with an anchor, so
 * that the model cannot refer to any other.
 *
 *     @@ export function greet(name)
 *     12#a3f0 + const greeting = `Hello ${name}`;
 *             - const greeting = 'Hello';
 *               return greeting;
 */
export function shownPiece({ heading, lines }: Piece, mask: (text: string) => string): string {
  // If the lines cannot be told apart any more, none is shown.
  const texts =
    linesWithoutSecrets(
      lines.map(({ text }) => text),
      mask,
    ) ?? lines.map(() => NOT_SHOWN);
  const width = Math.max(1, ...lines.map((line) => anchor(line).length));
  const rows = lines.map((line, index) => `${anchor(line).padEnd(width)} ${line.mark} ${texts[index] ?? ''}`);
  return visible([`@@ ${mask(heading)}`.trimEnd(), ...rows].join('\n'));
}

function anchor(line: HunkLine): string {
  return line.mark === '+' ? anchorOf(line.line, line.text) : '';
}

/**
 * Strips the carriage return of Windows line ends. Masks all lines together, because a secret can span lines.
 * @returns `undefined` if one does, and the lines cannot be told apart any more
 */
export function linesWithoutSecrets(
  lines: readonly string[],
  mask: (text: string) => string,
): string[] | undefined {
  const masked = mask(lines.map((text) => text.replace(/\r$/, '')).join('\n')).split('\n');
  return masked.length === lines.length ? masked : undefined;
}
