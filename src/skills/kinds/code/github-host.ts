import { LRUCache } from 'lru-cache';
import { unreadableReason } from '../../../analyzers/changed-file.ts';
import { unsafePathReason } from '../../../core/path.ts';
import { GitHubError, type GitHubReader, type PullRequestFile, type Repo } from '../../../ports/github.ts';
import { unifiedDiff } from './diff.ts';
import { type CodeHost, HostRefusal, type SearchHit } from './host.ts';

/** In bytes. */
const MAX_FILE_BYTES = 1_000_000;
const MAX_SEARCHED_FILES = 300;
/** Each is one or two requests of the installation's hourly limit. */
const MAX_READS = 500;
const MAX_HITS = 200;
/** In characters, per line of a result. */
const MAX_LINE = 300;
const MAX_MESSAGE = 1_000;
const READ_AT_ONCE = 4;
/** In characters, for the texts cached between searches. */
const KEPT = 16_000_000;

export interface Head {
  reader: GitHubReader;
  repo: Repo;
  sha: string;
  /** The files that the pull request changes. */
  files: readonly PullRequestFile[];
}

type Content = { is: 'text'; text: string } | { is: 'too_large' } | { is: 'no_text' };

/**
 * What a program may read: the repository at the run's head, and no other commit, branch or repository.
 * @param onTrouble called if GitHub cannot be read now. The program's result then is no verdict (I5), whether
 * or not the program catches the error.
 */
export function gitHubHost(
  { reader, repo, sha, files }: Head,
  onTrouble: (error: GitHubError) => void,
): Pick<CodeHost, 'search' | 'file' | 'diff' | 'history'> {
  const blobs = new Map(
    files.flatMap(({ path, status, blobSha }) => (status === 'removed' || !blobSha ? [] : [[path, blobSha]])),
  );
  const kept = new LRUCache<string, Content>({
    maxSize: KEPT,
    sizeCalculation: (content) => (content.is === 'text' ? content.text.length + 1 : 1),
  });
  let reads = 0;

  const content = async (blob: string): Promise<Content> => {
    const known = kept.get(blob);
    if (known) return known;
    reads += 1;
    if (reads > MAX_READS) throw new HostRefusal({ kind: 'too_many_reads', limit: MAX_READS });
    const found = textOf(await reading(reader.blob(repo, blob, MAX_FILE_BYTES), onTrouble));
    kept.set(blob, found);
    return found;
  };

  return {
    async search(text, signal) {
      if (files.length > MAX_SEARCHED_FILES) {
        throw new HostRefusal({ kind: 'too_many_files', limit: MAX_SEARCHED_FILES });
      }
      const searched = [...blobs].filter(([path]) => unreadableReason({ path }) === undefined);
      const hits: SearchHit[] = [];
      for (let at = 0; at < searched.length && hits.length < MAX_HITS; at += READ_AT_ONCE) {
        signal.throwIfAborted();
        const found = searched
          .slice(at, at + READ_AT_ONCE)
          .map(async ([path, blob]) => hitsIn(path, textIn(path, await content(blob)), text));
        hits.push(...(await Promise.all(found)).flat());
      }
      return hits.slice(0, MAX_HITS);
    },

    async file(path) {
      if (!isPath(path)) return null;
      const blob = blobs.get(path) ?? (await reading(reader.file(repo, path, sha), onTrouble))?.sha;
      if (blob === undefined) return null;
      const found = await content(blob);
      return textIn(path, found);
    },

    diff: async () => unifiedDiff(files),

    async history(path) {
      if (!isPath(path)) return [];
      const commits = await reading(reader.history(repo, path, sha), onTrouble);
      return commits.map(({ sha, message, author }) => ({
        sha,
        message: message.slice(0, MAX_MESSAGE),
        author: author?.login ?? null,
      }));
    },
  };
}

/** Any other text is not a path in git, and could lead to a different endpoint of GitHub's API. */
function isPath(path: string): boolean {
  return unsafePathReason(path) === undefined && path.isWellFormed();
}

function textOf(bytes: Uint8Array | undefined): Content {
  if (bytes === undefined) return { is: 'too_large' };
  try {
    return { is: 'text', text: new TextDecoder('utf-8', { fatal: true }).decode(bytes) };
  } catch {
    return { is: 'no_text' };
  }
}

/** A file that is too large could hide anything, so it is an error instead of being skipped. */
function textIn(path: string, content: Content): string | null {
  if (content.is === 'too_large') {
    throw new HostRefusal({ kind: 'file_too_large', path, limit: MAX_FILE_BYTES });
  }
  return content.is === 'text' ? content.text : null;
}

function hitsIn(path: string, content: string | null, wanted: string): SearchHit[] {
  if (!content?.includes(wanted)) return [];
  return content
    .split('\n')
    .flatMap((text, index) =>
      text.includes(wanted) ? [{ path, line: index + 1, text: text.slice(0, MAX_LINE) }] : [],
    );
}

/**
 * If GitHub rejects the request itself, the program gets the reason. Any other error fails the whole
 * execution.
 */
async function reading<T>(answer: Promise<T>, onTrouble: (error: GitHubError) => void): Promise<T> {
  try {
    return await answer;
  } catch (error) {
    if (!(error instanceof GitHubError)) throw error;
    if (error.kind === 'invalid' || error.kind === 'not_found') {
      throw new HostRefusal({ kind: 'by_github', detail: error.message });
    }
    onTrouble(error);
    throw error;
  }
}
