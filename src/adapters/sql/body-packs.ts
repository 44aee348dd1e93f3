import { constants, zstdCompressSync, zstdDecompressSync } from 'node:zlib';

/** Bodies that were recorded together, as one text. */
export interface Pack {
  /** `none`: a body that was recorded before there were packs. */
  encoding: 'none' | 'zstd';
  bytes: Uint8Array;
}

/** Where a body is in what its pack unpacks to, in bytes. */
export interface Place {
  start: number;
  length: number;
}

/**
 * How many bytes of bodies go into a pack at most, unless it is one body: so far back the quickest level of zstd looks for what
 * is alike, and all of a pack is unpacked (0.3 ms) for each body that is read of it.
 */
const MOST_BYTES = 512 * 1_024;

/** What the slower levels save is not worth their time; the sum at the end tells a spoiled pack. */
const QUICKEST = {
  params: { [constants.ZSTD_c_compressionLevel]: 1, [constants.ZSTD_c_checksumFlag]: 1 },
};

/** Packs with the places of what is in them, in the order given; one after the other, since bodies can be large. */
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
    yield { pack: { encoding: 'zstd', bytes: zstdCompressSync(text, QUICKEST) }, contents };
  }
}

/** @throws when the pack is spoiled, or too short for the place. */
export function unpackBody(pack: Pack, { start, length }: Place): Uint8Array {
  const all = pack.encoding === 'zstd' ? zstdDecompressSync(pack.bytes) : pack.bytes;
  if (start + length > all.byteLength) throw new Error('the pack of its body is too short');
  return all.subarray(start, start + length);
}

function groupsOf<Item extends { body: Uint8Array }>(items: readonly Item[]): Item[][] {
  const groups: Item[][] = [];
  let room = 0;
  for (const item of items) {
    const group = groups.at(-1);
    if (group && item.body.byteLength <= room) group.push(item);
    else {
      groups.push([item]);
      room = MOST_BYTES;
    }
    room -= item.body.byteLength;
  }
  return groups;
}
