import { neverShowForNow } from '../../core/redact/redact.ts';
import type { GitHubApp } from '../../ports/github.ts';
import {
  anythingSchema,
  appSchema,
  deliveryAttemptsSchema,
  installationSchema,
  installationsSchema,
  tokenSchema,
  webhookSchema,
} from './answers.ts';
import type { Client } from './client.ts';

/** @param client authenticated as the app; installations cannot use these routes */
export function createAppReader(client: Client): GitHubApp {
  return {
    registration: () => client.request('GET /app', {}, appSchema),

    webhook: () => client.request('GET /app/hook/config', {}, webhookSchema),

    installations: () => client.list('GET /app/installations', {}, installationsSchema),

    /** https://docs.github.com/en/rest/apps/apps#get-a-repository-installation-for-the-authenticated-app */
    async installationOf({ owner, name }) {
      const route = 'GET /repos/{owner}/{repo}/installation';
      return (await client.request(route, { owner, repo: name }, installationSchema)).id;
    },

    async deliveryAttempts(cursor) {
      const parameters = cursor === undefined ? {} : { cursor };
      const page = await client.page('GET /app/hook/deliveries', parameters, deliveryAttemptsSchema);
      return { attempts: page.found, next: page.next };
    },

    async redeliver(attemptId) {
      const route = 'POST /app/hook/deliveries/{delivery_id}/attempts';
      await client.request(route, { delivery_id: attemptId }, anythingSchema);
    },

    async readToken(installationId, repositoryId) {
      const route = 'POST /app/installations/{installation_id}/access_tokens';
      const { token } = await client.request(
        route,
        {
          installation_id: installationId,
          repository_ids: [repositoryId],
          permissions: { contents: 'read' },
        },
        tokenSchema,
      );
      neverShowForNow('GitHub token', token);
      return token;
    },
  };
}
