import { readingOnly } from '../adapters/dry-run/reading-only.ts';
import { withoutToken } from '../adapters/dry-run/without-token.ts';
import { createOctokitGitHub } from '../adapters/octokit/octokit-github.ts';
import { octokitsWithToken } from '../adapters/octokit/sign-in.ts';
import { systemClock } from '../core/clock.ts';
import { silentLog } from '../core/log.ts';
import { textOfFile } from '../core/text.ts';
import {
  CHAINS_FOLDER,
  MAX_CONFIGURATION_BYTES,
  MISNAMED_SETTINGS,
  SETTINGS_FILE,
} from '../domain/chain/configuration-files.ts';
import { CODE_OWNERS_FILES } from '../domain/first-look/code-owners.ts';
import type { FileText, OnGitHub, RepositoryFiles } from '../domain/first-look/seen.ts';
import { MAX_WORKFLOWS, WORKFLOWS_FOLDER } from '../domain/first-look/workflow.ts';
import { GitHubError, type GitHubReader, type Repo, type TreeEntry } from '../ports/github.ts';

/** There is no installation. */
const INSTALLATION = 1;

/**
 * What GitHub shows of a repository, to the owner of the token or to everybody.
 * @param withFiles also reads the files of its default branch
 * @throws GitHubError if the repository cannot be read
 */
export async function lookAt(
  { token, apiUrl }: { token: string | undefined; apiUrl: string },
  repo: Repo,
  withFiles: boolean,
): Promise<{ github: OnGitHub; files: RepositoryFiles | undefined }> {
  const github = createOctokitGitHub({
    source: octokitsWithToken({ token, apiUrl }),
    log: silentLog,
    clock: systemClock,
    fetch: readingOnly(token === undefined ? withoutToken(globalThis.fetch) : globalThis.fetch),
  });
  const reader = github.reader(INSTALLATION, 'person');
  const { defaultBranch, mergeMethods } = await reader.repository(repo);
  // Absent in a repository without commits.
  const tip = await reader.branchTip(repo, defaultBranch);
  const [required, rules, checks, files] = await Promise.all([
    reader.requiredChecks(repo, defaultBranch),
    reader.branchRules(repo, defaultBranch),
    tip === undefined ? undefined : checksOf(reader, repo, tip),
    withFiles && tip !== undefined ? filesOf(reader, repo, tip) : undefined,
  ]);
  return {
    github: {
      defaultBranch,
      required: required.map(({ name }) => name),
      hasMergeQueue: rules.includes('merge_queue'),
      checks,
      mergeMethods,
    },
    files,
  };
}

async function checksOf(reader: GitHubReader, repo: Repo, tip: string): Promise<string[] | undefined> {
  const [runs, statuses] = await Promise.all([
    ifShown(reader.checkRuns(repo, tip)),
    ifShown(reader.statuses(repo, tip)),
  ]);
  if (!runs && !statuses) return undefined;
  return [...(runs ?? []).map(({ name }) => name), ...(statuses ?? []).map(({ context }) => context)];
}

async function filesOf(reader: GitHubReader, repo: Repo, tip: string): Promise<RepositoryFiles> {
  const yamlIn = async (folder: string) =>
    ((await reader.folder(repo, folder, tip)) ?? []).filter(
      ({ type, path }) => type === 'file' && /\.ya?ml$/.test(path),
    );
  const existing = async (paths: readonly string[]) =>
    (await Promise.all(paths.map((path) => reader.file(repo, path, tip)))).filter(
      (entry) => entry !== undefined,
    );
  const textOf = async ({ path, sha }: TreeEntry): Promise<FileText[]> => {
    const bytes = await reader.blob(repo, sha, MAX_CONFIGURATION_BYTES);
    return bytes ? [{ path, text: textOfFile(bytes) }] : [];
  };
  const [workflows, owners, settings, chains] = await Promise.all([
    yamlIn(WORKFLOWS_FOLDER),
    existing(CODE_OWNERS_FILES),
    existing([SETTINGS_FILE, MISNAMED_SETTINGS]),
    yamlIn(CHAINS_FOLDER),
  ]);
  const [owner] = owners;
  const texts = await Promise.all(workflows.slice(0, MAX_WORKFLOWS).map(textOf));
  const [codeOwners] = owner ? await textOf(owner) : [];
  return {
    workflows: texts.flat(),
    codeOwners,
    configured: [...settings, ...chains].map(({ path }) => path),
  };
}

/** The answer, or `undefined` if the token may not see it. */
async function ifShown<T>(answer: Promise<T>): Promise<T | undefined> {
  try {
    return await answer;
  } catch (error) {
    if (error instanceof GitHubError && (error.kind === 'forbidden' || error.kind === 'not_found'))
      return undefined;
    throw error;
  }
}
