import { randomBytes } from 'node:crypto';
import { createAppAuth } from '@octokit/auth-app';
import { Octokit } from '@octokit/rest';
import { readManifest } from '../support/github/manifest.ts';
import { type GitHubStandIn, startGitHub } from '../support/github/stand-in.ts';
import { MARKER, refusal, type Settings } from './settings.ts';
import { type AppAccess, isStatus, type Target } from './target.ts';

const silent = { debug() {}, info() {}, warn() {}, error() {} };
const PREFIX = 'countersign-conformance';

export interface Opened {
  target: Target;
  close(): Promise<void>;
}

/** The stand-in, which allows everything. The suite reaches it like GitHub: through its API. */
export async function openStandIn(): Promise<Opened> {
  const { permissions } = readManifest();
  const github = await startGitHub({
    mergeability: 'lazy',
    permissions: { ...permissions, administration: 'write', merge_queues: 'read' },
  });
  github.addOrganization('acme');
  github.addRepository({
    owner: 'acme',
    name: 'shop',
    files: { 'README.md': '# Shop\n' },
    collaborators: { maya: 'maintain' },
  });
  const installationId = github.installApp('acme');
  const app = accessOf(github, installationId);
  const target: Target = {
    name: 'the stand-in',
    at: { owner: 'acme', repo: 'shop' },
    octokit: app.octokit,
    app,
    person: 'maya',
    prefix: PREFIX,
    pauseMs: 0,
  };
  return { target, close: () => github.stop() };
}

function accessOf(github: GitHubStandIn, installationId: number): AppAccess {
  const credentials = { id: github.app.id, privateKey: github.app.privateKey };
  return appAccess(github.url, credentials, installationId);
}

function appAccess(
  baseUrl: string,
  { id, privateKey }: { id: number; privateKey: string },
  installationId: number,
): AppAccess {
  const client = (auth: object) => new Octokit({ baseUrl, authStrategy: createAppAuth, auth, log: silent });
  return {
    id,
    installationId,
    octokit: client({ appId: id, privateKey, installationId }),
    jwt: client({ appId: id, privateKey }),
    withToken: (token) => new Octokit({ baseUrl, auth: token, log: silent }),
  };
}

/**
 * A real repository.
 * @throws Error if nobody confirmed that the suite may write to it.
 */
export async function openReal(settings: Settings): Promise<Opened> {
  const { owner, repo, token, apiUrl: baseUrl } = settings;
  const at = { owner, repo };
  const octokit = new Octokit({ baseUrl, auth: token, log: silent });
  const why = refusal(settings, await hasMarker(octokit, at));
  if (why !== undefined) throw new Error(why);
  const app = settings.app && (await realApp(baseUrl, settings.app, at));
  const target: Target = {
    name: `${owner}/${repo} at ${baseUrl}`,
    at,
    octokit,
    app,
    person: await whoAsks(octokit),
    prefix: `${PREFIX}-${randomBytes(4).toString('hex')}`,
    pauseMs: 1_000,
  };
  return { target, close: async () => {} };
}

async function realApp(
  baseUrl: string,
  app: NonNullable<Settings['app']>,
  at: Target['at'],
): Promise<AppAccess> {
  const jwt = new Octokit({
    baseUrl,
    authStrategy: createAppAuth,
    auth: { appId: app.id, privateKey: app.privateKey },
    log: silent,
  });
  const { data } = await jwt.apps.getRepoInstallation(at);
  return appAccess(baseUrl, app, data.id);
}

async function hasMarker(octokit: Octokit, at: Target['at']): Promise<boolean> {
  try {
    await octokit.repos.getContent({ ...at, path: MARKER });
    return true;
  } catch (error) {
    if (isStatus(error, 404)) return false;
    throw error;
  }
}

/** The owner of a personal token; tokens of Apps have none. */
async function whoAsks(octokit: Octokit): Promise<string | undefined> {
  try {
    const { data } = await octokit.users.getAuthenticated();
    return data.type === 'User' ? data.login : undefined;
  } catch (error) {
    if (isStatus(error, 401, 403, 404)) return undefined;
    throw error;
  }
}

/** Everything that the suite has created and not removed; closed pull requests stay, because GitHub deletes none. */
export async function leftoversOf({ octokit, at, prefix }: Target): Promise<string[]> {
  const refs = await octokit.git.listMatchingRefs({ ...at, ref: `heads/${prefix}/` });
  const pulls = await octokit.paginate(octokit.pulls.list, { ...at, state: 'open', per_page: 100 });
  const rulesets = await octokit.paginate(octokit.repos.getRepoRulesets, { ...at, per_page: 100 });
  return [
    ...refs.data.map(({ ref }) => ref),
    ...pulls.filter(({ head }) => head.ref.startsWith(`${prefix}/`)).map(({ number }) => `#${number}`),
    ...rulesets.filter(({ name }) => name.startsWith(`${prefix} `)).map(({ name }) => name),
  ];
}
