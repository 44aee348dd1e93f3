import type { HunkLine } from '../../../../analyzers/hunks.ts';
import { visible } from '../../../../messages/text/markdown.ts';
import { anchorOf } from './anchor.ts';
import type { Piece } from './piece.ts';

const NOT_SHOWN = '(not shown: a secret spans these lines)';

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
  const texts = withoutSecrets(lines, mask);
  const width = Math.max(1, ...lines.map((line) => anchor(line).length));
  const rows = lines.map((line, index) => `${anchor(line).padEnd(width)} ${line.mark} ${texts[index] ?? ''}`);
  return visible([`@@ ${mask(heading)}`.trimEnd(), ...rows].join('\n'));
}

function anchor(line: HunkLine): string {
  return line.mark === '+' ? anchorOf(line.line, line.text) : '';
}

/**
 * Strips the carriage return of Windows line ends. Masks all lines together, because a secret can span lines.
 * If it does, the lines cannot be separated again, and none is shown.
 */
function withoutSecrets(lines: readonly HunkLine[], mask: (text: string) => string): string[] {
  const masked = mask(lines.map(({ text }) => text.replace(/\r$/, '')).join('\n')).split('\n');
  return masked.length === lines.length ? masked : lines.map(() => NOT_SHOWN);
}
