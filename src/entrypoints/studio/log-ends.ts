import { LRUCache } from 'lru-cache';
import { CountersignError } from '../../core/errors.ts';
import type { Log } from '../../core/log.ts';
import type { Artifact } from '../../domain/artifact/artifact.ts';
import { BLOB_DAMAGED, BLOB_GONE, STORE_UNAVAILABLE } from '../../messages/studio/artifacts.ts';
import type { LogEnd, ShownLog } from '../../messages/studio/log.ts';
import type { Blobs } from '../../ports/blobs.ts';

/** What a page shows of a log. */
const MAX_LINES = 200;
export const MAX_BYTES = 64_000;
/** Live pages are made often, and a stored log never changes. */
const REMEMBERED_BYTES = 4_000_000;

/** Reads the ends of stored logs, with little memory for any size. */
export function logEnds({ blobs, log }: { blobs: () => Blobs; log: Log }) {
  const known = new LRUCache<string, LogEnd>({
    maxSize: REMEMBERED_BYTES,
    sizeCalculation: ({ text }) => 1 + text.length,
  });

  return async (artifact: Artifact): Promise<ShownLog> => {
    const found = known.get(artifact.id);
    if (found) return { artifact, end: found };
    const path = artifact.filePath;
    try {
      const pieces = path === null ? undefined : await blobs().open(path);
      if (!pieces) return { artifact, end: { because: BLOB_GONE } };
      const end = await endOf(pieces);
      known.set(artifact.id, end);
      return { artifact, end };
    } catch (error) {
      if (!(error instanceof CountersignError)) throw error;
      log.warn({ err: error, path }, 'a log cannot be shown');
      return {
        artifact,
        end: { because: error.code === 'blobs.damaged' ? BLOB_DAMAGED : STORE_UNAVAILABLE },
      };
    }
  };
}

async function endOf(pieces: AsyncIterable<Uint8Array>): Promise<LogEnd> {
  let kept: Uint8Array[] = [];
  let keptBytes = 0;
  let total = 0;
  for await (const piece of pieces) {
    total += piece.length;
    kept.push(piece);
    keptBytes += piece.length;
    while (kept[0] && keptBytes - kept[0].length >= MAX_BYTES) {
      keptBytes -= kept[0].length;
      kept = kept.slice(1);
    }
  }
  return lastLines(Buffer.concat(kept), total - keptBytes);
}

/** The last lines of these bytes. @param before how many bytes come before them */
export function lastLines(bytes: Buffer, before: number): LogEnd {
  const end = bytes.subarray(startOfEnd(bytes, before > 0));
  return { text: end.toString('utf8'), before: before + bytes.length - end.length };
}

/** Where the last lines begin. */
function startOfEnd(bytes: Buffer, isCut: boolean): number {
  const earliest = Math.max(0, bytes.length - MAX_BYTES);
  // The line break at the very end ends the last line, and begins none.
  let at = bytes.length - 1;
  for (let lines = 0; lines < MAX_LINES; lines++) {
    const lineBreak = at <= 0 ? -1 : bytes.lastIndexOf(10, at - 1);
    if (lineBreak < earliest) {
      if (earliest === 0 && !isCut) return 0;
      // The line there is not whole, unless it is the only one.
      if (lines > 0) return at + 1;
      let start = earliest;
      // Not inside a character: https://www.rfc-editor.org/rfc/rfc3629#section-3
      while (((bytes[start] ?? 0) & 0xc0) === 0x80) start += 1;
      return start;
    }
    at = lineBreak;
  }
  return at + 1;
}
