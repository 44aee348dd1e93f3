import { createHash } from 'node:crypto';
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import { ApiError } from './api-error.ts';
import type { Auth, Caller } from './auth.ts';
import type { Asked, Fault, Faults } from './faults.ts';
import { parseQuery } from './graphql/parse.ts';
import { sameInRest } from './graphql/same-in-rest.ts';
import { followUp } from './operations/follow-up.ts';
import { type Asker, RateLimit } from './rate-limit.ts';
import type { Reply, Router } from './router.ts';
import type { SecondaryLimits } from './secondary-limits.ts';
import type { State } from './state.ts';
import { fullName } from './world.ts';

/** The same API at the addresses of GitHub Enterprise Server: REST at `/api/v3`, GraphQL at `/api/graphql`. */
function withoutEnterprisePrefix(url: string): string {
  return url.replace(/^\/api(\/v3(?=\/)|(?=\/graphql$))/, '');
}

/** A request that the API received; `status` is 0 if the connection was cut or the request never answered. */
export interface ReceivedRequest {
  readonly method: string;
  /** With the query. */
  readonly path: string;
  readonly status: number;
  /** Milliseconds since 1970, by the injected clock. */
  readonly at: number;
  readonly installation?: number;
  /** The fields of a mutation. */
  readonly mutates?: readonly string[];
}

/** A request with everything that a validator checks. */
export interface ObservedRequest {
  readonly method: string;
  /** As it was sent: percent-encoded, with the query. */
  readonly path: string;
  readonly query: Readonly<Record<string, string>>;
  readonly headers: Readonly<Record<string, string | string[] | undefined>>;
  /** Parsed JSON; `undefined` for an empty body. */
  readonly body: unknown;
  readonly status: number;
  readonly responseBody: unknown;
  /** The fields of a mutation. */
  readonly mutates?: readonly string[];
}

interface Incoming {
  method: string;
  url: URL;
  headers: IncomingMessage['headers'];
  body: unknown;
  caller: Caller | undefined;
}

/** The HTTP layer: authenticates, injects faults, routes, and adds the headers of GitHub's API. */
export class ApiServer {
  readonly requests: ReceivedRequest[] = [];
  #late: { at: number; incoming: Incoming; text: string }[] = [];
  readonly #listeners: ((request: ObservedRequest) => void)[] = [];
  readonly #state: State;
  readonly #auth: Auth;
  readonly #router: Router;
  readonly #faults: Faults;
  readonly #rate: RateLimit;
  readonly #graphqlRate: RateLimit;
  readonly #secondary: SecondaryLimits | undefined;
  readonly #server: Server;

  constructor(parts: {
    state: State;
    auth: Auth;
    router: Router;
    faults: Faults;
    rateLimit: number;
    secondaryLimits: SecondaryLimits | undefined;
  }) {
    this.#state = parts.state;
    this.#auth = parts.auth;
    this.#router = parts.router;
    this.#faults = parts.faults;
    this.#rate = new RateLimit(parts.rateLimit, parts.state.now);
    this.#graphqlRate = new RateLimit(5_000, parts.state.now, 'graphql');
    this.#secondary = parts.secondaryLimits;
    this.#server = createServer((request, response) => void this.#serve(request, response));
  }

  leaveOfTheHour(left: number): void {
    this.#rate.leave(left);
  }

  /**
   * Whether a query shows what a fault makes REST refuse, or answer otherwise: GitHub's two APIs show the same, so what
   * does not work in one does not work in the other either.
   */
  #failsInRest(path: string, text: string): boolean {
    if (path !== '/graphql' || !isJson(text)) return false;
    const { query, variables } = JSON.parse(text);
    return sameInRest(String(query), variables ?? {}).some((rest) =>
      this.#faults.awaits({ method: 'GET', path: rest }),
    );
  }

  onRequest(listener: (request: ObservedRequest) => void): void {
    this.#listeners.push(listener);
  }

  /** @returns the base URL. */
  listen(port: number): Promise<string> {
    return new Promise((resolve, reject) => {
      this.#server.once('error', reject);
      this.#server.listen(port, '127.0.0.1', () => {
        const address = this.#server.address();
        resolve(`http://127.0.0.1:${typeof address === 'object' && address ? address.port : port}`);
      });
    });
  }

  stop(): Promise<void> {
    return new Promise((resolve) => {
      this.#server.close(() => resolve());
      this.#server.closeAllConnections();
    });
  }

  async #serve(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const method = request.method ?? 'GET';
    const url = new URL(withoutEnterprisePrefix(request.url ?? '/'), this.#state.url);
    const text = await readAll(request);
    const path = url.pathname + url.search;
    const asked: Asked = { method, path, ...mutationIn(path, text) };
    const fault = this.#faults.take(asked);
    if (fault === 'hang') return this.#note(asked, 0, undefined);
    if (fault === 'reset') {
      this.#note(asked, 0, undefined);
      request.socket.destroy();
      return;
    }
    if (isHeld(fault)) await fault.until;
    const incoming: Incoming = { method, url, headers: request.headers, body: undefined, caller: undefined };
    this.doWhatIsLate();
    if (typeof fault === 'object' && 'lateMs' in fault) {
      this.#note(asked, 0, undefined);
      this.#late.push({ at: this.#state.now().getTime() + fault.lateMs, incoming, text });
      request.socket.destroy();
      return;
    }
    if (isAnswer(fault) && isJson(text)) incoming.body = JSON.parse(text);
    const reply = isAnswer(fault)
      ? { ...fault }
      : this.#failsInRest(path, text)
        ? {
            status: 200,
            body: { data: null, errors: [{ type: 'INTERNAL', message: 'Something went wrong' }] },
          }
        : this.#answer(incoming, text, isPartial(fault) ? fault.afterFields : undefined);
    const cut = typeof fault === 'object' && ('after' in fault || isPartial(fault));
    const sent = cut ? undefined : this.#send(incoming, reply, response);
    if (cut) request.socket.destroy();
    this.#note(asked, sent ?? 0, incoming.caller);
    for (const listener of this.#listeners)
      listener({
        ...asked,
        query: Object.fromEntries(url.searchParams),
        headers: request.headers,
        body: incoming.body,
        status: sent ?? 0,
        responseBody: reply.body,
      });
  }

  /** Carries out the requests that a fault has postponed until now. @returns how many are postponed for longer. */
  doWhatIsLate(): number {
    const now = this.#state.now().getTime();
    for (const { incoming, text } of this.#late.filter(({ at }) => at <= now)) this.#answer(incoming, text);
    this.#late = this.#late.filter(({ at }) => at > now);
    return this.#late.length;
  }

  /** Carries out the request; fills `incoming` with the body and the caller once they are known. */
  #answer(incoming: Incoming, text: string, afterFields = Number.POSITIVE_INFINITY): Reply {
    try {
      incoming.body = parseBody(text, incoming.headers['content-type']);
      incoming.caller = this.#auth.identify(incoming.headers.authorization);
      if (incoming.caller?.kind === 'installation' && incoming.caller.installation.suspendedAt)
        throw new ApiError(403, 'This installation has been suspended');
      const isGraphql = incoming.url.pathname === '/graphql';
      if (!isGraphql) this.#rate.refuseWhenSpent(askerOf(incoming));
      else if (this.#graphqlRate.isSpent(incoming.caller)) return GRAPHQL_SPENT;
      const { method, url, body, caller } = incoming;
      const slowDown = this.#secondary?.refusal(method, url.pathname, body, caller);
      if (slowDown) return slowDown;
      if (incoming.url.pathname === '/rate_limit')
        return { status: 200, body: this.#rate.view(askerOf(incoming)) };
      const path = this.#currentPath(incoming);
      if (typeof path !== 'string') return path;
      if (incoming.method !== 'GET' && this.#isArchived(path))
        throw new ApiError(403, 'Repository was archived so is read-only.');
      const handle = this.#router.match(incoming.method, path);
      if (!handle) throw new ApiError(404, 'Not Found');
      const reply = handle({
        state: this.#state,
        auth: this.#auth,
        query: incoming.url.searchParams,
        body: incoming.body,
        accept: incoming.headers.accept ?? '',
        caller: incoming.caller,
        fails: (request) => this.#faults.awaits(request),
        isOver: (fields) => fields >= afterFields,
      });
      if (incoming.method !== 'GET') followUp(this.#state);
      return reply;
    } catch (error) {
      return refusal(error);
    }
  }

  #isArchived(path: string): boolean {
    const [, owner = '', name = ''] = /^\/repos\/([^/]+)\/([^/]+)/.exec(path) ?? [];
    return this.#state.findRepository(owner, name)?.archived === true;
  }

  /** The path under the repository's present name, or the redirect that GitHub sends for a former one. */
  #currentPath({ method, url }: Incoming): string | Reply {
    const byId = /^\/repositories\/(\d+)(\/.*)?$/.exec(url.pathname);
    if (byId) {
      const repository = this.#state.repositoryById(Number(byId[1]));
      return repository ? `/repos/${fullName(repository)}${byId[2] ?? ''}` : url.pathname;
    }
    const [, owner, name, rest = ''] = /^\/repos\/([^/]+)\/([^/]+)(\/.*)?$/.exec(url.pathname) ?? [];
    if (!owner || !name || this.#state.findRepository(owner, name)) return url.pathname;
    const moved = this.#state.findMoved(owner, name);
    if (!moved) return url.pathname;
    const location = `${this.#state.url}/repositories/${moved.id}${rest}${url.search}`;
    return {
      status: method === 'GET' ? 301 : 307,
      headers: { location },
      body: { message: 'Moved Permanently', url: location, documentation_url: DOCUMENTATION },
    };
  }

  #send(incoming: Incoming, reply: Reply, response: ServerResponse): number {
    const raw = typeof reply.body === 'string';
    const text = reply.body === undefined ? '' : raw ? String(reply.body) : JSON.stringify(reply.body);
    // Each installation token has its own ETags: https://github.com/eclipse-csi/otterdog/issues/201 quotes GitHub on it.
    const tagged = incoming.method === 'GET' && reply.status === 200;
    const whose = incoming.caller?.kind === 'installation' ? incoming.caller.token : '';
    const etag = `W/"${createHash('sha256').update(whose).update(text).digest('hex')}"`;
    const unchanged = tagged && (incoming.headers['if-none-match'] ?? '').split(/,\s*/).includes(etag);
    const { graphqlPoints } = reply;
    const rate = graphqlPoints === undefined ? this.#rate : this.#graphqlRate;
    if (!unchanged && incoming.url.pathname !== '/rate_limit') rate.spend(askerOf(incoming), graphqlPoints);
    const status = unchanged ? 304 : reply.status;
    response.writeHead(status, {
      'x-github-request-id': `${this.requests.length + 1}`,
      'x-github-media-type': 'github.v3; format=json',
      ...rate.headers(askerOf(incoming)),
      ...(tagged ? { etag, 'cache-control': 'private, max-age=60, s-maxage=60' } : {}),
      ...(text === '' || unchanged
        ? {}
        : { 'content-type': raw ? 'text/plain; charset=utf-8' : 'application/json; charset=utf-8' }),
      ...reply.headers,
    });
    response.end(unchanged || status === 204 ? undefined : text);
    return status;
  }

  #note(asked: Asked, status: number, caller: Caller | undefined): void {
    this.requests.push({
      ...asked,
      status,
      at: this.#state.now().getTime(),
      ...(caller?.kind === 'installation' ? { installation: caller.installation.id } : {}),
    });
  }
}

/** https://docs.github.com/en/graphql/overview/rate-limits-and-query-limits-for-the-graphql-api#exceeding-the-rate-limit */
const GRAPHQL_SPENT: Reply = {
  status: 200,
  body: { errors: [{ type: 'RATE_LIMITED', message: 'API rate limit exceeded for installation.' }] },
  graphqlPoints: 0,
};

const DOCUMENTATION = 'https://docs.github.com/rest';

function refusal(error: unknown): Reply {
  if (!(error instanceof ApiError)) {
    const message = error instanceof Error ? (error.stack ?? error.message) : String(error);
    return { status: 500, body: { message: `The stand-in itself failed: ${message}` } };
  }
  return {
    status: error.status,
    body: {
      message: error.message,
      ...(error.errors ? { errors: error.errors } : {}),
      documentation_url: DOCUMENTATION,
      status: String(error.status),
    },
  };
}

function isPartial(fault: Fault | undefined): fault is { afterFields: number } {
  return typeof fault === 'object' && 'afterFields' in fault;
}

function mutationIn(path: string, text: string): Pick<Asked, 'mutates'> {
  if (path !== '/graphql' || !isJson(text)) return {};
  const { query, variables } = JSON.parse(text);
  if (!/^\s*mutation\b/.test(String(query))) return {};
  return { mutates: parseQuery(String(query), variables ?? {}).selections.map(({ name }) => name) };
}

function isHeld(fault: Fault | undefined): fault is { until: Promise<unknown> } {
  return typeof fault === 'object' && 'until' in fault;
}

function isAnswer(fault: Fault | undefined): fault is Extract<Fault, { status: number }> {
  return typeof fault === 'object' && 'status' in fault;
}

/** Without a token, what is public can be read, within a limit of its own. */
function askerOf({ caller, headers, url }: Incoming): Asker {
  const isNobody = headers.authorization === undefined && url.pathname.startsWith('/repos/');
  return caller ?? (isNobody ? 'nobody' : undefined);
}

function parseBody(text: string, type: string | undefined): unknown {
  if (text === '') return undefined;
  if (type?.startsWith('application/x-www-form-urlencoded')) return new URLSearchParams(text);
  try {
    return JSON.parse(text);
  } catch {
    throw new ApiError(400, 'Problems parsing JSON');
  }
}

async function readAll(request: IncomingMessage): Promise<string> {
  const chunks: Buffer[] = [];
  try {
    for await (const chunk of request) chunks.push(chunk);
  } catch {
    // The client disconnected, so the rest of its request no longer matters.
  }
  return Buffer.concat(chunks).toString();
}

function isJson(text: string): boolean {
  try {
    JSON.parse(text);
    return true;
  } catch {
    return false;
  }
}
