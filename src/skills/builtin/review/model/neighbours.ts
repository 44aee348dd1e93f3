import type { AdmittedFile } from '../../../../analyzers/admit.ts';
import { type ChangedFile, isCode } from '../../../../analyzers/changed-file.ts';
import type { AnalyzerPool } from '../../../../analyzers/pool.ts';
import { reviewFiles } from '../../../../analyzers/review.ts';
import type { StepContext } from '../../../../engine/steps/step.ts';
import { GitHubError, type TreeEntry } from '../../../../ports/github.ts';

/** Files that the change leaves as they are, as far as they can use what it defines, or define what it uses. */
export interface Neighbours {
  files: readonly AdmittedFile[];
  /** Hides the secrets in them. */
  mask: (text: string) => string;
}

const NONE: Neighbours = { files: [], mask: () => '' };

/** Each is a request, beside the one for the list of files. So a review costs at most 13 requests more, whatever the repository holds. */
const MOST_READ = 12;
/** Of those, the most that are read because the change imports a file of this name. The others are read for the calls in them. */
const MOST_IMPORTED = 4;
const MAX_BYTES = 60_000;
/** Longer lines are data. */
const MAX_LINE = 300;
/** For a few files; a review has three minutes for all of its files. */
const SEARCH_TIMEOUT_MS = 60_000;

/**
 * Reads the files nearest to a change in the head: those whose names it imports, then those with the fewest folders in between. Which files call
 * a function is not in the list of files, so all of them cannot be found without reading all. Rejected: GitHub's search for code, which covers
 * only the default branch (https://docs.github.com/en/rest/search/search#search-code). The search for secrets reads them first, as all text that
 * a model is shown. Without them, the review only knows less around the change, so nothing fails if GitHub does not answer.
 * @param files of the change, as the model reads them
 * @param changed all files of the change
 * @throws the signal's reason if aborted
 */
export async function readNeighbours(
  { reader, repo, state, signal, log }: Pick<StepContext, 'reader' | 'repo' | 'state' | 'signal' | 'log'>,
  files: readonly AdmittedFile[],
  changed: readonly ChangedFile[],
  pool: AnalyzerPool | undefined,
): Promise<Neighbours> {
  const own = new Set(changed.map(({ path }) => path));
  try {
    const tree = (await reader.tree(repo, state.run.headSha)) ?? [];
    const near = nearest(
      tree.filter(({ path }) => !own.has(path)),
      files,
    );
    const contents = await Promise.all(near.map(({ sha }) => reader.blob(repo, sha, MAX_BYTES)));
    const found = near.flatMap(({ path }, at): ChangedFile[] => {
      const content = contents[at];
      return content ? [{ path, status: 'added', content }] : [];
    });
    if (found.length === 0) return NONE;
    const searched = await reviewFiles(found, {
      analyzers: ['secrets'],
      timeoutMs: SEARCH_TIMEOUT_MS,
      signal,
      ...(pool && { pool }),
    });
    if (!searched.mask) return NONE;
    return { files: searched.files.filter(isRelated(files)), mask: searched.mask };
  } catch (error) {
    if (!(error instanceof GitHubError)) throw error;
    log.info({ run: state.run.id, err: error }, 'the files around the change are not read');
    return NONE;
  }
}

/**
 * The files to read, the most promising first. Pure.
 * @param tree what the change leaves as it is
 */
export function nearest(tree: readonly TreeEntry[], files: readonly AdmittedFile[]): TreeEntry[] {
  const code = files.filter(({ path }) => isCode(path));
  const kinds = new Set(code.map(({ path }) => kindOf(path)));
  const away = foldersAway(code);
  const imported = new Set(code.flatMap(importedNames));
  const candidates = tree
    .filter(
      ({ path, type, size }) =>
        type === 'file' && size > 0 && size <= MAX_BYTES && kinds.has(kindOf(path)) && isCode(path),
    )
    .map((entry) => ({ entry, away: away(entry.path) }))
    .toSorted((a, b) => a.away - b.away || (a.entry.path < b.entry.path ? -1 : 1))
    .map(({ entry }) => entry);
  const first = candidates.filter(({ path }) => imported.has(nameOf(path))).slice(0, MOST_IMPORTED);
  const chosen = new Set(first);
  return [...first, ...candidates.filter((entry) => !chosen.has(entry))].slice(0, MOST_READ);
}

/** Whether a file is in the folder of a changed one, or one of the two imports the other by name. */
function isRelated(files: readonly AdmittedFile[]): (file: AdmittedFile) => boolean {
  const folders = new Set(files.map(({ path }) => folderOf(path)));
  const names = new Set(files.map(({ path }) => nameOf(path)));
  const imported = new Set(files.flatMap(importedNames));
  return (file) =>
    folders.has(folderOf(file.path)) ||
    imported.has(nameOf(file.path)) ||
    importedNames(file).some((name) => names.has(name));
}

/** How many folders one goes up and down from a file to the nearest changed one. */
function foldersAway(files: readonly AdmittedFile[]): (path: string) => number {
  const down = new Map<string, number>();
  for (const { path } of files)
    for (const [steps, folder] of above(path).entries())
      down.set(folder, Math.min(down.get(folder) ?? steps, steps));
  return (path) =>
    Math.min(...above(path).map((folder, steps) => steps + (down.get(folder) ?? Number.POSITIVE_INFINITY)));
}

/** The folders of a file, from its own to the root, which is empty. */
function above(path: string): string[] {
  const folders: string[] = [];
  for (let folder = folderOf(path); folder !== ''; folder = folderOf(folder)) folders.push(folder);
  return [...folders, ''];
}

const IMPORTS =
  /^\s*(?:import|from|export|use|require\w*|include\w*|#\s*include|source)\b|\b(?:require|import)\s*\(|^\s*\}\s*from\b/;

/** The last parts of what a file imports: `names` of `'./lib/names.ts'` and of `lib.names`. */
function importedNames({ lines }: AdmittedFile): string[] {
  return lines.flatMap((line) => {
    if (line.length > MAX_LINE || !IMPORTS.test(line)) return [];
    return (line.match(/[\w./:@-]+/g) ?? []).flatMap((word) => {
      const last = word.split(/[/:]/).at(-1) ?? '';
      return [nameOf(last), ...last.split('.')].filter((name) => name.length > 2);
    });
  });
}

function folderOf(path: string): string {
  return path.slice(0, Math.max(0, path.lastIndexOf('/')));
}

function nameOf(path: string): string {
  return path.slice(path.lastIndexOf('/') + 1).replace(/\.\w+$/, '');
}

/** Files that can import each other: of one extension, or of JavaScript and TypeScript. */
function kindOf(path: string): string {
  const extension = /\.(\w+)$/.exec(path)?.[1]?.toLowerCase() ?? '';
  return /^[cm]?[jt]sx?$/.test(extension) ? 'js' : extension;
}
