import { shortHash } from '../../core/canonical.ts';
import type { Clock } from '../../core/clock.ts';
import type { Diagnostic } from '../../core/diagnostic.ts';
import { textOfFile } from '../../core/text.ts';
import {
  CHAINS_FOLDER,
  configurationFile,
  isOfOrganisation,
  MAX_CONFIGURATION_BYTES,
} from '../../domain/chain/configuration-files.ts';
import type { KnownNames } from '../../domain/chain/known-names.ts';
import { parseChain } from '../../domain/chain/parse.ts';
import type { ParsedChain } from '../../domain/chain/scope.ts';
import type { Minimum } from '../../domain/chain/settings.ts';
import type { Effect } from '../../domain/effect/effect.ts';
import type { RepositoryEvent } from '../../domain/event/event.ts';
import {
  baseConfigurationCheck,
  configurationCheck,
  misplacedChain,
  WRONG_SETTINGS_NAME,
} from '../../messages/check-run/configuration-check.ts';
import type { GitHub, GitHubReader, PullRequest, PullRequestFile, Repo } from '../../ports/github.ts';
import { type ChangedFile, diagnosticsAfterMerge, removedPaths } from './after-merge.ts';
import { changedSkills } from './check-skills.ts';
import type { Configuration } from './configuration.ts';
import { settingsSource, tooLargeDiagnostic } from './settings-source.ts';

/** Each file costs a request, and anybody can open a pull request with thousands of them. */
const MAX_FILES = 100;

/**
 * The check runs about configuration that a pull request needs: a neutral one if files of the base branch are
 * invalid, and one that validates the files that the pull request changes. The head's files are parsed only
 * for this report and govern nothing (I4).
 */
export async function checkConfiguration(
  deps: { github: GitHub; clock: Clock },
  event: RepositoryEvent,
  pullRequest: PullRequest,
  files: readonly PullRequestFile[],
  { branch, broken, names, read, sha }: Configuration,
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
      baseRef: branch,
      baseSha: sha,
      settingsBroken: broken.some(({ kind }) => kind === 'settings'),
      outOfSight: broken.some(({ outOfSight }) => outOfSight),
      diagnostics: broken.flatMap((file) => file.diagnostics),
    });
    checks.push({ key, effect: { kind: 'check_run', ...place, content } });
  }
  const changed = files.filter(({ path, status }) => status !== 'removed' && configurationFile(path));
  const gone = removedPaths(files);
  const skills = await changedSkills(reader, repo, pullRequest.headSha, files, names);
  if (changed.length + gone.length + skills.folders.length > 0) {
    const minimum = read.settings.organisation.parse(names).settings?.minimum ?? {};
    // A chain may name a skill that the same pull request adds.
    const changes = await Promise.all(
      changed
        .slice(0, MAX_FILES)
        .map((file) => readChanged(reader, repo, file, { names: skills.names, minimum })),
    );
    const unread = changed.slice(MAX_FILES).map(
      ({ path }): Diagnostic => ({
        file: path,
        line: 1,
        column: 1,
        message: `not checked: only the first ${MAX_FILES} configuration files of a pull request are read`,
      }),
    );
    const key = keyOf('configuration');
    const { errors, warnings } = diagnosticsAfterMerge(read, changes, gone, skills.names);
    const content = configurationCheck({
      ...at,
      externalId: idOf(key),
      files: [...changed.map((file) => file.path), ...gone, ...skills.folders],
      diagnostics: [...errors, ...skills.diagnostics, ...unread],
      warnings,
    });
    checks.push({ key, effect: { kind: 'check_run', ...place, content } });
  }
  return checks;
}

/** Reads a changed file according to its path. Files that the app ignores get an error instead. */
async function readChanged(
  reader: GitHubReader,
  repo: Repo,
  { path, blobSha }: PullRequestFile,
  { names, minimum }: { names: Required<KnownNames>; minimum: Minimum },
): Promise<ChangedFile> {
  const kind = configurationFile(path);
  if (kind === 'misnamed settings') return { path, diagnostics: [atTop(path, WRONG_SETTINGS_NAME)] };
  const bytes = blobSha === null ? undefined : await reader.blob(repo, blobSha, MAX_CONFIGURATION_BYTES);
  const text = bytes && textOfFile(bytes);
  if (kind === 'settings') {
    const settings = settingsSource(text, path, { mayRollOut: isOfOrganisation(repo) });
    return {
      path,
      settings,
      diagnostics: [...settings.parse(names).diagnostics, ...settings.below(minimum)],
    };
  }
  const chain: ParsedChain =
    text === undefined
      ? { file: path, diagnostics: [tooLargeDiagnostic(path)] }
      : { file: path, ...parseChain(text, path, names) };
  return kind === 'chain'
    ? { path, chain, text: text ?? '', diagnostics: [] }
    : { path, diagnostics: [atTop(path, misplacedChain(path, CHAINS_FOLDER)), ...chain.diagnostics] };
}

function atTop(file: string, message: string): Diagnostic {
  return { file, line: 1, column: 1, message };
}

function idOf(key: string): string {
  return shortHash(key, 32);
}
