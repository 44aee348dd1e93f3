import { firstChanged, readHunks } from '../core/hunks.ts';
import type { AdmittedFile } from './admit.ts';
import type { RawFinding } from './analyzer.ts';

/** What a patch removes, without white space. */
interface Removed {
  lines: ReadonlySet<string>;
  /** Lines that follow each other, as one text each. */
  blocks: readonly string[];
}

const removedBy = new WeakMap<AdmittedFile, Removed>();
/** In characters. Shorter texts, such as brackets, occur inside of many others. */
const MIN_PART = 12;
/** More lines than any finding has. */
const MAX_LINES = 200;

/**
 * Whether a finding is only on changed lines because they were moved, indented or wrapped: the same diff removes the same
 * text from the file, white space aside. Each changed line that belongs to the finding must be among the removed ones, also
 * those on the way of a value, or else something about it is new.
 */
export function wasThereBefore(
  file: AdmittedFile,
  { line, endLine = line, alsoAt = [] }: Pick<RawFinding, 'line' | 'endLine' | 'alsoAt'>,
): boolean {
  const { patch, changed } = file;
  if (patch === undefined || changed === 'all' || endLine - line > MAX_LINES) return false;
  const own: number[] = [];
  for (let at = line; at <= endLine; at++) if (changed.has(at)) own.push(at);
  const others = alsoAt.filter((at) => firstChanged(changed, at, at) !== undefined);
  const removed = removedFrom(file, patch);
  if (removed.lines.size === 0 || own.length + others.length === 0) return false;
  const textOf = (at: number) => withoutSpace(file.lines[at - 1] ?? '');
  const isKnown = (text: string) =>
    text === '' ||
    removed.lines.has(text) ||
    (text.length >= MIN_PART && removed.blocks.some((block) => block.includes(text)));
  const isWrapped = isKnown(own.map(textOf).join(''));
  return (isWrapped || own.every((at) => isKnown(textOf(at)))) && others.every((at) => isKnown(textOf(at)));
}

function removedFrom(file: AdmittedFile, patch: string): Removed {
  const known = removedBy.get(file);
  if (known) return known;
  const lines = new Set<string>();
  const blocks: string[] = [];
  for (const hunk of readHunks(patch).hunks) {
    let block = '';
    for (const { mark, text } of hunk.lines) {
      if (mark === '-') {
        lines.add(withoutSpace(text));
        block += withoutSpace(text);
      } else if (mark === ' ' && block !== '') {
        blocks.push(block);
        block = '';
      }
    }
    if (block !== '') blocks.push(block);
  }
  const removed = { lines, blocks };
  removedBy.set(file, removed);
  return removed;
}

function withoutSpace(text: string): string {
  return text.replace(/\s+/g, '');
}
