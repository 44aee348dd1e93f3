import { crc32, deflateRawSync } from 'node:zlib';

export interface ZippedFile {
  name: string;
  content: string | Uint8Array;
  /** Compressed by default. */
  stored?: boolean;
}

/** A zip archive as tools write it; `lie` changes what its list of files says of each. */
export function zip(
  files: readonly ZippedFile[],
  lie: { flags?: number; method?: number; size?: number; offset?: number } = {},
): Buffer {
  const locals: Buffer[] = [];
  const central: Buffer[] = [];
  let offset = 0;
  for (const { name, content, stored = false } of files) {
    const plain = Buffer.from(content);
    const packed = stored ? plain : deflateRawSync(plain);
    const title = Buffer.from(name);
    const facts = Buffer.alloc(26);
    facts.writeUInt16LE(20, 0);
    facts.writeUInt16LE(lie.flags ?? 0, 2);
    facts.writeUInt16LE(lie.method ?? (stored ? 0 : 8), 4);
    facts.writeUInt32LE(crc32(plain), 10);
    facts.writeUInt32LE(lie.size ?? packed.length, 14);
    facts.writeUInt32LE(plain.length, 18);
    facts.writeUInt16LE(title.length, 22);
    const local = Buffer.concat([Buffer.from('PK\x03\x04', 'latin1'), facts, title, packed]);
    const place = Buffer.alloc(14);
    place.writeUInt32LE(lie.offset ?? offset, 10);
    central.push(Buffer.concat([Buffer.from('PK\x01\x02\x14\x00', 'latin1'), facts, place, title]));
    locals.push(local);
    offset += local.length;
  }
  const list = Buffer.concat(central);
  const end = Buffer.alloc(22);
  end.write('PK\x05\x06', 'latin1');
  end.writeUInt16LE(files.length, 8);
  end.writeUInt16LE(files.length, 10);
  end.writeUInt32LE(list.length, 12);
  end.writeUInt32LE(offset, 16);
  return Buffer.concat([...locals, list, end]);
}
