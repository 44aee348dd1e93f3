import { messageOf } from '../../core/errors.ts';
import { filesInZip, ZipError } from '../../core/zip.ts';
import {
  LeftFiles,
  MAX_LEFT_FILE_BYTES,
  MAX_LEFT_FILES,
  OWN_FILES,
} from '../../domain/artifact/left-files.ts';
import { fileRefused } from '../../messages/skills/left-files.ts';
import { NO_RIGHT_TO_READ, TOO_LARGE_OR_EXPIRED, unreadableReport } from '../../messages/skills/sarif.ts';
import { GitHubError, type GitHubReader, type Repo } from '../../ports/github.ts';
import type { Blob } from './step.ts';

/** Compressed, of one artifact. */
const MAX_ARCHIVE_BYTES = 10_000_000;
export const UNPACKED = { maxEntries: 200, maxBytes: MAX_LEFT_FILES * MAX_LEFT_FILE_BYTES };

/** @throws ZipError if it is too large or has expired */
export async function workflowArchive(reader: GitHubReader, repo: Repo, id: number): Promise<Uint8Array> {
  const archive = await reader.workflowArchive(repo, id, MAX_ARCHIVE_BYTES);
  if (!archive) throw new ZipError(TOO_LARGE_OR_EXPIRED);
  return archive;
}

/**
 * The files of workflow artifacts, as `<artifact>/<path>`. Names and content are hostile. A missing or unreadable artifact leaves
 * no file; the log says why, and the step's contract says whether that fails it.
 */
export async function workflowFiles(
  names: readonly string[],
  /** `undefined` if there is no artifact of that name. */
  archiveOf: (name: string) => Promise<Uint8Array | undefined>,
): Promise<Blob[]> {
  const left = new LeftFiles();
  const log: string[] = [];
  for (const name of names) {
    try {
      const content = await archiveOf(name);
      if (content === undefined) log.push(`${name}: there is no artifact of this name`);
      else {
        for (const file of filesInZip(content, () => true, UNPACKED)) {
          const path = `${name}/${file.name}`;
          const refused = left.add(path, file.content);
          log.push(
            refused === undefined ? `${path}: ${file.content.length} bytes` : fileRefused(path, refused),
          );
        }
      }
    } catch (error) {
      if (error instanceof ZipError) log.push(unreadableReport(name, messageOf(error).slice(0, 300)));
      else if (error instanceof GitHubError && error.kind === 'forbidden')
        log.push(`${name}: ${NO_RIGHT_TO_READ}`);
      else throw error;
    }
  }
  return [
    ...left.all().map(({ path, bytes }): Blob => ({ kind: 'file', name: path, data: bytes })),
    ...(log.length === 0 ? [] : [{ kind: 'log', name: OWN_FILES.ci, data: `${log.join('\n')}\n` } as const]),
  ];
}
