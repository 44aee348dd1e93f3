import { z } from 'zod';
import type { Clock } from '../../core/clock.ts';
import { type AnsweredRequest, GitHubError, SignInRefused, type Urgency } from '../../ports/github.ts';
import type { Budget } from './budget.ts';
import { download, NotDownloaded } from './download.ts';
import { RequestFailure, retryAt, toFailure } from './failure.ts';
import type { RequestLimiter } from './request-limiter.ts';
import type { SignIn } from './sign-in.ts';
import type { SignInWatch } from './sign-in-watch.ts';
import {
  type AnswerCache,
  bounded,
  conditional,
  type Fetch,
  HeldBack,
  paced,
  REVALIDATED,
  redirected,
} from './transport.ts';

export interface ClientDeps {
  timeoutMs: number;
  clock: Clock;
  onAnswer: (answered: AnsweredRequest) => void;
  /** The app itself kept a request from being sent. */
  onHeldBack: (urgency: Urgency) => void;
  fetch: Fetch;
  cache: AnswerCache;
  watch: SignInWatch;
  /** Asks GitHub who the app is. @throws SignInRefused when GitHub does not accept the app's own key. */
  expectApp: () => Promise<void>;
}

/** One installation of the app, or the app itself: all who ask GitHub for it share its token and its limits. */
export interface Installation {
  /** `undefined` for what only the app itself may ask. */
  id: number | undefined;
  signIn: SignIn;
  budget: Budget;
  limiter: RequestLimiter;
}

/** No answer that is used is as large: 100 files with their patches are a few megabytes. */
const MAX_ANSWER_BYTES = 64 * 1024 * 1024;
const PER_PAGE = 100;
/** Lists that go on after so many pages are somebody's attack or a loop. */
const MAX_PAGES = 100;

export type Parameters = Readonly<Record<string, unknown>>;

/** How one request differs from the others. */
export interface RequestOptions {
  timeoutMs?: number;
  maxBytes?: number;
  /** Called when the request is about to leave, after waiting for a token; a throw keeps it from leaving. */
  beforeSending?: () => void;
  /** `manual`: where GitHub leads on to is told, and not followed. */
  redirect?: 'manual';
}

/** GitHub's REST API as one installation of the app, or as the app: signed in, bounded, conditional, checked. */
export interface Client {
  /**
   * One request, once: trying again is the outbox's and the queue's business.
   * @param route Octokit's form, as in `GET /repos/{owner}/{repo}`; other parameters go to the query or the body.
   * @throws GitHubError for every failure, and when the answer is not what the schema says (`unavailable`).
   */
  request<T>(
    route: string,
    parameters: Parameters,
    schema: z.ZodType<T>,
    options?: RequestOptions,
  ): Promise<T>;
  /**
   * One question in GraphQL, for the little that REST does not tell. It only reads, although it is sent as a POST.
   * @throws GitHubError as `request` does; also (`unavailable`) when GitHub answers with errors, even beside data.
   */
  query<T>(text: string, variables: Parameters, schema: z.ZodType<T>): Promise<T>;
  /**
   * One change in GraphQL. GitHub's own sentence is kept when it refuses: people are told of it.
   * @throws GitHubError as `request` does.
   */
  mutate<T>(
    text: string,
    variables: Parameters,
    schema: z.ZodType<T>,
    options?: RequestOptions,
  ): Promise<{ kind: 'done' } | { kind: 'refused'; message: string }>;
  /** One page of a list that is not numbered; `next` is the cursor of the page after it. */
  page<T>(
    route: string,
    parameters: Parameters,
    schema: z.ZodType<T>,
  ): Promise<{ found: T; next: string | undefined }>;
  /** The entries of a list, page after page, as they are asked for. @throws GitHubError after 100 pages. */
  entries<T>(route: string, parameters: Parameters, page: z.ZodType<T[]>): AsyncGenerator<T, void>;
  /**
   * What a route leads on to on another host, as one answer of bytes; `undefined` when it is larger than `maxBytes`. The token is
   * for GitHub alone and does not go there.
   */
  archive(route: string, parameters: Parameters, maxBytes: number): Promise<Uint8Array | undefined>;
  /** All entries, or the first `max`. */
  list<T>(route: string, parameters: Parameters, page: z.ZodType<T[]>, max?: number): Promise<T[]>;
}

export function createClient(deps: ClientDeps, installation: Installation, urgency: Urgency): Client {
  const { clock, watch } = deps;
  const { id: installationId, signIn, budget, limiter } = installation;

  function transport({ timeoutMs, maxBytes, beforeSending }: RequestOptions): Fetch {
    const limited = redirected(
      bounded(deps.fetch, {
        timeoutMs: timeoutMs ?? deps.timeoutMs,
        maxBytes: maxBytes ?? MAX_ANSWER_BYTES,
      }),
    );
    const guarded: Fetch = async (input, init) => {
      beforeSending?.();
      return limited(input, init);
    };
    const inTurn = paced(guarded, { budget, limiter, urgency, clock });
    return conditional(inTurn, deps.cache, String(installationId ?? 'app'));
  }

  async function send(route: string, parameters: Parameters, options: RequestOptions = {}) {
    refuseDots(route, parameters);
    if (installationId === undefined) watch.mayAsk(undefined);
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
          fetch: transport(options),
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
      if (failure.retryAt) budget.hold(failure.retryAt);
      // A token that GitHub has revoked would be used for the rest of its hour.
      if (failure.status === 401 || isSuspension(failure)) signIn.again();
      throw await meant(failure);
    }
  }

  /**
   * The failure as what it is about: whoever is not signed in was not heard, whatever was asked. GitHub answers 404 for a missing
   * installation and for a deleted App alike, so the app asks who it is before it takes one for the other.
   */
  async function meant(failure: RequestFailure): Promise<GitHubError> {
    const { status, signIn: isSignIn } = failure;
    if (failure.kind === 'rate_limited') return failure;
    if (isSignIn && (status === 403 || status === 404)) {
      const stranger = await whyUntrusted();
      if (stranger) return stranger;
      return installationId === undefined
        ? new SignInRefused('installation', status, failure.message)
        : watch.refused(installationId, failure);
    }
    if (status === 401 && (isSignIn || installationId === undefined))
      return watch.refused(undefined, failure);
    if (installationId === undefined)
      return isUnknownApp(failure) ? watch.refused(undefined, failure) : failure;
    if (isSuspension(failure)) return watch.refused(installationId, failure);
    // A token of before; the next try signs in and learns why.
    return status === 401 ? new SignInRefused('installation', status, failure.message) : failure;
  }

  /** Why GitHub does not know the app, or could not be asked whether it does; `undefined` when it does. */
  async function whyUntrusted(): Promise<GitHubError | undefined> {
    try {
      await deps.expectApp();
      return undefined;
    } catch (error) {
      if (!(error instanceof RequestFailure)) throw error;
      const wasAsked = error.kind === 'not_found' || error.kind === 'forbidden' || error.kind === 'invalid';
      return wasAsked ? watch.refused(undefined, error) : error;
    }
  }

  function read<T>(route: string, status: number, data: unknown, schema: z.ZodType<T>): T {
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
    return read(route, status, data, schema);
  }

  async function graphql(text: string, variables: Parameters, options?: RequestOptions) {
    // On GitHub Enterprise Server, whose REST is at `/api/v3`, it is beside that, at `/api/graphql`.
    const { baseUrl } = signIn.octokit().request.endpoint.DEFAULTS;
    const url = `${baseUrl.replace(/\/v3$/, '')}/graphql`;
    const answered = await send(GRAPHQL, { url, query: text, variables }, options);
    const [error] = read(GRAPHQL, answered.status, answered.data, graphqlErrors).errors ?? [];
    return { ...answered, error };
  }

  async function mutate<T>(
    text: string,
    variables: Parameters,
    schema: z.ZodType<T>,
    options?: RequestOptions,
  ): Promise<{ kind: 'done' } | { kind: 'refused'; message: string }> {
    const { status, data, headers, error } = await graphql(text, variables, options);
    if (error?.type === 'RATE_LIMITED') throw spent(status, headers, error);
    if (error) return { kind: 'refused', message: error.message ?? error.type ?? 'no reason given' };
    read(GRAPHQL, status, data, z.object({ data: schema }));
    return { kind: 'done' };
  }

  function spent(status: number, headers: Record<string, unknown>, error: { type?: string | undefined }) {
    const said = `but with an error: ${error.type}`;
    const failure = { status, route: GRAPHQL, said, signIn: false };
    return new RequestFailure({ ...failure, kind: 'rate_limited', retryAt: retryAt(headers, clock.now()) });
  }

  async function query<T>(text: string, variables: Parameters, schema: z.ZodType<T>): Promise<T> {
    const { status, data, headers, error } = await graphql(text, variables);
    if (!error) return read(GRAPHQL, status, data, z.object({ data: schema })).data;
    const failure = {
      status,
      route: GRAPHQL,
      said: `but with an error: ${error.type ?? 'of no type'}`,
      signIn: false,
    };
    // A spent budget comes with status 200 here, and is one of its own: other requests go on.
    if (error.type !== 'RATE_LIMITED') throw new RequestFailure({ ...failure, kind: 'unavailable' });
    throw spent(status, headers, error);
  }

  async function page<T>(route: string, parameters: Parameters, schema: z.ZodType<T>) {
    const { status, headers, data } = await send(route, { ...parameters, per_page: PER_PAGE });
    return { found: read(route, status, data, schema), next: nextCursor(headers.link ?? '') };
  }

  /**
   * Not `octokit.paginate`: that one takes a 409 for the end of the list. Nor is the `Link` header enough: a page that
   * was full and has not changed is a 304 whose stored header knows of no next page, although there is one by now. So
   * a full page is always followed by another look.
   */
  async function* entries<T>(route: string, parameters: Parameters, page: z.ZodType<T[]>) {
    for (let number = 1; number <= MAX_PAGES; number++) {
      const query = number === 1 ? {} : { page: number };
      const { status, headers, data } = await send(route, { ...parameters, per_page: PER_PAGE, ...query });
      const found = read(route, status, data, page);
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
      // Neither the address nor what it answered is told: the address alone lets anybody in for a minute.
      const said = `the archive: ${error instanceof NotDownloaded ? error.message : 'the connection broke'}`;
      throw new RequestFailure({ kind: 'unavailable', status, route, said, signIn: false });
    }
  }

  return { request, query, mutate, page, entries, list, archive };
}

const GRAPHQL = 'POST /graphql';
/** An answer with errors has the status 200 all the same: https://spec.graphql.org/October2021/#sec-Response-Format */
const graphqlErrors = z.object({
  errors: z
    .array(z.object({ type: z.string().max(60).optional(), message: z.string().max(2_000).optional() }))
    .optional(),
});

/** A parameter of dots would be taken for a step up in the path, to another route than the one that was meant. */
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

/** The error of a sign-in that was not tried, since GitHub refused the one before. */
function signInRefusedIn(error: unknown): SignInRefused | undefined {
  const cause = error instanceof Error ? error.cause : undefined;
  if (error instanceof SignInRefused) return error;
  return cause instanceof SignInRefused ? cause : undefined;
}

/** Under a token of before, too: https://github.com/octokit/octokit.rb/pull/1307 has GitHub's words. */
function isSuspension({ status, said }: RequestFailure): boolean {
  return status === 403 && /installation has been suspended/i.test(said);
}

/** What GitHub answers a key whose App is not there: https://github.com/octokit/rest.js/issues/218 */
function isUnknownApp({ status, said }: RequestFailure): boolean {
  return status === 404 && /integration not found/i.test(said);
}
