import { constants, zstdCompressSync, zstdDecompressSync } from 'node:zlib';

/** Bodies that were recorded together, as one compressed text. */
export interface Pack {
  /** `none`: a body from before packs existed. */
  encoding: 'none' | 'zstd';
  bytes: Uint8Array;
}

/** The position of a body in the unpacked pack, in bytes. */
export interface Place {
  start: number;
  length: number;
}

/** How bodies are packed. */
export interface Packing {
  /** Bytes per pack before compression, except for a single larger body. Reading a body unpacks its whole pack. */
  maxBytes: number;
  /** Of zstd. */
  level: number;
  /** How far back it searches for repetitions, as a power of two. */
  windowLog?: number;
}

/** While senders wait. This level searches about half a megabyte back for repetitions; slower ones save little. */
const WHILE_RECORDING: Packing = { maxBytes: 512 * 1_024, level: 1 };

/**
 * For bodies that were processed and are rarely read again. Bodies of about 35 pull requests share what they have in
 * common; packs of two megabytes take nearly twice the space.
 */
export const AT_REST: Packing = { maxBytes: 8_192 * 1_024, level: 6, windowLog: 23 };

/**
 * Packs with the positions of their bodies, in the given order. Made one at a time, because bodies can be
 * large.
 */
export function* packBodies<Item extends { body: Uint8Array }>(
  items: readonly Item[],
  { maxBytes, level, windowLog }: Packing = WHILE_RECORDING,
): Generator<{ pack: Pack; contents: { item: Item; place: Place }[] }> {
  // The checksum detects a damaged pack.
  const params = {
    [constants.ZSTD_c_compressionLevel]: level,
    [constants.ZSTD_c_checksumFlag]: 1,
    ...(windowLog === undefined ? {} : { [constants.ZSTD_c_windowLog]: windowLog }),
  };
  for (const group of groupsOf(items, maxBytes)) {
    let start = 0;
    const contents = group.map((item) => {
      const place = { start, length: item.body.byteLength };
      start += place.length;
      return { item, place };
    });
    const [first] = group;
    const text = first && group.length === 1 ? first.body : Buffer.concat(group.map(({ body }) => body));
    yield { pack: { encoding: 'zstd', bytes: zstdCompressSync(text, { params }) }, contents };
  }
}

/** @throws if the pack is damaged, or too short for the position */
export function unpackBody(pack: Pack, { start, length }: Place): Uint8Array {
  const all = unpack(pack).bytes;
  if (start + length > all.byteLength) throw new Error('the pack of its body is too short');
  // A copy, because a part of the unpacked bytes would keep all of them in memory, half a megabyte, as long as its delivery.
  const body = Buffer.allocUnsafeSlow(length);
  body.set(all.subarray(start, start + length));
  return body;
}

/** The same pack, uncompressed: for reading many of its bodies. */
export function unpack({ encoding, bytes }: Pack): Pack {
  return { encoding: 'none', bytes: encoding === 'zstd' ? zstdDecompressSync(bytes) : bytes };
}

function groupsOf<Item extends { body: Uint8Array }>(items: readonly Item[], maxBytes: number): Item[][] {
  const groups: Item[][] = [];
  let space = 0;
  for (const item of items) {
    const group = groups.at(-1);
    if (group && item.body.byteLength <= space) group.push(item);
    else {
      groups.push([item]);
      space = maxBytes;
    }
    space -= item.body.byteLength;
  }
  return groups;
}
