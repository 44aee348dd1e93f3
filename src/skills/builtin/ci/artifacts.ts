import { messageOf } from '../../../core/errors.ts';
import { filesInZip, ZipError } from '../../../core/zip.ts';
import type { Blob, StepContext } from '../../../engine/steps/step.ts';
import { UNPACKED, workflowArchive, workflowFiles } from '../../../engine/steps/workflow-files.ts';
import { NO_RIGHT_TO_READ, unreadableReport } from '../../../messages/skills/sarif.ts';
import { GitHubError } from '../../../ports/github.ts';

/**
 * The files of workflow artifacts that CI left for the run's head. Only the newest artifact of each name counts: a rerun of CI
 * replaces it.
 */
export function ciArtifacts(step: StepContext, names: readonly string[]): Promise<Blob[]> {
  return workflowFiles(names, (name) => newestArchive(step, name));
}

async function newestArchive(
  { reader, repo, state }: StepContext,
  name: string,
): Promise<Uint8Array | undefined> {
  const all = await reader.workflowArtifacts(repo, name);
  const newest = all.find(({ headSha }) => headSha === state.run.headSha);
  return newest && workflowArchive(reader, repo, newest.id);
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
