import type { GitHubReader, Repo } from '../../../../ports/github.ts';

export interface Guideline {
  name: string;
  text: string;
}

const NAMES = ['AGENTS.md', 'REVIEW.md', 'CONTRIBUTING.md'];
/** In bytes, of one file; each of them is sent with every question. */
const MAX_SHOWN = 8_000;
/** A larger file is not read at all. */
const MAX_READ = 200_000;

/**
 * What the repository says of how its code should be, from the root folder of one commit of the base branch. Never from a head: whoever
 * is reviewed does not say how.
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
