import { CountersignError, unreachable } from '../../core/errors.ts';
import {
  type CheckDeps,
  type CheckedRepository,
  type CheckProgress,
  checkRepositories,
  patiently,
} from '../../engine/configuration/check-repositories.ts';
import { withoutInstallation } from '../../messages/cli/cli.ts';
import {
  type ConfigCheck,
  configCheckJson,
  configCheckText,
  isSuspended,
  notInstalledFor,
  placedErrors,
  repositoriesRead,
  waitingForLimit,
} from '../../messages/cli/config-check.ts';
import type { AppInstallation, GitHub, InstalledRepository } from '../../ports/github.ts';
import type { ReadTx } from '../../ports/storage.ts';
import type { Context, DatabaseOption, Output } from './context.ts';
import { readingGitHub } from './policy-steps.ts';

export interface ConfigCheckOptions extends DatabaseOption {
  organisation?: string;
  repo?: string;
}

/** Checks the configuration of all repositories as GitHub has it. Fails for errors, and for what cannot be read. */
export async function configCheck(context: Context, options: ConfigCheckOptions): Promise<Output> {
  const { tools } = context;
  const { database } = options;
  // What the operator said about chains counts where there is a database. Before the first start, there is none.
  const hasDatabase = database !== undefined || (await tools.hasDatabase());
  const check = hasDatabase
    ? await tools.withDatabase(database, 'read', ({ read }) => checkAll(context, options, read))
    : await checkAll(context, options);
  return {
    text: (screen) => configCheckText(check, screen),
    json: configCheckJson(check),
    failed: check.errors.length + check.unreadable.length > 0,
  };
}

async function checkAll(context: Context, options: ConfigCheckOptions, read?: ReadTx): Promise<ConfigCheck> {
  const { clock, tools } = context;
  const { github, configuration } = await tools.policy(read);
  const deps: CheckDeps = { github, configuration, clock, pause: (ms) => tools.pause(ms) };
  const say = (progress: CheckProgress) => context.status(progressInWords(progress));
  const checked: CheckedRepository[] = [];
  let skipped = 0;
  const ask: Ask = (work, missing) => readingGitHub(() => patiently(deps, say, work), missing);
  for (const { installationId, only } of await places(ask, github.app, options)) {
    const installed = await ask(() => github.reader(installationId, 'background').repositories());
    const wanted = installed.filter((one) => only === undefined || isCalled(one, only));
    const writable = wanted.filter(({ readOnly }) => !readOnly);
    skipped += wanted.length - writable.length;
    checked.push(...(await checkRepositories(deps, installationId, writable, say)));
  }
  const byName = checked.toSorted((a, b) =>
    a.repository.toLowerCase() < b.repository.toLowerCase() ? -1 : 1,
  );
  const ofKind = <Kind extends CheckedRepository['kind']>(kind: Kind) =>
    byName.filter((one): one is Extract<CheckedRepository, { kind: Kind }> => one.kind === kind);
  return {
    read: ofKind('read').length,
    skipped,
    empty: ofKind('empty').length,
    errors: placedErrors(ofKind('read')),
    unreadable: ofKind('unreadable').map(({ repository, because }) => ({ repository, because })),
  };
}

interface Place {
  installationId: number;
  /** Only this repository of it. */
  only?: string;
}

/** Asks GitHub, and waits while it limits requests. @throws CountersignError as `readingGitHub` */
type Ask = <T>(work: () => Promise<T>, missing?: CountersignError) => Promise<T>;

/** @throws CountersignError if the App is not installed there */
async function places(
  ask: Ask,
  app: GitHub['app'],
  { organisation, repo: repository }: ConfigCheckOptions,
): Promise<Place[]> {
  if (repository !== undefined) {
    const [owner = '', name = ''] = repository.split('/');
    const missing = new CountersignError('cli.unknown_repository', withoutInstallation(repository));
    const installationId = await ask(() => app.installationOf({ owner, name }), missing);
    return [{ installationId, only: repository }];
  }
  const installations = await ask(() => app.installations());
  const wanted = installations.filter(
    ({ owner }) => organisation === undefined || owner.toLowerCase() === organisation.toLowerCase(),
  );
  const active = wanted.filter(({ suspended }) => !suspended);
  if (active.length === 0) throw notInstalled(organisation, installations, wanted[0]);
  return active.map(({ id }) => ({ installationId: id }));
}

function notInstalled(
  organisation: string | undefined,
  installations: readonly AppInstallation[],
  suspended: AppInstallation | undefined,
): CountersignError {
  const message = suspended
    ? isSuspended(suspended.owner)
    : notInstalledFor(
        organisation ?? '',
        installations.map(({ owner }) => owner),
      );
  return new CountersignError('cli.not_installed', message);
}

function isCalled({ owner, name }: InstalledRepository, repository: string): boolean {
  return `${owner}/${name}`.toLowerCase() === repository.toLowerCase();
}

function progressInWords(progress: CheckProgress): string {
  switch (progress.kind) {
    case 'read':
      return repositoriesRead(progress.done, progress.of);
    case 'limited':
      return waitingForLimit(progress.until);
    default:
      return unreachable(progress);
  }
}
