/** The types that a contract may require: those that the bytes identify. A file's name only claims a type. */
export const MIME_TYPES = [
  'application/gzip',
  'application/json',
  'application/pdf',
  'application/zip',
  'image/gif',
  'image/jpeg',
  'image/png',
  'text/plain',
] as const;
export type MimeType = (typeof MIME_TYPES)[number];

type Magic = Exclude<MimeType, 'application/json' | 'text/plain'>;

/**
 * The first bytes, from the specifications of the formats (RFC 1952, ISO 32000, APPNOTE, GIF89a, JFIF, RFC
 * 2083).
 */
const MAGIC: Readonly<Record<Magic, readonly number[]>> = {
  'application/gzip': [0x1f, 0x8b],
  'application/pdf': [0x25, 0x50, 0x44, 0x46, 0x2d],
  'application/zip': [0x50, 0x4b, 0x03, 0x04],
  'image/gif': [0x47, 0x49, 0x46, 0x38],
  'image/jpeg': [0xff, 0xd8, 0xff],
  'image/png': [0x89, 0x50, 0x4e, 0x47, 0x0d, 0x0a, 0x1a, 0x0a],
};

/** Beyond this size, a text is not parsed only to say that it is JSON. */
const MAX_TOLD_BYTES = 1_000_000;

/** The type that the bytes identify, for display. A file's name only claims a type. */
export function typeOf(bytes: Uint8Array): MimeType | 'application/octet-stream' {
  const magic = (Object.keys(MAGIC) as Magic[]).find((type) => isOfType(bytes, type));
  if (magic !== undefined) return magic;
  const [first] = new TextDecoder().decode(bytes.subarray(0, 100)).trimStart();
  if ((first === '{' || first === '[') && bytes.length <= MAX_TOLD_BYTES && readJson(bytes))
    return 'application/json';
  return isOfType(bytes, 'text/plain') ? 'text/plain' : 'application/octet-stream';
}

/** Whether the bytes are of the type. JSON also counts as plain text. */
export function isOfType(bytes: Uint8Array, type: MimeType): boolean {
  switch (type) {
    case 'application/json':
      return readJson(bytes) !== undefined;
    case 'text/plain': {
      const text = readText(bytes);
      // biome-ignore lint/suspicious/noControlCharactersInRegex: text contains none of them
      return text !== undefined && !/[\0-\x08\x0e-\x1a\x1c-\x1f]/.test(text);
    }
    default:
      return MAGIC[type].every((byte, index) => bytes[index] === byte);
  }
}

/** The value of a JSON text, wrapped because it may be `null`; `undefined` if the bytes are not JSON. */
export function readJson(bytes: Uint8Array): { value: unknown } | undefined {
  const text = readText(bytes);
  if (text === undefined) return undefined;
  try {
    return { value: JSON.parse(text) };
  } catch {
    return undefined;
  }
}

function readText(bytes: Uint8Array): string | undefined {
  try {
    return new TextDecoder('utf-8', { fatal: true }).decode(bytes);
  } catch {
    return undefined;
  }
}
