import type { GitHubReader, Repo } from '../../../../ports/github.ts';

export interface Guideline {
  name: string;
  text: string;
}

const NAMES = ['AGENTS.md', 'REVIEW.md', 'CONTRIBUTING.md'];
/** In bytes per file. Each file is part of every question. */
const MAX_SHOWN = 8_000;
/** Larger files are not read at all. */
const MAX_READ = 200_000;

/**
 * The repository's guidelines for code, from the root folder of one commit of the base branch. Never from a
 * head: the author under review must not set the rules.
 * @throws GitHubError
 */
export async function readGuidelines(
  reader: GitHubReader,
  repo: Repo,
  baseSha: string,
): Promise<Guideline[]> {
  const found: Guideline[] = [];
  for (const name of NAMES) {
    const entry = await reader.file(repo, name, baseSha);
    const content = entry && (await reader.blob(repo, entry.sha, MAX_READ));
    if (content) found.push({ name, text: new TextDecoder().decode(content.subarray(0, MAX_SHOWN)) });
  }
  return found;
}
