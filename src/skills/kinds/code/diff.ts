import { NOT_SHOWN } from '../../../messages/skills/prompt.ts';
import type { PullRequestFile } from '../../../ports/github.ts';

/** The changes of the files as one diff in git's format. */
export function unifiedDiff(files: readonly PullRequestFile[]): string {
  return files.map(ofFile).join('');
}

function ofFile({ path, previousPath = path, status, patch }: PullRequestFile): string {
  const [before, after] = [quoted(`a/${previousPath}`), quoted(`b/${path}`)];
  const header = `diff --git ${before} ${after}\n`;
  const renamed =
    previousPath === path ? '' : `rename from ${quoted(previousPath)}\nrename to ${quoted(path)}\n`;
  if (patch === undefined) return `${header}${renamed}# ${NOT_SHOWN}\n`;
  const from = status === 'added' ? '/dev/null' : before;
  const to = status === 'removed' ? '/dev/null' : after;
  return `${header}${renamed}--- ${from}\n+++ ${to}\n${patch}\n`;
}

/**
 * Quotes as git does: a path can contain a line break, and the text after it could look like another file's
 * change.
 */
function quoted(path: string): string {
  return /[\p{Cc}"\\]/u.test(path) ? JSON.stringify(path) : path;
}
