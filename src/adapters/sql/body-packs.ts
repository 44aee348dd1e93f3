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

/**
 * Per pack, except for a single larger body. The fastest level of zstd searches about this far back for
 * repetitions, and reading one body unpacks the whole pack (0.3 ms).
 */
export const MAX_PACK_BYTES = 512 * 1_024;

/** Slower levels save too little for their time. The checksum detects a damaged pack. */
const FASTEST = {
  params: { [constants.ZSTD_c_compressionLevel]: 1, [constants.ZSTD_c_checksumFlag]: 1 },
};

/**
 * Packs with the positions of their bodies, in the given order. Made one at a time, because bodies can be
 * large.
 */
export function* packBodies<Item extends { body: Uint8Array }>(
  items: readonly Item[],
): Generator<{ pack: Pack; contents: { item: Item; place: Place }[] }> {
  for (const group of groupsOf(items)) {
    let start = 0;
    const contents = group.map((item) => {
      const place = { start, length: item.body.byteLength };
      start += place.length;
      return { item, place };
    });
    const [first] = group;
    const text = first && group.length === 1 ? first.body : Buffer.concat(group.map(({ body }) => body));
    yield { pack: { encoding: 'zstd', bytes: zstdCompressSync(text, FASTEST) }, contents };
  }
}

/** @throws if the pack is damaged, or too short for the position */
export function unpackBody(pack: Pack, { start, length }: Place): Uint8Array {
  const all = pack.encoding === 'zstd' ? zstdDecompressSync(pack.bytes) : pack.bytes;
  if (start + length > all.byteLength) throw new Error('the pack of its body is too short');
  return all.subarray(start, start + length);
}

function groupsOf<Item extends { body: Uint8Array }>(items: readonly Item[]): Item[][] {
  const groups: Item[][] = [];
  let space = 0;
  for (const item of items) {
    const group = groups.at(-1);
    if (group && item.body.byteLength <= space) group.push(item);
    else {
      groups.push([item]);
      space = MAX_PACK_BYTES;
    }
    space -= item.body.byteLength;
  }
  return groups;
}
