import { type Finding, SEVERITIES } from '../../../../domain/outcome/finding.ts';
import { fingerprint } from '../../../../domain/outcome/fingerprint.ts';
import type { ModelMemory, RememberedFinding } from '../../../../domain/outcome/model-memory.ts';
import { type Piece, printOfFile } from './piece.ts';

/** What a round has to ask, given what an earlier round read and found. */
export interface Plan {
  /** Pieces that were read before and are unchanged, with their findings at their lines in this head. */
  kept: Piece[];
  carried: RememberedFinding[];
  /** Pieces to read. */
  ask: Piece[];
  /** Findings on pieces that have changed. */
  open: RememberedFinding[];
}

/** The most fingerprints of pieces in one outcome. Pieces beyond that are read again. */
const MAX_READ = 2_000;
const MAX_SAID = 500;

/**
 * Compares a head's pieces with the memory. Pure.
 * @param again a file that is read again although the memory has it; first, so that it is within the budget
 */
export function planRound(pieces: readonly Piece[], earlier: ModelMemory | undefined, again?: string): Plan {
  const { read, said } = earlier ?? { read: [], said: [] };
  const known = new Set(read);
  const byPath = Map.groupBy(pieces, ({ path }) => path);
  const isUnchanged = (path: string, of: string) => printOfFile(byPath.get(path) ?? []) === of;
  // A finding on a whole file is judged again on the whole file as soon as any piece of it changes.
  const changed = new Set(
    said.flatMap(({ of, offset, finding: { file } }) =>
      offset === null && !isUnchanged(file, of) ? [file] : [],
    ),
  );
  if (again !== undefined) changed.add(again);
  const isKept = ({ path, print }: Piece) => known.has(print) && !changed.has(path);
  const kept = pieces.filter(isKept);
  const byPrint = new Map(kept.map((piece) => [piece.print, piece]));

  const carried: RememberedFinding[] = [];
  const open: RememberedFinding[] = [];
  for (const one of said) {
    const { of, offset, finding } = one;
    const at = offset === null ? undefined : byPrint.get(of)?.lines[offset];
    if (offset === null && finding.file !== again && isUnchanged(finding.file, of)) carried.push(one);
    else if (at?.mark === '+') carried.push({ ...one, finding: { ...finding, line: at.line } });
    else open.push(one);
  }
  const ask = pieces.filter((piece) => !isKept(piece));
  const first = ask.filter(({ path }) => path === again);
  return { kept, carried, ask: [...first, ...ask.filter(({ path }) => path !== again)], open };
}

/**
 * The memory after a round. A finding on a piece that is gone is fixed once all of its file was read and the
 * finding did not recur. While part of the file is unread, the finding stays, attached to the file.
 * @param read the pieces that were asked about and answered
 * @param fresh the findings on them
 * @param present the files that the head changes, including those without pieces
 */
export function afterRound(
  { kept, carried, ask, open }: Plan,
  read: readonly Piece[],
  fresh: readonly RememberedFinding[],
  present: ReadonlySet<string>,
): ModelMemory {
  const answered = new Set(read);
  const unread = new Set(ask.filter((piece) => !answered.has(piece)).map(({ path }) => path));
  const withPieces = new Set([...kept, ...ask].map(({ path }) => path));
  const weights = weightsOf(fresh);
  // Reported again at its current line, at least as severe. A milder finding may be about an equal line
  // elsewhere.
  const isSaidAgain = ({ finding }: RememberedFinding) =>
    (weights.get(fingerprint(finding)) ?? SEVERITIES.length) <= weightOf(finding);
  const isOpen = (one: RememberedFinding) => {
    const { file } = one.finding;
    return (unread.has(file) || (present.has(file) && !withPieces.has(file))) && !isSaidAgain(one);
  };
  const still = open
    .filter(isOpen)
    .map(({ of, finding: { line, ...finding } }) => ({ of, offset: null, finding }));
  const said = [...carried, ...fresh, ...still];
  // A finding that is not remembered must not look as if its piece had been read without findings.
  if (said.length > MAX_SAID) return { read: [], said };
  return { read: [...kept, ...read].slice(0, MAX_READ).map(({ print }) => print), said };
}

/** The severity index of the worst finding per fingerprint. A lower index is worse. */
function weightsOf(said: readonly RememberedFinding[]): Map<string, number> {
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
