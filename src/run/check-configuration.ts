import { parseChain } from '../chain/parse.ts';
import { nameOf } from '../chain/scope.ts';
import { parseSettings, unknownChains } from '../chain/settings.ts';
import { contentHash } from '../core/canonical.ts';
import type { Clock } from '../core/clock.ts';
import type { Fault } from '../core/fault.ts';
import { textOfFile } from '../core/text.ts';
import type { Effect } from '../effect/effect.ts';
import type { RepositoryEvent } from '../event/event.ts';
import type { GitHub, GitHubReader, PullRequest, PullRequestFile, Repo } from '../github/github.ts';
import { baseConfigurationCheck, configurationCheck } from '../words/configuration-check.ts';
import { changedSkills } from './check-skills.ts';
import {
  CHAINS_FOLDER,
  type Configuration,
  MAX_FILE_BYTES,
  type NamesHere,
  SETTINGS_FILE,
} from './configuration.ts';
import { tooLargeFault } from './settings-source.ts';

/** Each costs a request to read, and anybody can open a pull request with thousands of them. */
const MAX_FILES = 100;

/**
 * The check runs about configuration that a pull request needs: a neutral one when files of the base branch cannot be
 * used, and one that validates the files the pull request itself changes. The head's files are only parsed
 * to be reported on; they govern nothing (invariant I4).
 */
export async function checkConfiguration(
  deps: { github: GitHub; clock: Clock },
  event: RepositoryEvent,
  pullRequest: PullRequest,
  files: readonly PullRequestFile[],
  { broken, names, chainNames, sha }: Configuration,
): Promise<{ key: string; effect: Effect }[]> {
  const repo = event.repository;
  const reader = deps.github.reader(event.installation_id);
  const at = { headSha: pullRequest.headSha, at: deps.clock.now() };
  const place = { installation_id: event.installation_id, owner: repo.owner, repo: repo.name };
  const keyOf = (name: string) =>
    `check_run:${event.repository.id}#${pullRequest.number}:${pullRequest.headSha}:${name}`;

  const checks: { key: string; effect: Effect }[] = [];
  if (broken.length > 0) {
    const key = keyOf('base configuration');
    const content = baseConfigurationCheck({
      ...at,
      externalId: idOf(key),
      baseRef: pullRequest.baseRef,
      baseSha: sha,
      settingsBroken: broken.some(({ kind }) => kind === 'settings'),
      faults: broken.flatMap((file) => file.faults),
    });
    checks.push({ key, effect: { kind: 'check_run', ...place, content } });
  }
  const changed = files.filter((file) => isConfiguration(file.path) && file.status !== 'removed');
  const skills = await changedSkills(reader, repo, pullRequest.headSha, files, names);
  if (changed.length > 0 || skills.folders.length > 0) {
    // A chain may name a skill that comes with the same pull request.
    const read = await Promise.all(
      changed.slice(0, MAX_FILES).map((file) => readChanged(reader, repo, file, skills.names)),
    );
    // The settings may name a chain that comes with them.
    const named = [...new Set([...chainNames, ...read.flatMap(({ chain }) => chain ?? [])])].sort();
    const unread = changed.slice(MAX_FILES).map(
      ({ path }): Fault => ({
        file: path,
        line: 1,
        column: 1,
        message: `not checked: only the first ${MAX_FILES} configuration files of a pull request are read`,
      }),
    );
    const key = keyOf('configuration');
    const content = configurationCheck({
      ...at,
      externalId: idOf(key),
      files: [...changed.map((file) => file.path), ...skills.folders],
      faults: [...read.flatMap(({ faults }) => faults(named)), ...skills.faults, ...unread],
    });
    checks.push({ key, effect: { kind: 'check_run', ...place, content } });
  }
  return checks;
}

function isConfiguration(path: string): boolean {
  return path === SETTINGS_FILE || (path.startsWith(`${CHAINS_FOLDER}/`) && /\.ya?ml$/.test(path));
}

/** A changed file: which chain it stands for, if it is no settings file, and its faults where chains have these names. */
interface ChangedFile {
  chain?: string;
  faults(chains: readonly string[]): readonly Fault[];
}

async function readChanged(
  reader: GitHubReader,
  repo: Repo,
  { path, blobSha }: PullRequestFile,
  names: NamesHere,
): Promise<ChangedFile> {
  const bytes = blobSha === null ? undefined : await reader.blob(repo, blobSha, MAX_FILE_BYTES);
  if (!bytes) return { faults: () => [tooLargeFault(path)] };
  const text = textOfFile(bytes);
  if (path !== SETTINGS_FILE) {
    const parsed = { file: path, ...parseChain(text, path, names) };
    return { chain: nameOf(parsed), faults: () => parsed.faults };
  }
  const { faults } = parseSettings(text, path, names);
  return { faults: (chains) => (faults.length > 0 ? faults : unknownChains(text, path, chains)) };
}

function idOf(key: string): string {
  return contentHash(key).slice('sha256:'.length, 'sha256:'.length + 32);
}
