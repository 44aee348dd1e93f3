import { ApiError, notFound } from './api-error.ts';
import { type Auth, allows, type Caller, NOBODY, reaches, type Token } from './auth.ts';
import type { State } from './state.ts';
import type { Account, PermissionLevel, Repository } from './world.ts';

/** A request as a route sees it. */
export interface Call {
  readonly state: State;
  readonly auth: Auth;
  readonly params: Readonly<Record<string, string>>;
  readonly query: URLSearchParams;
  /** Parsed JSON; `undefined` for an empty body. */
  readonly body: unknown;
  readonly accept: string;
  readonly caller: Caller | undefined;
  /** Whether a fault waits for this request. */
  readonly fails?: (request: { method: string; path: string }) => boolean;
  /** Whether the request is broken off after so many fields of its mutation. */
  readonly isOver?: (fields: number) => boolean;
}

export interface Reply {
  status: number;
  /** A string is sent unchanged, anything else as JSON. */
  body?: unknown;
  headers?: Record<string, string>;
  /** What it costs of GraphQL's own limit; absent for REST. */
  graphqlPoints?: number;
}

/** A call about a repository that the caller may read. */
export interface RepositoryCall extends Call {
  readonly repository: Repository;
  readonly token: Token;
}

interface Route {
  method: string;
  pattern: RegExp;
  names: string[];
  handle: (call: Call) => Reply;
}

/** Any of these is enough: `checks:write`. */
export type Need = `${string}:${PermissionLevel}`;

/** Routes by method and pattern: `:name` is one segment, `*name` the rest of the path. */
export class Router {
  readonly #routes: Route[] = [];

  /** A route that only the app itself, with its JWT, may call. */
  app(method: string, path: string, handle: (call: Call) => Reply): void {
    this.#add(method, path, (call) => {
      if (call.caller?.kind !== 'app') throw new ApiError(401, 'A JSON web token could not be decoded');
      return handle(call);
    });
  }

  /** A route that needs no token, such as GitHub's own pages. */
  anybody(method: string, path: string, handle: (call: Call) => Reply): void {
    this.#add(method, path, handle);
  }

  /** A route for a person's own token. */
  person(method: string, path: string, handle: (call: Call & { person: Account }) => Reply): void {
    this.#add(method, path, (call) => {
      if (call.caller?.kind !== 'user') throw new ApiError(401, 'Requires authentication');
      return handle({ ...call, person: call.caller.account });
    });
  }

  /**
   * A route under `/repos/:owner/:repo` that a person's token may use too: it can do what both the person and the App can.
   * https://docs.github.com/en/apps/creating-github-apps/authenticating-with-a-github-app/authenticating-with-a-github-app-on-behalf-of-a-user
   */
  repositoryOrPerson(
    method: string,
    path: string,
    needs: Need | readonly Need[],
    handle: (call: Call & { repository: Repository; by: Account }) => Reply,
  ): void {
    this.repository(method, path, needs, (call) => handle({ ...call, by: call.state.app.bot }));
    const forInstallation = this.#routes.at(-1)?.handle;
    if (!forInstallation) return;
    this.#routes.pop();
    this.#add(method, `/repos/:owner/:repo${path}`, (call) => {
      const { caller, state, params } = call;
      if (caller?.kind !== 'user') return forInstallation(call);
      const repository = state.findRepository(params.owner ?? '', params.repo ?? '');
      const seen = repository && (!repository.private || state.roleOf(repository, caller.account));
      if (!repository || !seen) throw notFound();
      const granted = [needs].flat().some((need) => {
        const [name = '', level] = need.split(':');
        return allows(state.app.permissions, name, level as PermissionLevel);
      });
      if (!state.installationOf(repository) || !granted) throw forbidden();
      return handle({ ...call, repository, by: caller.account });
    });
  }

  /** A route for an installation's token, about no particular repository. */
  installation(method: string, path: string, handle: (call: Call & { token: Token }) => Reply): void {
    this.#add(method, path, (call) => handle({ ...call, token: tokenOf(call) }));
  }

  /** The same, where a person's own token reads, too. */
  installationOrPerson(method: string, path: string, handle: (call: Call & { token: Token }) => Reply): void {
    this.#add(method, path, (call) => handle({ ...call, token: readerOf(call) ?? tokenOf(call) }));
  }

  /** A route under `/repos/:owner/:repo` that needs one of the permissions. */
  repository(
    method: string,
    path: string,
    needs: Need | readonly Need[],
    handle: (call: RepositoryCall) => Reply,
  ): void {
    this.#add(method, `/repos/:owner/:repo${path}`, (call) => {
      const token = (method === 'GET' && (readerOf(call) ?? nobody(call))) || tokenOf(call);
      const { owner = '', repo = '' } = call.params;
      const repository = call.state.findRepository(owner, repo);
      if (!repository) throw notFound();
      if (!reaches(call.state, token, repository)) {
        if (repository.private) throw notFound();
        if (method !== 'GET') throw forbidden();
      } else if (!permitted(token, [needs].flat())) throw forbidden();
      return handle({ ...call, repository, token });
    });
  }

  match(method: string, path: string): ((call: Omit<Call, 'params'>) => Reply) | undefined {
    for (const route of this.#routes) {
      const found = route.method === method ? route.pattern.exec(path) : null;
      if (!found) continue;
      const params = Object.fromEntries(
        route.names.map((name, index) => [name, decodeSegment(found[index + 1] ?? '')]),
      );
      return (call) => route.handle({ ...call, params });
    }
    return undefined;
  }

  #add(method: string, path: string, handle: (call: Call) => Reply): void {
    const names: string[] = [];
    const source = path.replaceAll(/([:*])(\w+)|\./g, (whole, kind: string | undefined, name: string) => {
      if (kind === undefined) return `\\${whole}`;
      names.push(name);
      return kind === ':' ? '([^/]+)' : '(.*)';
    });
    this.#routes.push({ method, pattern: new RegExp(`^${source}$`), names, handle });
  }
}

/**
 * What a person's own token reads with.
 * https://docs.github.com/en/apps/creating-github-apps/authenticating-with-a-github-app/authenticating-with-a-github-app-on-behalf-of-a-user
 */
function readerOf({ caller, state }: Call): Token | undefined {
  if (caller?.kind !== 'user') return undefined;
  const { account } = caller;
  const seen = state
    .repositories()
    .filter(
      (repository) =>
        state.installationOf(repository) && (!repository.private || state.roleOf(repository, account)),
    );
  const installation = seen.map((repository) => state.installationOf(repository)).find((one) => one);
  if (!installation) throw notFound();
  const permissions = Object.fromEntries(
    Object.keys(state.app.permissions).map((name) => [name, 'read' as const]),
  );
  return {
    kind: 'installation',
    token: caller.token,
    installation,
    permissions,
    repositories: new Set(seen.map(({ id }) => id)),
    expiresAt: caller.expiresAt,
    person: account,
  };
}

/** Without a token, everybody reads what is public, but not who may do what: `people.ts` refuses that. */
function nobody({ caller, state }: Call): Token | undefined {
  if (caller !== undefined) return undefined;
  const installation = {
    id: NOBODY,
    account: state.app.owner,
    selected: new Set<number>(),
    createdAt: state.now(),
  };
  const expiresAt = new Date(Number.MAX_SAFE_INTEGER);
  return {
    kind: 'installation',
    token: '',
    installation,
    permissions: {},
    repositories: new Set(),
    expiresAt,
    isAnonymous: true,
  };
}

function tokenOf({ caller }: Call): Token {
  if (caller?.kind !== 'installation') throw new ApiError(401, 'Requires authentication');
  return caller;
}

function permitted(token: Token, needs: readonly Need[]): boolean {
  return needs.some((need) => {
    const [name = '', level] = need.split(':');
    return allows(token.permissions, name, level as PermissionLevel);
  });
}

function forbidden(): ApiError {
  return new ApiError(403, 'Resource not accessible by integration');
}

function decodeSegment(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    throw new ApiError(400, 'The path is not valid URL encoding');
  }
}

export function json(body: unknown, status = 200): Reply {
  return { status, body };
}

/** A number in the path; anything else is a 404, as on GitHub. */
export function numberIn(call: Call, name: string): number {
  const text = call.params[name] ?? '';
  if (!/^\d{1,16}$/.test(text)) throw notFound();
  return Number(text);
}
