import { filesInZip, ZipError } from '../../../analyzers/sarif/zip.ts';
import { messageOf } from '../../../core/errors.ts';
import {
  LeftFiles,
  MAX_LEFT_FILE_BYTES,
  MAX_LEFT_FILES,
  OWN_FILES,
} from '../../../domain/artifact/left-files.ts';
import type { Blob, StepContext } from '../../../engine/steps/step.ts';
import { fileRefused } from '../../../messages/skills/left-files.ts';
import { NO_RIGHT_TO_READ, TOO_LARGE_OR_EXPIRED, unreadableReport } from '../../../messages/skills/sarif.ts';
import { GitHubError } from '../../../ports/github.ts';

/** Compressed, of one artifact. */
const MAX_ARCHIVE_BYTES = 10_000_000;
const UNPACKED = { maxEntries: 200, maxBytes: MAX_LEFT_FILES * MAX_LEFT_FILE_BYTES };

/**
 * The files of workflow artifacts that CI left for the run's head, as `<artifact>/<path>`. A missing or
 * unreadable artifact leaves no file; the log says why, and the step's contract says whether that fails it.
 * Only the newest artifact of each name counts: a rerun of CI replaces it.
 */
export async function ciArtifacts(step: StepContext, names: readonly string[]): Promise<Blob[]> {
  const left = new LeftFiles();
  const log: string[] = [];
  for (const name of names) {
    try {
      const content = await newestArchive(step, name);
      if (content === undefined) log.push(`${name}: no workflow run of this head left it`);
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

async function newestArchive(
  { reader, repo, state }: StepContext,
  name: string,
): Promise<Uint8Array | undefined> {
  const all = await reader.workflowArtifacts(repo, name);
  const newest = all.find(({ headSha }) => headSha === state.run.headSha);
  if (!newest) return undefined;
  const archive = await reader.workflowArchive(repo, newest.id, MAX_ARCHIVE_BYTES);
  if (!archive) throw new ZipError(TOO_LARGE_OR_EXPIRED);
  return archive;
}

/**
 * The text files of the newest workflow artifact of this name that CI left for the run's head. `null` if CI
 * left none.
 * @throws GitHubError if GitHub could not be read
 */
export async function ciTexts(
  step: StepContext,
  name: string,
): Promise<{ files: { path: string; content: string }[] | null } | { because: string }> {
  try {
    const content = await newestArchive(step, name);
    if (content === undefined) return { files: null };
    const files = filesInZip(content, () => true, UNPACKED).flatMap((file) => {
      const text = Buffer.from(file.content).toString('utf8');
      // U+FFFD stands for bytes that are no text.
      return text.includes('\uFFFD') ? [] : [{ path: file.name, content: text }];
    });
    return { files };
  } catch (error) {
    if (error instanceof ZipError) return { because: unreadableReport(name, messageOf(error).slice(0, 300)) };
    if (error instanceof GitHubError && error.kind === 'forbidden') return { because: NO_RIGHT_TO_READ };
    throw error;
  }
}
