import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { CountersignError, messageOf } from '../../../core/errors.ts';
import { compileGlob } from '../../../core/glob.ts';
import { unsafeFilePathReason } from '../../../core/path.ts';
import type { GitAccess } from '../../../ports/github.ts';
import { type GitBounds, git } from './git.ts';

export interface Bounds {
  files: number;
  /** Per file; larger files are left out. */
  fileBytes: number;
  bytes: number;
}

const BOUNDS: Bounds = { files: 20_000, fileBytes: 1_000_000, bytes: 64_000_000 };
const FETCH_TIMEOUT_MS = 180_000;
const READ_TIMEOUT_MS = 60_000;
const LIST_BYTES = 16_000_000;

/**
 * Files that agents read as settings and instructions, in any folder. In a head they are untrusted, and some
 * name commands that run immediately.
 */
const OF_AGENTS =
  /(^|\/)(\.(claude|codex|agents|gemini|cursor|vscode|git)(\/|$)|\.mcp\.json$|(AGENTS|CLAUDE|GEMINI)(\.[\w-]+)*\.md$)/i;

export class HeadTooLarge extends Error {}

/**
 * Writes the files of a commit to a folder, exactly as stored: git only supplies their bytes. It never
 * creates a work tree, so hooks, filters, attributes and submodules have no effect. A symbolic link becomes a
 * regular file with its target's name.
 *
 * While git fetches, the token is in a file outside of the folder, and deleted afterwards. Others on the
 * machine can read arguments and environments.
 * @param paths globs of the wanted files; all if omitted
 * @returns the paths that were left out
 * @throws HeadTooLarge; CountersignError if git fails; the signal's reason if aborted
 */
export async function writeHead(
  folder: string,
  sha: string,
  access: GitAccess,
  {
    paths,
    signal,
    bounds = BOUNDS,
  }: { paths?: readonly string[] | undefined; signal: AbortSignal; bounds?: Bounds },
): Promise<string[]> {
  const scratch = await mkdtemp(join(dirname(folder), 'git-'));
  try {
    const repository = join(scratch, 'repository');
    const config = join(scratch, 'config');
    const options = {
      folder: scratch,
      config,
      maxOutputBytes: LIST_BYTES,
      timeoutMs: READ_TIMEOUT_MS,
      signal,
    };
    await writeFile(config, '', { mode: 0o600 });
    await git(['init', '--quiet', '--bare', '--template=', repository], options);
    await fetchOnly(sha, access, { ...options, folder: repository, timeoutMs: FETCH_TIMEOUT_MS });
    return await write(folder, sha, paths, bounds, { ...options, folder: repository });
  } catch (error) {
    signal.throwIfAborted();
    if (error instanceof HeadTooLarge) throw error;
    throw new CountersignError('agent.no_head', messageOf(error));
  } finally {
    await rm(scratch, { recursive: true, force: true });
  }
}

async function fetchOnly(sha: string, { url, token }: GitAccess, options: GitBounds): Promise<void> {
  const protocol = url.startsWith('http:') ? 'http' : 'https';
  const credentials = Buffer.from(`x-access-token:${token}`).toString('base64');
  await writeFile(options.config, `[http "${url}"]\n\textraHeader = "Authorization: Basic ${credentials}"\n`);
  try {
    const args = [
      'fetch',
      '--quiet',
      '--depth=1',
      '--no-tags',
      '--no-write-fetch-head',
      '--no-auto-maintenance',
      url,
      sha,
    ];
    await git(args, { ...options, protocol });
  } finally {
    await writeFile(options.config, '');
  }
}

interface Entry {
  path: string;
  id: string;
}

async function write(
  folder: string,
  sha: string,
  paths: readonly string[] | undefined,
  bounds: Bounds,
  options: GitBounds,
): Promise<string[]> {
  const globs = paths?.map(compileGlob);
  const wanted: Entry[] = [];
  const leftOut: string[] = [];
  let total = 0;
  const listed = await git(['ls-tree', '-r', '-z', '-l', '--full-tree', sha], options);
  for (const line of listed.toString('utf8').split('\0').filter(Boolean)) {
    const [, type, id = '', size = '', path = ''] =
      /^\d+ (\w+) ([0-9a-f]+) +(\d+|-)\t(.*)$/s.exec(line) ?? [];
    const isWanted = type === 'blob' && (globs?.some((matches) => matches(path)) ?? true);
    const isLeftOut =
      unsafeFilePathReason(path) !== undefined || path.includes('\uFFFD') || OF_AGENTS.test(path);
    if (!isWanted || isLeftOut || Number(size) > bounds.fileBytes) {
      leftOut.push(path);
      continue;
    }
    total += Number(size);
    wanted.push({ path, id });
    if (wanted.length > bounds.files) throw new HeadTooLarge(`it has more than ${bounds.files} files`);
    if (total > bounds.bytes) throw new HeadTooLarge(`its files have more than ${bounds.bytes} bytes`);
  }
  const blobs = await git(['cat-file', '--batch'], {
    ...options,
    input: wanted.map(({ id }) => `${id}\n`).join(''),
    maxOutputBytes: total + wanted.length * 200,
  });
  let at = 0;
  for (const { path, id } of wanted) {
    const end = blobs.indexOf('\n', at);
    const [, found, size] = /^([0-9a-f]+) blob (\d+)$/.exec(blobs.toString('latin1', at, end)) ?? [];
    if (found !== id) throw new Error(`git gave something else than ${id}`);
    const file = join(folder, path);
    await mkdir(dirname(file), { recursive: true });
    // `wx` neither follows nor overwrites a file that was written before.
    await writeFile(file, blobs.subarray(end + 1, end + 1 + Number(size)), { flag: 'wx', mode: 0o644 });
    at = end + 1 + Number(size) + 1;
  }
  return leftOut;
}
