import { z } from 'zod';
import { bounded } from '../../core/bounded-fetch.ts';
import type { Clock } from '../../core/clock.ts';
import { type AnsweredRequest, GitHubError, SignInRefused, type Urgency } from '../../ports/github.ts';
import type { Budget } from './budget.ts';
import { download, NotDownloaded } from './download.ts';
import { RequestFailure, retryAt, toFailure } from './failure.ts';
import type { KnownPauses } from './known-pauses.ts';
import type { RequestLimiter } from './request-limiter.ts';
import type { SignIn } from './sign-in.ts';
import type { SignInWatch } from './sign-in-watch.ts';
import {
  type AnswerCache,
  conditional,
  type Fetch,
  HeldBack,
  REVALIDATED,
  rateLimited,
  redirected,
} from './transport.ts';

export interface ClientDeps {
  timeoutMs: number;
  clock: Clock;
  onAnswer: (answered: AnsweredRequest) => void;
  /** Whether this process may begin to send a write now. */
  mayWrite: () => boolean;
  /** The app's own rate limiter refused a request. */
  onHeldBack: (urgency: Urgency) => void;
  fetch: Fetch;
  cache: AnswerCache;
  watch: SignInWatch;
  /** Asks GitHub for the app's own identity. @throws SignInRefused if GitHub does not accept the app's key */
  expectApp: () => Promise<void>;
}

/** One installation of the app, or the app itself. All requests for it share its token and its limits. */
export interface Installation {
  /** `undefined` for routes that only the app itself can use. */
  id: number | undefined;
  signIn: SignIn;
  budget: Budget;
  graphqlBudget: Budget;
  limiter: RequestLimiter;
  pauses: KnownPauses;
}

/** Larger than any response that is used: 100 files with their patches are a few megabytes. */
const MAX_ANSWER_BYTES = 64 * 1024 * 1024;
const PER_PAGE = 100;
/** A list with more pages is an attack or a loop. */
const MAX_PAGES = 100;

export type Parameters = Readonly<Record<string, unknown>>;

/** One write of a mutation. */
export interface MutationField {
  name: string;
  /** The type of its input. */
  type: string;
  input: object;
  /** What GitHub is to answer. */
  answer: string;
}

/** What GitHub answered to one write of a mutation. Neither: it is unknown what GitHub did. */
interface FieldAnswer {
  data?: unknown;
  error?: GraphqlErrorFacts | undefined;
}

/** Options of one request. */
interface RequestOptions {
  timeoutMs?: number;
  maxBytes?: number;
  /**
   * Called when the request is about to be sent, after waiting for a token. An error thrown here prevents
   * sending.
   */
  beforeSending?: () => void;
  /** GraphQL has an hourly limit of its own. */
  graphqlOnly?: boolean;
  /** Also a POST may only read: a query of GraphQL. */
  onlyReads?: boolean;
  /** `manual`: returns the address of a redirect instead of following it. */
  redirect?: 'manual';
}

/**
 * GitHub's REST API for one installation, or for the app: authenticated, limited, conditional and validated.
 */
export interface Client {
  /**
   * Sends one request, once. Retries are up to the outbox and the queue.
   * @param route in Octokit's form: `GET /repos/{owner}/{repo}`; other parameters go into the query or the
   * body
   * @throws GitHubError for every failure, and if the response does not match the schema (`unavailable`)
   */
  request<T>(
    route: string,
    parameters: Parameters,
    schema: z.ZodType<T>,
    options?: RequestOptions,
  ): Promise<T>;
  /**
   * Sends one GraphQL query, for the few things that REST does not offer. It only reads, although it is a
   * POST.
   * @throws GitHubError like `request`; also (`unavailable`) if GitHub returns errors, even beside data
   */
  query<T>(text: string, variables: Parameters, schema: z.ZodType<T>): Promise<T>;
  /**
   * Sends one GraphQL query about several things. Something that GitHub does not show is missing in the data, and
   * has an error.
   * @throws GitHubError like `request`; also (`unavailable`) if GitHub returns no data at all
   */
  queryEach<T>(
    text: string,
    variables: Parameters,
    schema: z.ZodType<T>,
  ): Promise<{ data: T; errors: readonly GraphqlErrorFacts[] }>;
  /**
   * Sends one GraphQL mutation. If GitHub refuses, the result has GitHub's own sentence, which is shown to
   * people.
   * @throws GitHubError like `request`
   */
  mutate<T>(
    text: string,
    variables: Parameters,
    schema: z.ZodType<T>,
    options?: RequestOptions,
  ): Promise<{ kind: 'done' } | { kind: 'refused'; message: string }>;
  /**
   * Sends several writes in one GraphQL mutation, and returns what GitHub answered to each, in their order. `invalid`:
   * GitHub does not accept the mutation, and has executed nothing of it.
   * @throws GitHubError like `request`
   */
  mutateEach(fields: readonly MutationField[]): Promise<FieldAnswer[] | 'invalid'>;
  /** One page of a list with cursors; `next` is the cursor of the next page. */
  page<T>(
    route: string,
    parameters: Parameters,
    schema: z.ZodType<T>,
  ): Promise<{ found: T; next: string | undefined }>;
  /** The entries of a list; pages are read on demand. @throws GitHubError after 100 pages */
  entries<T>(route: string, parameters: Parameters, page: z.ZodType<T[]>): AsyncGenerator<T, void>;
  /**
   * The bytes at the address on another host that a route redirects to; `undefined` if larger than
   * `maxBytes`. The token is not sent there, because it is only for GitHub.
   */
  archive(route: string, parameters: Parameters, maxBytes: number): Promise<Uint8Array | undefined>;
  /** All entries, or the first `max`. */
  list<T>(route: string, parameters: Parameters, page: z.ZodType<T[]>, max?: number): Promise<T[]>;
}

export function createClient(deps: ClientDeps, installation: Installation, urgency: Urgency): Client {
  const { clock, watch } = deps;
  const { id: installationId, signIn, budget, graphqlBudget, limiter, pauses } = installation;

  function transport(
    isWrite: boolean,
    { timeoutMs, maxBytes, beforeSending, graphqlOnly = false }: RequestOptions,
  ): Fetch {
    // Below everything that waits: for a token, for the limiter, and for the answer that leads on.
    const inTime: Fetch = async (input, init) => {
      if (isWrite && !deps.mayWrite()) throw new Error(TOO_LATE);
      return deps.fetch(input, init);
    };
    const limited = redirected(
      bounded(inTime, {
        timeoutMs: timeoutMs ?? deps.timeoutMs,
        maxBytes: maxBytes ?? MAX_ANSWER_BYTES,
      }),
    );
    const guarded: Fetch = async (input, init) => {
      beforeSending?.();
      return limited(input, init);
    };
    const limits = { budget, limiter, urgency, clock };
    const limitedFetch = rateLimited(guarded, graphqlOnly ? { ...limits, graphqlBudget } : limits);
    return conditional(limitedFetch, deps.cache, String(installationId ?? 'app'));
  }

  async function send(route: string, parameters: Parameters, options: RequestOptions = {}) {
    refuseDots(route, parameters);
    if (installationId === undefined) watch.mayAsk(undefined);
    await pauses.recalled();
    const isWrite = !route.startsWith('GET ') && !options.onlyReads;
    const started = clock.now().getTime();
    const note = (status: number, { revalidated = false, limited = false }) => {
      const durationMs = clock.now().getTime() - started;
      deps.onAnswer({ installationId, route, status, durationMs, revalidated, limited });
    };
    try {
      const answered = await signIn.octokit().request(route, {
        ...parameters,
        headers: { 'x-github-api-version': '2022-11-28' },
        request: {
          fetch: transport(isWrite, options),
          ...(options.redirect === undefined ? {} : { redirect: options.redirect }),
        },
      });
      note(answered.status, { revalidated: answered.headers[REVALIDATED] === 'true' });
      if (installationId === undefined) watch.accepted(undefined);
      return answered;
    } catch (error) {
      const stillRefused = signInRefusedIn(error);
      if (stillRefused) throw stillRefused;
      const failure = toFailure(error, route, clock.now());
      if (failure.cause instanceof HeldBack) {
        deps.onHeldBack(urgency);
        throw failure;
      }
      note(failure.status, { limited: failure.kind === 'rate_limited' });
      if (failure.retryAt) {
        await pauses.hold(failure.retryAt, { ofWrite: !route.startsWith('GET ') });
        if (failure.status !== 0 && budget.figures(clock.now())?.remaining !== 0) limiter.refused();
      }
      // Otherwise a token that GitHub revoked would be used for the rest of its hour.
      if (failure.status === 401 || isSuspension(failure)) signIn.again();
      throw await classified(failure);
    }
  }

  /**
   * Classifies a failure by its subject. If authentication failed, the request itself was never examined.
   * GitHub answers 404 both for a missing installation and for a deleted App, so the app asks for its own
   * identity to distinguish them.
   */
  async function classified(failure: RequestFailure): Promise<GitHubError> {
    const { status, signIn: isSignIn } = failure;
    if (failure.kind === 'rate_limited') return failure;
    if (isSignIn && (status === 403 || status === 404)) {
      const unknownApp = await whyAppUnknown();
      if (unknownApp) return unknownApp;
      return installationId === undefined
        ? new SignInRefused('installation', status, failure.message)
        : watch.refused(installationId, failure);
    }
    if (status === 401 && (isSignIn || installationId === undefined))
      return watch.refused(undefined, failure);
    if (installationId === undefined)
      return isUnknownApp(failure) ? watch.refused(undefined, failure) : failure;
    if (isSuspension(failure)) return watch.refused(installationId, failure);
    // An outdated token. The next attempt authenticates again and finds the cause.
    return status === 401 ? new SignInRefused('installation', status, failure.message) : failure;
  }

  /** Why GitHub does not know the app, or could not be asked; `undefined` if it knows the app. */
  async function whyAppUnknown(): Promise<GitHubError | undefined> {
    try {
      await deps.expectApp();
      return undefined;
    } catch (error) {
      if (!(error instanceof RequestFailure)) throw error;
      const wasAsked = error.kind === 'not_found' || error.kind === 'forbidden' || error.kind === 'invalid';
      return wasAsked ? watch.refused(undefined, error) : error;
    }
  }

  function parse<T>(route: string, status: number, data: unknown, schema: z.ZodType<T>): T {
    const parsed = schema.safeParse(data);
    if (parsed.success) return parsed.data;
    const [issue] = parsed.error.issues;
    throw new RequestFailure({
      kind: 'unavailable',
      status,
      route,
      said: `but not as documented: ${issue?.path.join('.') || 'the answer'}: ${issue?.message}`,
      signIn: false,
    });
  }

  async function request<T>(
    route: string,
    parameters: Parameters,
    schema: z.ZodType<T>,
    options?: RequestOptions,
  ): Promise<T> {
    const { status, data } = await send(route, parameters, options);
    return parse(route, status, data, schema);
  }

  async function graphql(text: string, variables: Parameters, options?: RequestOptions) {
    // On GitHub Enterprise Server, REST is at `/api/v3` and GraphQL at `/api/graphql`.
    const { baseUrl } = signIn.octokit().request.endpoint.DEFAULTS;
    const url = `${baseUrl.replace(/\/v3$/, '')}/graphql`;
    const answered = await send(GRAPHQL, { url, query: text, variables }, options);
    const errors = parse(GRAPHQL, answered.status, answered.data, graphqlErrors).errors ?? [];
    return { ...answered, error: errors[0], errors };
  }

  async function mutate<T>(
    text: string,
    variables: Parameters,
    schema: z.ZodType<T>,
    options?: RequestOptions,
  ): Promise<{ kind: 'done' } | { kind: 'refused'; message: string }> {
    const { status, data, headers, error } = await graphql(text, variables, options);
    if (error?.type === 'RATE_LIMITED') throw limitFailure(status, headers, error);
    if (error) return { kind: 'refused', message: error.message ?? error.type ?? 'no reason given' };
    parse(GRAPHQL, status, data, z.object({ data: schema }));
    return { kind: 'done' };
  }

  async function mutateEach(fields: readonly MutationField[]): Promise<FieldAnswer[] | 'invalid'> {
    const types = fields.map(({ type }, index) => `$w${index}: ${type}!`).join(', ');
    const text = fields.map(
      ({ name, answer }, index) => `  w${index}: ${name}(input: $w${index}) { ${answer} }`,
    );
    const variables = Object.fromEntries(fields.map(({ input }, index) => [`w${index}`, input]));
    const query = `mutation (${types}) {\n${text.join('\n')}\n}`;
    const { status, data, headers, errors } = await graphql(query, variables, { graphqlOnly: true });
    const limited = errors.find(({ type }) => type === 'RATE_LIMITED');
    const answered = hasData.safeParse(data);
    if (limited && !answered.success) {
      const limit = limitFailure(status, headers, limited);
      if (limit.retryAt) graphqlBudget.hold(limit.retryAt);
      throw limit;
    }
    // A request that is not valid has errors and no data: https://spec.graphql.org/October2021/#sec-Response-Format
    const isInvalid =
      errors.length > 0 && !hasMember(data, 'data') && errors.every(({ extensions }) => extensions?.code);
    if (isInvalid) return 'invalid';
    return fields.map((_, index) => ({
      data: answered.success ? answered.data.data[`w${index}`] : undefined,
      error: errors.find(({ path }) => path?.[0] === `w${index}`),
    }));
  }

  function limitFailure(
    status: number,
    headers: Record<string, unknown>,
    error: { type?: string | undefined },
  ) {
    const said = `but with an error: ${error.type}`;
    const failure = { status, route: GRAPHQL, said, signIn: false };
    return new RequestFailure({ ...failure, kind: 'rate_limited', retryAt: retryAt(headers, clock.now()) });
  }

  async function query<T>(
    text: string,
    variables: Parameters,
    schema: z.ZodType<T>,
    partly = false,
  ): Promise<{ data: T; errors: readonly GraphqlErrorFacts[] }> {
    const { status, data, headers, error, errors } = await graphql(text, variables, {
      graphqlOnly: true,
      onlyReads: true,
    });
    const isUsable = partly && error?.type !== 'RATE_LIMITED' && hasData.safeParse(data).success;
    if (!error || isUsable) return { ...parse(GRAPHQL, status, data, z.object({ data: schema })), errors };
    const failure = {
      status,
      route: GRAPHQL,
      said: `but with an error: ${error.type ?? 'of no type'}`,
      signIn: false,
    };
    // An exhausted limit has status 200 here. GraphQL has its own limit, so other requests continue.
    if (error.type !== 'RATE_LIMITED') throw new RequestFailure({ ...failure, kind: 'unavailable' });
    const limit = limitFailure(status, headers, error);
    if (limit.retryAt) graphqlBudget.hold(limit.retryAt);
    throw limit;
  }

  async function page<T>(route: string, parameters: Parameters, schema: z.ZodType<T>) {
    const { status, headers, data } = await send(route, { ...parameters, per_page: PER_PAGE });
    return { found: parse(route, status, data, schema), next: nextCursor(headers.link ?? '') };
  }

  /**
   * Rejected: `octokit.paginate`, which treats a 409 as the end of the list. The `Link` header alone is not
   * enough either: a full page that has not changed is a 304, and its stored header has no next page although
   * one may exist by now. So after a full page, the next one is always requested.
   */
  async function* entries<T>(route: string, parameters: Parameters, page: z.ZodType<T[]>) {
    for (let number = 1; number <= MAX_PAGES; number++) {
      const query = number === 1 ? {} : { page: number };
      const { status, headers, data } = await send(route, { ...parameters, per_page: PER_PAGE, ...query });
      const found = parse(route, status, data, page);
      yield* found;
      if (found.length < PER_PAGE && !/;\s*rel="next"/.test(headers.link ?? '')) return;
    }
    throw new GitHubError(
      'invalid',
      0,
      `${route}: there are more than ${MAX_PAGES} pages; that is not read.`,
    );
  }

  async function list<T>(
    route: string,
    parameters: Parameters,
    page: z.ZodType<T[]>,
    max = Number.POSITIVE_INFINITY,
  ): Promise<T[]> {
    const all: T[] = [];
    for await (const entry of entries(route, parameters, page)) {
      all.push(entry);
      if (all.length >= max) break;
    }
    return all;
  }

  async function archive(route: string, parameters: Parameters, maxBytes: number) {
    const { status, headers } = await send(route, parameters, { redirect: 'manual' });
    try {
      return await download(deps.fetch, headers.location, { timeoutMs: deps.timeoutMs, maxBytes });
    } catch (error) {
      // The error has neither the address nor its response, because the address alone gives access for a
      // minute.
      const said = `the archive: ${error instanceof NotDownloaded ? error.message : 'the connection broke'}`;
      throw new RequestFailure({ kind: 'unavailable', status, route, said, signIn: false });
    }
  }

  return {
    request,
    query: async (text, variables, schema) => (await query(text, variables, schema)).data,
    queryEach: (text, variables, schema) => query(text, variables, schema, true),
    mutate,
    mutateEach,
    page,
    entries,
    list,
    archive,
  };
}

const GRAPHQL = 'POST /graphql';
/**
 * Why a write was not sent. Like a connection that broke, it leaves open what happened: the owner of the job looks on GitHub before it
 * sends the write again.
 */
const TOO_LATE =
  'not sent: this process has not reached its database for too long, so another one may do its work';
const hasData = z.object({ data: z.record(z.string(), z.unknown()) });
/** A response with errors still has status 200: https://spec.graphql.org/October2021/#sec-Response-Format */
const graphqlError = z.object({
  type: z.string().max(60).optional(),
  message: z.string().max(2_000).optional(),
  path: z.array(z.string().or(z.int())).optional(),
  extensions: z.object({ code: z.string().optional() }).optional().catch(undefined),
});
const graphqlErrors = z.object({ errors: z.array(graphqlError).optional() });
const hasMember = (data: unknown, name: string) => typeof data === 'object' && data !== null && name in data;
type GraphqlErrorFacts = z.infer<typeof graphqlError>;

/** A parameter of only dots would move up in the path, to a different route. */
function refuseDots(route: string, parameters: Parameters): void {
  for (const [name, value] of Object.entries(parameters)) {
    if ((value === '.' || value === '..') && route.includes(`{${name}}`)) {
      throw new GitHubError('invalid', 0, `${route}: {${name}} cannot be "${value}"; nothing was sent.`);
    }
  }
}

function nextCursor(link: string): string | undefined {
  const next = /<([^>]+)>;\s*rel="next"/.exec(link)?.[1];
  return (next && new URL(next).searchParams.get('cursor')) ?? undefined;
}

/** The error of an authentication that was not attempted, because GitHub refused the previous one. */
function signInRefusedIn(error: unknown): SignInRefused | undefined {
  const cause = error instanceof Error ? error.cause : undefined;
  if (error instanceof SignInRefused) return error;
  return cause instanceof SignInRefused ? cause : undefined;
}

/** Also with an old token: https://github.com/octokit/octokit.rb/pull/1307 quotes GitHub's message. */
function isSuspension({ status, said }: RequestFailure): boolean {
  return status === 403 && /installation has been suspended/i.test(said);
}

/** GitHub's response to a key whose App does not exist: https://github.com/octokit/rest.js/issues/218 */
function isUnknownApp({ status, said }: RequestFailure): boolean {
  return status === 404 && /integration not found/i.test(said);
}
