import { type Finding, SEVERITIES } from '../../../../domain/outcome/finding.ts';
import type { ModelMemory, Said } from '../../../../domain/outcome/model-memory.ts';
import { fingerprint } from '../since.ts';
import { type Piece, printOfFile } from './piece.ts';

/** What a round has to ask, seen from what an earlier round read and said. */
export interface Plan {
  /** Pieces that were read in the same words, with what was said of them, at their lines in this head. */
  kept: Piece[];
  carried: Said[];
  /** Pieces to be read. */
  ask: Piece[];
  /** What was said of pieces that are not what they were. */
  open: Said[];
}

/** Prints that one outcome keeps. What is not kept is read again. */
const MAX_READ = 2_000;
const MAX_SAID = 500;

/** Compares a head's pieces with what is remembered. Pure. */
export function planRound(pieces: readonly Piece[], earlier: ModelMemory | undefined): Plan {
  const { read, said } = earlier ?? { read: [], said: [] };
  const known = new Set(read);
  const byPath = Map.groupBy(pieces, ({ path }) => path);
  const isAsItWas = (path: string, of: string) => printOfFile(byPath.get(path) ?? []) === of;
  // What was said of a file as a whole is judged again on the whole file, as soon as any piece of it is another.
  const anew = new Set(
    said.flatMap(({ of, offset, finding: { file } }) =>
      offset === null && !isAsItWas(file, of) ? [file] : [],
    ),
  );
  const isKept = ({ path, print }: Piece) => known.has(print) && !anew.has(path);
  const kept = pieces.filter(isKept);
  const byPrint = new Map(kept.map((piece) => [piece.print, piece]));

  const carried: Said[] = [];
  const open: Said[] = [];
  for (const one of said) {
    const { of, offset, finding } = one;
    const at = offset === null ? undefined : byPrint.get(of)?.lines[offset];
    if (offset === null && isAsItWas(finding.file, of)) carried.push(one);
    else if (at?.mark === '+') carried.push({ ...one, finding: { ...finding, line: at.line } });
    else open.push(one);
  }
  return { kept, carried, ask: pieces.filter((piece) => !isKept(piece)), open };
}

/**
 * What is to be remembered after a round. What was said of a piece that is gone is fixed once all of its file was read and it was not
 * said again; as long as something of the file is unread, it stays, said of the file.
 * @param read The pieces that were asked about, and answered.
 * @param fresh What was said of them.
 * @param present The files that the head changes, also those without pieces.
 */
export function afterRound(
  { kept, carried, ask, open }: Plan,
  read: readonly Piece[],
  fresh: readonly Said[],
  present: ReadonlySet<string>,
): ModelMemory {
  const answered = new Set(read);
  const unread = new Set(ask.filter((piece) => !answered.has(piece)).map(({ path }) => path));
  const withPieces = new Set([...kept, ...ask].map(({ path }) => path));
  const weights = weightsOf(fresh);
  // Said again of its line where that is by now, and no more mildly. A milder word may be about an equal line elsewhere.
  const isSaidAgain = ({ finding }: Said) =>
    (weights.get(fingerprint(finding)) ?? SEVERITIES.length) <= weightOf(finding);
  const isOpen = (one: Said) => {
    const { file } = one.finding;
    return (unread.has(file) || (present.has(file) && !withPieces.has(file))) && !isSaidAgain(one);
  };
  const still = open
    .filter(isOpen)
    .map(({ of, finding: { line, ...finding } }) => ({ of, offset: null, finding }));
  const said = [...carried, ...fresh, ...still];
  // What is not remembered must not look as if it had been read with nothing to say.
  if (said.length > MAX_SAID) return { read: [], said };
  return { read: [...kept, ...read].slice(0, MAX_READ).map(({ print }) => print), said };
}

/** How much the worst of what was said weighs, by what findings are known: the less, the worse. */
function weightsOf(said: readonly Said[]): Map<string, number> {
  const weights = new Map<string, number>();
  for (const { finding } of said) {
    const print = fingerprint(finding);
    weights.set(print, Math.min(weights.get(print) ?? SEVERITIES.length, weightOf(finding)));
  }
  return weights;
}

function weightOf({ severity }: Finding): number {
  return SEVERITIES.indexOf(severity);
}
