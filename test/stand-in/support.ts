import { createServer, type IncomingHttpHeaders } from 'node:http';
import { createAppAuth } from '@octokit/auth-app';
import { Octokit } from '@octokit/rest';
import { onTestFinished } from 'vitest';
import { type GitHubStandIn, type StandInOptions, startGitHub } from '../support/github/stand-in.ts';

export const REPO = 'acme/shop';
export const AT = { owner: 'acme', repo: 'shop' };

export interface World {
  github: GitHubStandIn;
  installation: number;
  /** A client of the installation that neither retries nor logs. */
  octokit: Octokit;
}

const silent = { debug() {}, info() {}, warn() {}, error() {} };

/** An organisation with one repository on which the app is installed; stopped when the test ends. */
export async function startWorld(
  options: StandInOptions & { private?: boolean; files?: Record<string, string | Uint8Array> } = {},
): Promise<World> {
  const github = await startGitHub(options);
  onTestFinished(() => github.stop());
  github.addOrganization('acme');
  github.addRepository({
    ...AT,
    name: AT.repo,
    private: options.private ?? false,
    files: options.files ?? { 'README.md': '# Shop\n', 'src/cart.ts': 'export const items = [];\n' },
    collaborators: { maya: 'maintain', walt: 'write', rita: 'triage' },
  });
  const installation = github.installApp('acme');
  return { github, installation, octokit: clientOf(github, installation) };
}

export function clientOf(github: GitHubStandIn, installationId: number): Octokit {
  return new Octokit({
    baseUrl: github.url,
    authStrategy: createAppAuth,
    auth: { appId: github.app.id, privateKey: github.app.privateKey, installationId },
    log: silent,
  });
}

/** A client that signs with the app's JWT. */
export function appClientOf(github: GitHubStandIn): Octokit {
  return new Octokit({
    baseUrl: github.url,
    authStrategy: createAppAuth,
    auth: { appId: github.app.id, privateKey: github.app.privateKey },
    log: silent,
  });
}

export interface Received {
  event: string;
  headers: IncomingHttpHeaders;
  body: string;
}

/** A webhook receiver that answers with `status` and keeps what it gets; closed when the test ends. */
export async function startReceiver(github: GitHubStandIn, answer = { status: 200 }): Promise<Received[]> {
  const received: Received[] = [];
  const server = createServer(async (request, response) => {
    let body = '';
    for await (const chunk of request) body += chunk;
    received.push({ event: String(request.headers['x-github-event']), headers: request.headers, body });
    response.writeHead(answer.status).end();
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  onTestFinished(() => new Promise<void>((resolve) => server.close(() => resolve())));
  const address = server.address();
  if (typeof address !== 'object' || !address) throw new Error('The receiver does not listen.');
  github.setWebhookUrl(`http://127.0.0.1:${address.port}/`);
  return received;
}

export function openChange(
  github: GitHubStandIn,
  files: Record<string, string | null> = { 'NEW.md': 'new\n' },
) {
  return github.openPullRequest({ repo: REPO, author: 'eve', branch: 'topic', title: 'Change it', files });
}
