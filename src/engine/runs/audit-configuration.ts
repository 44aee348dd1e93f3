import { contentHash } from '../../core/canonical.ts';
import {
  configurationFile,
  FOLDER,
  ORGANISATION_CHAINS,
  ORGANISATION_SKILLS,
} from '../../domain/chain/configuration-files.ts';
import type { EventOf, RepositoryEvent } from '../../domain/event/event.ts';
import type { Actor } from '../../domain/run/actor.ts';
import type { Tx } from '../../ports/storage.ts';
import type { Configuration } from '../configuration/configuration.ts';

/** The most paths of a push in one entry. */
const MAX_PATHS = 100;

/**
 * Records the configuration of a base branch if it differs from the last recorded one. Compares the content,
 * not the commit: every push to the base is a new commit, but few change the configuration.
 */
export async function auditConfiguration(
  tx: Tx,
  { repository }: RepositoryEvent,
  baseRef: string,
  configuration: Configuration,
  by: Actor,
): Promise<void> {
  const { sha } = configuration;
  const digest = digestOf(configuration);
  if ((await tx.audit.lastConfiguration(repository.id, baseRef)) === digest) return;
  await tx.audit.record({
    kind: 'configuration.changed',
    by,
    repository: { id: repository.id, name: `${repository.owner}/${repository.name}` },
    pull_request: null,
    head_sha: null,
    base_ref: baseRef,
    configuration_sha: sha,
    run_id: null,
    digest,
  });
}

/** By the list of chains, which the loader keeps between events and which can be long. */
const digests = new WeakMap<
  Configuration['chains'],
  Pick<Configuration, 'settings' | 'broken'> & { digest: string }
>();

function digestOf({ chains, settings, broken }: Configuration): string {
  const known = digests.get(chains);
  if (known?.settings === settings && known.broken === broken) return known.digest;
  const digest = contentHash({ chains, settings, broken: broken.map(({ file }) => file) });
  digests.set(chains, { settings, broken, digest });
  return digest;
}

/** Records a push that changed configuration files, with the person who pushed. */
export async function auditPush(tx: Tx, event: EventOf<'file.changed'>): Promise<void> {
  const { repository, branch, head_sha, pusher, paths } = event;
  const governing = paths.filter((path) => governs(path, repository.name));
  if (governing.length === 0) return;
  await tx.audit.record(
    {
      kind: 'configuration.pushed',
      by: { kind: 'person', login: pusher },
      repository: { id: repository.id, name: `${repository.owner}/${repository.name}` },
      pull_request: null,
      head_sha: null,
      base_ref: branch,
      configuration_sha: head_sha,
      run_id: null,
      paths: governing.slice(0, MAX_PATHS),
    },
    `push:${repository.id}:${branch}:${head_sha}`,
  );
}

function governs(path: string, repository: string): boolean {
  if (configurationFile(path) !== undefined || path.startsWith(`${FOLDER}/`)) return true;
  const ofOrganisation = [ORGANISATION_CHAINS, ORGANISATION_SKILLS].some((folder) =>
    path.startsWith(`${folder}/`),
  );
  return repository === '.github' && ofOrganisation;
}
