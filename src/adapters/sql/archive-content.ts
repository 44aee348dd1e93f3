import { createHash } from 'node:crypto';
import { constants, zstdCompressSync, zstdDecompressSync } from 'node:zlib';

/** The first byte of a content: how the rest is packed. A better dictionary gets a number of its own. */
const FORMAT = 1;

const params = {
  [constants.ZSTD_c_compressionLevel]: 12,
  // It detects damage.
  [constants.ZSTD_c_checksumFlag]: 1,
  [constants.ZSTD_c_contentSizeFlag]: 1,
};

/** Without a dictionary, {@link unpackText} must get none either. */
export function packText(text: string, dictionary?: Buffer): Buffer {
  return Buffer.concat([
    Buffer.of(FORMAT),
    zstdCompressSync(text, { ...(dictionary && { dictionary }), params }),
  ]);
}

/** @throws if the content is damaged, or was packed by a later version */
export function unpackText(content: Uint8Array, dictionary?: Buffer): string {
  if (content[0] !== FORMAT) throw new Error('it was archived by a later version of Countersign');
  return zstdDecompressSync(content.subarray(1), { ...(dictionary && { dictionary }) }).toString();
}

/** What an archive is found by: 48 bits of a hash, which fit into a number. Different keys can share one. */
export function archiveKey(key: string): number {
  return createHash('sha256').update(key).digest().readUIntBE(0, 6);
}
