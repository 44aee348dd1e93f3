import { inflateRawSync } from 'node:zlib';

/** Not a readable archive, or one beyond the limits. */
export class ZipError extends Error {
  constructor(message: string) {
    super(message);
    this.name = 'ZipError';
  }
}

export interface ZipLimits {
  maxEntries: number;
  /** For all extracted entries together. */
  maxBytes: number;
}

const END = 0x06054b50;
const END_BYTES = 22;
const LONGEST_COMMENT = 65_535;
const CENTRAL = 0x02014b50;
const CENTRAL_BYTES = 46;
const LOCAL = 0x04034b50;
const LOCAL_BYTES = 30;
const ENCRYPTED = 1;
const STORED = 0;
const DEFLATED = 8;

interface Entry {
  name: string;
  method: number;
  flags: number;
  size: number;
  offset: number;
}

/**
 * The texts of the wanted entries of an archive. Names are compared and never used as paths. Stated sizes are
 * not trusted: the limit applies during decompression.
 * https://pkware.cachefly.net/webdocs/casestudies/APPNOTE.TXT, without encryption, multiple disks and ZIP64.
 * @throws ZipError
 */
export function textsInZip(
  zip: Uint8Array,
  isWanted: (name: string) => boolean,
  limits: ZipLimits,
): { name: string; text: string }[] {
  return filesInZip(zip, isWanted, limits).map(({ name, content }) => ({
    name,
    text: content.toString('utf8'),
  }));
}

/** The same, with their bytes. Folders are not listed. */
export function filesInZip(
  zip: Uint8Array,
  isWanted: (name: string) => boolean,
  { maxEntries, maxBytes }: ZipLimits,
): { name: string; content: Buffer }[] {
  const bytes = Buffer.from(zip.buffer, zip.byteOffset, zip.byteLength);
  try {
    let left = maxBytes;
    return entriesOf(bytes, maxEntries)
      .filter(({ name }) => !name.endsWith('/') && isWanted(name))
      .map((entry) => {
        const content = contentOf(bytes, entry, left);
        left -= content.byteLength;
        return { name: entry.name, content };
      });
  } catch (error) {
    if (error instanceof ZipError) throw error;
    if (isTooLarge(error)) throw new ZipError(`its files hold more than ${maxBytes / 1_000_000} MB`);
    throw new ZipError('it is damaged, or no zip archive');
  }
}

function isTooLarge(error: unknown): boolean {
  return error instanceof RangeError && (error as NodeJS.ErrnoException).code === 'ERR_BUFFER_TOO_LARGE';
}

function entriesOf(bytes: Buffer, maxEntries: number): Entry[] {
  const end = endOf(bytes);
  const count = bytes.readUInt16LE(end + 10);
  if (count > maxEntries) throw new ZipError(`it holds more than ${maxEntries} files`);
  let at = bytes.readUInt32LE(end + 16);
  return Array.from({ length: count }, () => {
    if (bytes.readUInt32LE(at) !== CENTRAL) throw new ZipError('its list of files is damaged');
    const nameLength = bytes.readUInt16LE(at + 28);
    const entry = {
      flags: bytes.readUInt16LE(at + 8),
      method: bytes.readUInt16LE(at + 10),
      size: bytes.readUInt32LE(at + 20),
      offset: bytes.readUInt32LE(at + 42),
      name: bytes.toString('utf8', at + CENTRAL_BYTES, at + CENTRAL_BYTES + nameLength),
    };
    at += CENTRAL_BYTES + nameLength + bytes.readUInt16LE(at + 30) + bytes.readUInt16LE(at + 32);
    return entry;
  });
}

/** The end record, which a comment of any length can follow. */
function endOf(bytes: Buffer): number {
  const first = Math.max(0, bytes.length - END_BYTES - LONGEST_COMMENT);
  for (let at = bytes.length - END_BYTES; at >= first; at--) {
    if (bytes.readUInt32LE(at) === END) return at;
  }
  throw new ZipError('it is no zip archive');
}

function contentOf(bytes: Buffer, { flags, method, size, offset }: Entry, left: number): Buffer {
  if ((flags & ENCRYPTED) !== 0) throw new ZipError('a file in it is encrypted');
  if (bytes.readUInt32LE(offset) !== LOCAL) throw new ZipError('its list of files is damaged');
  const start = offset + LOCAL_BYTES + bytes.readUInt16LE(offset + 26) + bytes.readUInt16LE(offset + 28);
  if (start + size > bytes.length) throw new ZipError('it ends in the middle of a file');
  const content = bytes.subarray(start, start + size);
  switch (method) {
    case STORED:
      if (size > left) throw Object.assign(new RangeError('too large'), { code: 'ERR_BUFFER_TOO_LARGE' });
      return content;
    case DEFLATED:
      return inflateRawSync(content, { maxOutputLength: Math.max(1, left) });
    default:
      throw new ZipError(`a file in it is packed in a way that is not read here (${method})`);
  }
}
