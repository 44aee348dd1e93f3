import { type ChangedFile, MAX_FILE_BYTES, wantsContent } from '../../analyzers/changed-file.ts';
import type { StepContext } from '../../engine/steps/step.ts';
import type { PullRequestFile } from '../../ports/github.ts';

const MAX_FILES_READ_AT_ONCE = 6;

/**
 * Fetches the head's version of every relevant file, a few at a time.
 * @param maxBytes the limit per file; larger files are listed as left out
 */
export async function withContents(
  context: StepContext,
  files: readonly PullRequestFile[],
  maxBytes = MAX_FILE_BYTES,
): Promise<ChangedFile[]> {
  const result: ChangedFile[] = [];
  let next = 0;
  const work = async () => {
    for (let index = next++; index < files.length; index = next++) {
      context.signal.throwIfAborted();
      const file = files[index];
      if (file) result[index] = await withContent(context, file, maxBytes);
    }
  };
  await Promise.all(Array.from({ length: MAX_FILES_READ_AT_ONCE }, work));
  return result;
}

/**
 * The text of an added file, taken from its patch, which saves a request. `undefined` if the patch is missing
 * or incomplete, as its line count shows.
 */
function wholeFile({ status, patch, additions }: PullRequestFile): string | undefined {
  if (status !== 'added' || patch === undefined) return undefined;
  const [header = '', ...lines] = patch.split('\n');
  const noNewline = lines.at(-1) === '\\ No newline at end of file';
  if (noNewline) lines.pop();
  const isWhole =
    /^@@ -0,0 \+1(?:,\d+)? @@/.test(header) &&
    lines.length === additions &&
    lines.every((line) => line.startsWith('+'));
  if (!isWhole) return undefined;
  return lines.map((line) => line.slice(1)).join('\n') + (noNewline ? '' : '\n');
}

async function withContent(
  context: StepContext,
  file: PullRequestFile,
  maxBytes: number,
): Promise<ChangedFile> {
  const changed: ChangedFile = {
    path: file.path,
    status: file.status,
    changes: file.additions + file.deletions,
  };
  if (file.previousPath !== undefined) changed.previousPath = file.previousPath;
  if (file.patch !== undefined) changed.patch = file.patch;
  if (file.blobSha === null || !wantsContent(file)) return changed;
  const whole = wholeFile(file);
  if (whole !== undefined) return { ...changed, content: new TextEncoder().encode(whole) };
  const content = await context.reader.blob(context.repo, file.blobSha, maxBytes);
  if (content) changed.content = content;
  else changed.leftOut = `larger than ${maxBytes / 1_000_000} MB`;
  return changed;
}
