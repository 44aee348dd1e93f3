import type { State } from '../state.ts';
import { nodeId, viewAccount, viewOrganization } from '../views/account.ts';
import { viewRepository } from '../views/repository.ts';
import type { Account, Repository } from '../world.ts';

/** Sends an event about a repository to the app, if the app is installed there. */
export function emit(
  state: State,
  about: { repository: Repository; sender: Account },
  event: string,
  payload: { action?: string } & Record<string, unknown>,
): void {
  const { repository, sender } = about;
  const installation = state.installationOf(repository);
  if (!installation || installation.suspendedAt) return;
  state.webhooks.send(event, payload.action, {
    ...payload,
    repository: payload.repository ?? viewRepository(state, repository),
    ...(repository.owner.type === 'Organization'
      ? { organization: viewOrganization(state, repository.owner) }
      : {}),
    sender: viewAccount(state, sender),
    installation: {
      id: installation.id,
      node_id: nodeId('IntegrationInstallation', installation.id),
    },
  });
}
