import { createHash } from 'node:crypto';
import { CountersignError } from '../../core/errors.ts';

/**
 * Yields the pieces as they arrive, except the last, which is held back until the hash of all is verified.
 * @param known the SHA-256 values that the bytes may have, in hex, newest last; none counts as damage
 * @throws CountersignError `blobs.damaged` with the path and both hashes
 */
export async function* checkedRead(
  path: string,
  pieces: AsyncIterable<Uint8Array>,
  known: readonly string[],
): AsyncIterable<Uint8Array> {
  const hash = createHash('sha256');
  let size = 0;
  let held: Uint8Array | undefined;
  for await (const piece of pieces) {
    if (held) yield held;
    held = piece;
    hash.update(piece);
    size += piece.byteLength;
  }
  const found = hash.digest('hex');
  if (!known.includes(found)) throw damaged(path, size, found, known.at(-1));
  if (held) yield held;
}

export async function wholeOf(pieces: AsyncIterable<Uint8Array>): Promise<Uint8Array> {
  const all: Uint8Array[] = [];
  for await (const piece of pieces) all.push(piece);
  return Buffer.concat(all);
}

function damaged(path: string, size: number, found: string, wanted: string | undefined): CountersignError {
  const should =
    wanted === undefined ? 'and nothing says which it should have' : `where ${wanted} was stored`;
  return new CountersignError(
    'blobs.damaged',
    `The blob ${path} is not what was stored: its ${size} bytes have the SHA-256 ${found}, ${should}.`,
  );
}
