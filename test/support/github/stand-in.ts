import { type Actions, createActions } from './actions.ts';
import { Auth, READER } from './auth.ts';
import { type Fault, type FaultMatch, Faults } from './faults.ts';
import { maySubscribe, readManifest, refuseEventsWithoutPermission } from './manifest.ts';
import type { MergeRecord, MergeRequest } from './merge-record.ts';
import { OAUTH_CLIENT, OAuth } from './oauth.ts';
import { followUp } from './operations/follow-up.ts';
import { createProtectionDesk, type ProtectionDesk } from './protection.ts';
import { createReader, type Reader } from './read.ts';
import { Router } from './router.ts';
import { activityRoutes } from './routes/activity.ts';
import { appRoutes } from './routes/app.ts';
import { checkRoutes } from './routes/checks.ts';
import { contentRoutes } from './routes/contents.ts';
import { deliveryRoutes } from './routes/deliveries.ts';
import { gitRoutes } from './routes/git.ts';
import { graphqlRoutes } from './routes/graphql.ts';
import { issueRoutes } from './routes/issues.ts';
import { maintenanceRoutes } from './routes/maintenance.ts';
import { peopleRoutes } from './routes/people.ts';
import { pullRoutes } from './routes/pulls.ts';
import { reactionRoutes } from './routes/reactions.ts';
import { registrationRoutes } from './routes/registration.ts';
import { releaseRoutes } from './routes/releases.ts';
import { repositoryRoutes } from './routes/repositories.ts';
import { reviewRoutes } from './routes/reviews.ts';
import { statusRoutes } from './routes/statuses.ts';
import { userRoutes } from './routes/users.ts';
import { workflowRoutes } from './routes/workflows.ts';
import { type SecondaryLimitOptions, SecondaryLimits } from './secondary-limits.ts';
import { ApiServer, type ObservedRequest, type ReceivedRequest } from './server.ts';
import { appKeys, type RepositoryInput, State } from './state.ts';
import { nodeId, viewAccount, viewApp, viewInstallation } from './views/account.ts';
import { type SignedRequest, Webhooks } from './webhooks.ts';
import type { Installation, Permissions, Role } from './world.ts';
import { fullName } from './world.ts';

/**
 * A stateful GitHub for tests and the demo: the REST API that Countersign uses, people who act, signed webhooks, and faults on
 * demand. Git objects, merges and diffs are real, in memory.
 *
 * The package `emulate` was tried first as the base. Of what Countersign depends on, it would have provided only the app's JWT,
 * users and organisations. Pull request files, pushes to heads, merge refusals, limits of checks, permissions, reactions,
 * deliveries and conditional requests are missing there or differ from GitHub. More would have been overridden than used, against
 * private modules of a bundle.
 */
export interface GitHubStandIn extends Actions, Reader, ProtectionDesk {
  /** Base URL of the API. */
  readonly url: string;
  readonly app: {
    readonly id: number;
    readonly slug: string;
    readonly name: string;
    /** PEM, RSA; good for this process only. */
    readonly privateKey: string;
    readonly webhookSecret: string;
    readonly clientId: string;
    readonly clientSecret: string;
    readonly botLogin: string;
  };
  /** Where webhooks go from now on. Without a URL nothing is sent, nor kept for later. */
  setWebhookUrl(url: string | undefined): void;

  /** @param options `email` is an address that GitHub knows to be theirs */
  addUser(login: string, options?: { type?: 'User' | 'Bot'; email?: string }): void;
  addOrganization(login: string): void;
  /** @param options `outside`: the team has no access to the organisation's repositories */
  addTeam(org: string, slug: string, members: readonly string[], options?: { outside?: boolean }): void;
  addRepository(input: RepositoryInput): { id: number; fullName: string };
  /** Installs the app on all repositories of the owner, or on the named ones. @returns the installation's id. */
  installApp(owner: string, options?: { repositories?: readonly string[] }): number;
  /** Removes the installation, with its tokens. */
  uninstallApp(owner: string): void;
  /** Somebody enters another secret in the app's settings; redeliveries are signed with it, too. */
  setWebhookSecret(secret: string): void;
  /** Suspends the installation: its tokens are rejected, and it gets no webhooks. */
  suspendApp(owner: string): void;
  unsuspendApp(owner: string): void;
  /** Invalidates every token of the app's installations; the app can request new ones. */
  revokeTokens(): void;
  setPermission(repo: string, login: string, role: Role | 'none'): void;
  setPrivate(repo: string, isPrivate: boolean): void;
  /** Who is signed in to GitHub in the browser that asks next; without a login, they press "Cancel". */
  signInAs(login: string | undefined): void;
  /** Ends the person's tokens for the app. */
  revokeTokensOf(login: string, options?: { keepRefresh?: boolean }): void;
  /**
   * A fine-grained personal access token for all repositories of the owner, which only reads. No App needs to be installed:
   * https://docs.github.com/en/rest/authentication/permissions-required-for-fine-grained-personal-access-tokens
   */
  readToken(owner: string): string;
  /** The same for a token that also writes contents and pull requests. */
  writeToken(owner: string): string;
  /** The same for a token that also administers repositories. */
  adminToken(owner: string): string;

  readonly deliveries: readonly SentDelivery[];
  /** Sends again with the same GUID. @returns the answered status, 0 if there was no answer. */
  redeliver(guid: string): Promise<number>;
  /** Holds webhooks until they are released, so that they can arrive late or in another order. */
  holdDeliveries(): void;
  releaseDeliveries(order?: 'fifo' | 'reverse'): Promise<void>;
  /** Resolves when every delivery was answered, and those that the answers caused. */
  settle(): Promise<void>;
  /** A request as GitHub would sign it, for tests that post themselves. */
  signedDelivery(event: string, payload: unknown, guid?: string): SignedRequest;

  /**
   * Makes the next `times` (default: all) matching API requests fail; the first matching fault decides. @returns a function that
   * removes the fault.
   */
  fail(match: FaultMatch, how: Fault, times?: number): () => void;

  /** How many requests are still to be carried out after their connection broke. Carries out those that are due first. */
  leftToDo(): number;

  /** From now on comments do not name the app that wrote them. */
  leaveAppsUnnamed(): void;

  /** Leaves so many requests of the hour; the app learns of it with its next answer. */
  leaveOfTheHour(left: number): void;

  /** Every merge, whoever or whatever caused it, with the state at that moment. */
  /** How many requests each secondary limit has refused. */
  readonly slowedDown: Readonly<Record<'points' | 'content', number>>;
  readonly merges: readonly MergeRecord[];
  /** Every request of the app to merge, with the state at that moment. */
  readonly mergeRequests: readonly MergeRequest[];
  readonly requests: readonly ReceivedRequest[];
  onRequest(listener: (request: ObservedRequest) => void): void;
  stop(): Promise<void>;
}

export interface SentDelivery {
  readonly id: number;
  readonly guid: string;
  readonly event: string;
  readonly action?: string;
  readonly payload: unknown;
  /** The receiver's last answer; absent while unsent or unanswered. */
  readonly status?: number;
  /** How often it was sent. */
  readonly attempts: number;
}

export interface StandInOptions {
  /** 0, the default, takes a free one. */
  port?: number;
  /** Time of everything that happens, except tokens and JWTs, which use the machine's clock. */
  now?: () => Date;
  webhookUrl?: string;
  webhookSecret?: string;
  /** Name of the app, `Countersign` by default. */
  appName?: string;
  /** Those of `app.yml` by default, and so are its webhooks. */
  permissions?: Permissions;
  events?: readonly string[];
  /** Requests an hour for each installation; GitHub's 5,000 by default. */
  rateLimit?: number;
  /** GitHub's limits on points and on created content are enforced only if this is given. */
  secondaryLimits?: SecondaryLimitOptions;
  /** `lazy`: `mergeable` is `null` on the first read after a change, as on GitHub. `eager`, the default, avoids the wait. */
  mergeability?: 'eager' | 'lazy';
}

/** Starts one; a process can run many side by side. */
export async function startGitHub(options: StandInOptions = {}): Promise<GitHubStandIn> {
  const now = options.now ?? (() => new Date());
  const secret = options.webhookSecret ?? 'stand-in-webhook-secret';
  const manifest = readManifest();
  const permissions = options.permissions ?? manifest.permissions;
  const events = options.events ?? manifest.events.filter((event) => maySubscribe(event, permissions));
  refuseEventsWithoutPermission(events, permissions);
  if (!options.permissions) refuseEventsWithoutPermission(manifest.events, permissions);
  const webhooks = new Webhooks({ secret, now, url: options.webhookUrl, events });
  const state = new State({
    now,
    webhooks,
    appName: options.appName ?? 'Countersign',
    permissions,
    lazyMergeability: options.mergeability === 'lazy',
  });
  webhooks.appId = state.app.id;
  const keys = appKeys();
  const oauth = new OAuth(now);
  const auth = new Auth({
    publicKey: keys.publicKey,
    oauth,
    appIds: [String(state.app.id), viewApp(state, state.app).client_id],
  });
  const faults = new Faults();
  const secondaryLimits = options.secondaryLimits && new SecondaryLimits(options.secondaryLimits, now);
  const server = new ApiServer({
    state,
    auth,
    router: createRouter(),
    faults,
    rateLimit: options.rateLimit ?? 5_000,
    secondaryLimits,
  });
  state.url = await server.listen(options.port ?? 0);

  return {
    url: state.url,
    app: {
      id: state.app.id,
      slug: state.app.slug,
      name: state.app.name,
      privateKey: keys.privateKey,
      webhookSecret: secret,
      ...OAUTH_CLIENT,
      botLogin: state.app.bot.login,
    },
    ...createActions(state),
    ...createReader(state),
    ...createWorldBuilder(state, auth),
    ...createDeliveryDesk(state, server),
    fail: (match, how, times = Number.POSITIVE_INFINITY) => faults.add(match, how, times),
    leftToDo: () => server.doWhatIsLate(),
    leaveAppsUnnamed() {
      state.commentsNameApps = false;
    },
    leaveOfTheHour: (left) => server.leaveOfTheHour(left),
    slowedDown: secondaryLimits?.refused ?? { points: 0, content: 0 },
    merges: state.merges,
    mergeRequests: state.mergeRequests,
    requests: server.requests,
    onRequest: (listener) => server.onRequest(listener),
    // The spread above would copy a getter as its value, so this one comes last, in the object itself.
    get deliveries() {
      return webhooks.deliveries.map(viewDelivery);
    },
    async stop() {
      await webhooks.stop();
      await server.stop();
    },
  };
}

function createRouter(): Router {
  const router = new Router();
  appRoutes(router);
  deliveryRoutes(router);
  repositoryRoutes(router);
  activityRoutes(router);
  pullRoutes(router);
  reviewRoutes(router);
  contentRoutes(router);
  checkRoutes(router);
  statusRoutes(router);
  releaseRoutes(router);
  workflowRoutes(router);
  issueRoutes(router);
  reactionRoutes(router);
  peopleRoutes(router);
  userRoutes(router);
  registrationRoutes(router);
  graphqlRoutes(router);
  maintenanceRoutes(router);
  gitRoutes(router);
  return router;
}

type WorldBuilder = Pick<
  GitHubStandIn,
  | 'addUser'
  | 'addOrganization'
  | 'addTeam'
  | 'addRepository'
  | 'installApp'
  | 'uninstallApp'
  | 'suspendApp'
  | 'unsuspendApp'
  | 'revokeTokens'
  | 'setPermission'
  | 'setPrivate'
  | 'signInAs'
  | 'revokeTokensOf'
  | 'readToken'
  | 'writeToken'
  | 'adminToken'
> &
  ProtectionDesk;

const READS: Permissions = {
  actions: 'read',
  checks: 'read',
  contents: 'read',
  issues: 'read',
  metadata: 'read',
  pull_requests: 'read',
  statuses: 'read',
};

function createWorldBuilder(state: State, auth: Auth): WorldBuilder {
  const personalToken = (owner: string, permissions: Permissions) => {
    const account = state.account(owner);
    const reads = { id: READER, account, selected: undefined, createdAt: state.now() };
    return auth.issue(reads, permissions, undefined).token;
  };
  return {
    addUser(login, { type = 'User', email } = {}) {
      const account = state.account(login, type);
      if (account.type !== type) throw new Error(`${login} is already a ${account.type}.`);
      if (email !== undefined) account.email = email.toLowerCase();
    },
    addOrganization(login) {
      const account = state.account(login, 'Organization');
      if (account.type !== 'Organization') throw new Error(`${login} is already a ${account.type}.`);
    },
    addTeam: (org, slug, members, options) => state.addTeam(org, slug, members, options),
    addRepository(input) {
      const repository = state.addRepository(input);
      return { id: repository.id, fullName: fullName(repository) };
    },
    installApp(owner, { repositories } = {}) {
      const account = state.account(owner);
      const ids = repositories?.map(
        (name) => state.repository(name.includes('/') ? name : `${owner}/${name}`).id,
      );
      const installation: Installation = {
        id: state.nextId('installation'),
        account,
        selected: ids && new Set(ids),
        createdAt: state.now(),
      };
      state.installations.set(installation.id, installation);
      announceInstallation(state, installation, 'created');
      return installation.id;
    },
    readToken: (owner) => personalToken(owner, READS),
    writeToken: (owner) => personalToken(owner, { ...READS, contents: 'write', pull_requests: 'write' }),
    adminToken: (owner) => personalToken(owner, { ...READS, administration: 'write' }),
    uninstallApp(owner) {
      const installation = installationOn(state, owner);
      announceInstallation(state, installation, 'deleted');
      state.installations.delete(installation.id);
      auth.revoke(installation);
    },
    suspendApp(owner) {
      const installation = installationOn(state, owner);
      announceInstallation(state, installation, 'suspend');
      installation.suspendedAt = state.now();
    },
    unsuspendApp(owner) {
      const installation = installationOn(state, owner);
      installation.suspendedAt = undefined;
      announceInstallation(state, installation, 'unsuspend');
    },
    revokeTokens() {
      for (const installation of state.installations.values()) auth.revoke(installation);
    },
    setPermission(repo, login, role) {
      const { collaborators } = state.repository(repo);
      const { id } = state.account(login);
      if (role === 'none') collaborators.delete(id);
      else collaborators.set(id, role);
    },
    setPrivate(repo, isPrivate) {
      state.repository(repo).private = isPrivate;
    },
    signInAs(login) {
      auth.oauth.person = login === undefined ? undefined : state.account(login);
    },
    revokeTokensOf(login, options) {
      auth.oauth.revoke(state.account(login), options);
    },
    ...createProtectionDesk(state),
  };
}

function installationOn(state: State, owner: string): Installation {
  const installation = [...state.installations.values()].find(
    ({ account }) => account.login.toLowerCase() === owner.toLowerCase(),
  );
  if (!installation) throw new Error(`The app is not installed on ${owner}.`);
  return installation;
}

function announceInstallation(
  state: State,
  installation: Installation,
  action: 'created' | 'deleted' | 'suspend' | 'unsuspend',
): void {
  state.webhooks.send('installation', action, {
    action,
    installation: viewInstallation(state, installation),
    repositories: state
      .repositories()
      .filter((repository) => state.covers(installation, repository))
      .map((repository) => ({
        id: repository.id,
        node_id: nodeId('Repository', repository.id),
        name: repository.name,
        full_name: fullName(repository),
        private: repository.private,
      })),
    requester: null,
    sender: viewAccount(state, installation.account),
  });
}

type DeliveryDesk = Pick<
  GitHubStandIn,
  | 'setWebhookUrl'
  | 'setWebhookSecret'
  | 'redeliver'
  | 'holdDeliveries'
  | 'releaseDeliveries'
  | 'settle'
  | 'signedDelivery'
>;

function createDeliveryDesk(state: State, server: ApiServer): DeliveryDesk {
  const { webhooks } = state;
  return {
    setWebhookUrl(url) {
      webhooks.url = url;
    },
    setWebhookSecret(secret) {
      webhooks.secret = secret;
    },
    redeliver(guid) {
      const delivery = webhooks.deliveries.find((one) => one.guid === guid);
      if (!delivery) throw new Error(`There was no delivery ${guid}.`);
      return webhooks.redeliver(delivery);
    },
    holdDeliveries: () => webhooks.hold(),
    releaseDeliveries: (order = 'fifo') => webhooks.release(order),
    settle() {
      server.doWhatIsLate();
      // A group in a merge queue may have timed out.
      followUp(state);
      return webhooks.settle();
    },
    signedDelivery: (event, payload, guid) => webhooks.sign(event, payload, guid),
  };
}

function viewDelivery(delivery: Webhooks['deliveries'][number]): SentDelivery {
  const { id, guid, event, action, payload, status, attempts } = delivery;
  return {
    id,
    guid,
    event,
    ...(action === undefined ? {} : { action }),
    payload,
    ...(status === undefined ? {} : { status }),
    attempts: attempts.length,
  };
}
