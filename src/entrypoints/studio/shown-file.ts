import { CountersignError } from '../../core/errors.ts';
import type { Artifact } from '../../domain/artifact/artifact.ts';
import { isOfType } from '../../domain/artifact/mime-type.ts';
import { SEVERITIES } from '../../domain/outcome/finding.ts';
import {
  BLOB_DAMAGED,
  BLOB_GONE,
  type ShownFile,
  STORE_UNAVAILABLE,
} from '../../messages/studio/artifacts.ts';
import { markdown } from '../../messages/studio/markdown.ts';
import type { Reported } from '../../messages/studio/reported.ts';
import type { Blobs } from '../../ports/blobs.ts';

/** Of a text; the rest is in the download. */
const MAX_SHOWN_BYTES = 200_000;
/** Of a file that is read as JSON. A longer one is shown as text. */
const MAX_JSON_BYTES = 2_000_000;
/** It is in memory while it is sent. */
const MAX_IMAGE_BYTES = 5_000_000;
/** Rows of a table. */
const MAX_FINDINGS = 200;

/** The types that are shown as images. SVG is none: it is a document with scripts. */
export const IMAGE_TYPES = ['image/png', 'image/jpeg', 'image/gif'] as const;

/** The type of an image, by its bytes: a name only claims one. */
export function imageTypeOf(bytes: Uint8Array): (typeof IMAGE_TYPES)[number] | undefined {
  return IMAGE_TYPES.find((type) => isOfType(bytes, type));
}

/** Whether a file of that size is shown as an image. */
export function isImageSize(size: number | undefined): boolean {
  return size !== undefined && size <= MAX_IMAGE_BYTES;
}

/**
 * What a page shows of a file. Reads no more than that, however large the file is.
 * @param size `undefined` if it is not known
 */
export async function shownFileOf(
  blobs: Pick<Blobs, 'open'>,
  { name, kind, filePath }: Pick<Artifact, 'name' | 'kind' | 'filePath'>,
  size: number | undefined,
  failed: (err: CountersignError) => void,
): Promise<ShownFile> {
  const isJson = kind !== 'log' && /\.(json|sarif)$/i.test(name);
  const most = isJson && size !== undefined && size <= MAX_JSON_BYTES ? MAX_JSON_BYTES : MAX_SHOWN_BYTES;
  const bytes = await beginningOf(blobs, filePath ?? '', most, failed);
  if (!(bytes instanceof Uint8Array)) return bytes;
  if (imageTypeOf(bytes) && isImageSize(size)) return { kind: 'image' };
  // A zero byte is in almost every binary file, and in no text that people read.
  if (bytes.includes(0)) return { kind: 'other' };
  const whole = bytes.length <= most ? Buffer.from(bytes).toString('utf8') : undefined;
  const formed = whole === undefined || kind === 'log' ? undefined : await formedFile(name, whole);
  if (formed) return formed;
  return {
    kind: 'text',
    text: Buffer.from(bytes.subarray(0, MAX_SHOWN_BYTES)).toString('utf8'),
    isCut: bytes.length > MAX_SHOWN_BYTES,
  };
}

/** The file in the form that its name says; `undefined` if it has another one. */
async function formedFile(name: string, text: string): Promise<ShownFile | undefined> {
  if (/\.(md|markdown)$/i.test(name)) {
    const shown = markdown(text);
    return shown && { kind: 'markdown', shown };
  }
  if (!/\.(json|sarif)$/i.test(name)) return undefined;
  const value = jsonIn(text);
  if (!value) return undefined;
  const report = /\.sarif(\.json)?$/i.test(name) ? await reportIn(text) : undefined;
  return report ? { kind: 'sarif', report } : { kind: 'json', value: value.read };
}

function jsonIn(text: string): { read: unknown } | undefined {
  try {
    return { read: JSON.parse(text.replace(/^\uFEFF/, '')) };
  } catch {
    return undefined;
  }
}

/** As the review reads it. */
async function reportIn(text: string): Promise<Reported | undefined> {
  const [{ readReport }, { DEFAULT_LEVELS, findingsOf }] = await Promise.all([
    import('../../analyzers/sarif/report.ts'),
    import('../../analyzers/sarif/findings.ts'),
  ]);
  try {
    const { rules, findings, nowhere } = findingsOf(readReport(text), DEFAULT_LEVELS);
    const all = findings
      .map(({ rule, path, line, message }) => ({
        severity: rules[rule]?.severity ?? ('info' as const),
        rule,
        file: path,
        line,
        message,
      }))
      .toSorted((a, b) => SEVERITIES.indexOf(a.severity) - SEVERITIES.indexOf(b.severity));
    return { findings: all.slice(0, MAX_FINDINGS), count: all.length, nowhere: nowhere.results };
  } catch (error) {
    if (error instanceof SyntaxError) return undefined;
    throw error;
  }
}

/** At most one byte more than asked for, which says that there is more. */
async function beginningOf(
  blobs: Pick<Blobs, 'open'>,
  path: string,
  most: number,
  failed: (err: CountersignError) => void,
): Promise<Uint8Array | ShownFile> {
  try {
    const pieces = await blobs.open(path);
    if (!pieces) return { kind: 'gone', because: BLOB_GONE };
    const read: Uint8Array[] = [];
    let length = 0;
    for await (const piece of pieces) {
      read.push(piece);
      length += piece.length;
      if (length > most) break;
    }
    return Buffer.concat(read).subarray(0, most + 1);
  } catch (error) {
    if (!(error instanceof CountersignError)) throw error;
    failed(error);
    return { kind: 'gone', because: error.code === 'blobs.damaged' ? BLOB_DAMAGED : STORE_UNAVAILABLE };
  }
}
