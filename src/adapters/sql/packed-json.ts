import { deflateRawSync, inflateRawSync } from 'node:zlib';
import { FIRST_DICTIONARY } from './packing-dictionary.ts';

/**
 * A packed JSON text is a JSON string: this prefix, then the text as base64 of raw DEFLATE (RFC 1951) with the
 * dictionary that the number names. So it passes the columns' `json_valid` checks, and columns stay TEXT.
 * No column holds strings otherwise, only objects and arrays.
 */
const PREFIX = '"~1:';

const dictionary = Buffer.from(FIRST_DICTIONARY);

/** Returns the text itself if it is packed already, is not an object or array, or would not be shorter. */
export function packJson(text: string): string {
  if (!/^[{[]/.test(text)) return text;
  const packed = `${PREFIX}${deflateRawSync(text, { dictionary, level: 9 }).toString('base64')}"`;
  return packed.length < Buffer.byteLength(text) ? packed : text;
}

/** @throws if the text is packed and damaged, or was packed by a later version */
export function unpackJson(text: string): string {
  if (!text.startsWith('"~')) return text;
  if (!text.startsWith(PREFIX)) throw new Error('it was packed by a later version of Countersign');
  return inflateRawSync(Buffer.from(text.slice(PREFIX.length, -1), 'base64'), { dictionary }).toString();
}
