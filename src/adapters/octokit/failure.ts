import { z } from 'zod';
import { messageOf } from '../../core/errors.ts';
import { redact } from '../../core/redact/redact.ts';
import { GitHubError, type GitHubErrorKind } from '../../ports/github.ts';
import { HeldBack } from './transport.ts';

/** A failed request, with details for this adapter's own decisions. */
export class RequestFailure extends GitHubError {
  /** GitHub's message, or the connection's. */
  readonly said: string;
  /** The method and the path of GitHub's documentation, for the log. */
  readonly route: string;
  /**
   * The app could not authenticate for the installation. This says nothing about the subject of the request.
   */
  readonly signIn: boolean;

  constructor(facts: {
    kind: GitHubErrorKind;
    status: number;
    route: string;
    said: string;
    signIn: boolean;
    retryAt?: Date | undefined;
    cause?: unknown;
  }) {
    const outcome = facts.status === 0 ? 'no answer' : `GitHub answered ${facts.status}`;
    // The cause first: a title of a check run is cut after 200 characters, and a request tells people little.
    const message = `${outcome}${facts.said === '' ? '' : ` (${facts.said})`} to ${requestInWords(facts.route)}.`;
    super(facts.kind, facts.status, message, facts.retryAt, { cause: facts.cause });
    this.said = facts.said;
    this.route = facts.route;
    this.signIn = facts.signIn;
  }
}

/**
 * What people read of a route: `PUT pulls/merge` for `PUT /repos/{owner}/{repo}/pulls/{pull_number}/merge`. The repository is known
 * where the sentence stands, and names of parameters say nothing.
 */
function requestInWords(route: string): string {
  const [method = '', path = ''] = route.split(' ');
  const parts = path.replace(/^\/repos\/\{owner\}\/\{repo\}/, '').split('/');
  const named = parts.filter((part) => part !== '' && !part.startsWith('{'));
  return `${method} ${named.length === 0 ? 'repository' : named.join('/')}`;
}

/** The fields of Octokit's `RequestError`, whose package is not a dependency of ours. */
const requestErrorSchema = z.object({
  message: z.string(),
  request: z.object({ url: z.string() }),
  response: z
    .object({ status: z.number(), headers: z.record(z.string(), z.unknown()), data: z.unknown() })
    .optional(),
  cause: z.unknown(),
});

const SIGN_IN = /\/app\/installations\/\d+\/access_tokens$/;
const SIGN_IN_ROUTE = 'POST /app/installations/{installation_id}/access_tokens';

/** In milliseconds, for a limit without a time from GitHub, whose documentation recommends a minute. */
const LIMIT_WAIT_MS = 60_000;

/**
 * Converts any error of a request into the caller's terms. The original error is dropped, because it contains
 * the whole request. Limits: https://docs.github.com/en/rest/using-the-rest-api/rate-limits-for-the-rest-api
 */
export function toFailure(error: unknown, route: string, now: Date): RequestFailure {
  const parsed = requestErrorSchema.safeParse(error);
  if (!parsed.success) {
    // Not an error of a request: the app's own token could not be created.
    return new RequestFailure({
      kind: 'unavailable',
      status: 0,
      route,
      said: shortened(messageOf(error)),
      signIn: true,
      cause: error,
    });
  }
  const { request, response, message, cause } = parsed.data;
  const signIn = SIGN_IN.test(request.url);
  const common = { route: signIn ? SIGN_IN_ROUTE : route, signIn };
  if (cause instanceof HeldBack) {
    const { retryAt } = cause;
    return new RequestFailure({
      ...common,
      kind: 'rate_limited',
      status: 0,
      said: cause.message,
      retryAt,
      cause,
    });
  }
  if (!response) {
    return new RequestFailure({ ...common, kind: 'unavailable', status: 0, said: shortened(message), cause });
  }
  const { status, headers } = response;
  const said = status >= 500 ? '' : shortened(message);
  if (isLimit(status, headers, message)) {
    return new RequestFailure({
      ...common,
      kind: 'rate_limited',
      status,
      said,
      retryAt: retryAt(headers, now),
    });
  }
  return new RequestFailure({ ...common, kind: kindOf(status), status, said });
}

/**
 * Whether the requested thing does not exist: 404 or 410 about the thing itself, or 409 in a repository
 * without commits.
 */
export function isAbsent(error: unknown): boolean {
  if (!(error instanceof RequestFailure) || error.signIn) return false;
  return error.kind === 'not_found' || (error.status === 409 && /repository is empty/i.test(error.said));
}

function kindOf(status: number): GitHubErrorKind {
  if (status === 404 || status === 410) return 'not_found';
  if (status === 401 || status === 403) return 'forbidden';
  return status >= 400 && status < 500 ? 'invalid' : 'unavailable';
}

function isLimit(status: number, headers: Record<string, unknown>, message: string): boolean {
  if (status === 429) return true;
  return (
    status === 403 &&
    ('retry-after' in headers ||
      headers['x-ratelimit-remaining'] === '0' ||
      /secondary rate limit|abuse detection/i.test(message))
  );
}

/**
 * Clocks differ. A time that is already past here would make everybody retry immediately, again and again.
 */
const SOONEST_MS = 1_000;

/**
 * When GitHub may be asked again after a refusal because of a limit. `retry-after` is seconds or a date;
 * `x-ratelimit-reset` is seconds since 1970 and only applies if no requests remain.
 */
export function retryAt(headers: Record<string, unknown>, now: Date): Date {
  const after = headers['retry-after'];
  const reset = headers['x-ratelimit-remaining'] === '0' ? headers['x-ratelimit-reset'] : undefined;
  const candidates = [
    typeof after !== 'string'
      ? Number.NaN
      : /^\d+$/.test(after)
        ? now.getTime() + Number(after) * 1_000
        : Date.parse(after),
    typeof reset === 'string' ? Number(reset) * 1_000 : Number.NaN,
  ];
  const at = candidates.find((time) => Number.isFinite(new Date(time).getTime()));
  return new Date(Math.max(at ?? now.getTime() + LIMIT_WAIT_MS, now.getTime() + SOONEST_MS));
}

/** One line of at most 300 characters, redacted and without the link to GitHub's documentation. */
function shortened(message: string): string {
  const line = redact(message)
    .replace(/ - https?:\S+$/, '')
    .replaceAll(/[\s\p{Cc}\p{Cf}]+/gu, ' ')
    .trim();
  return line.length <= 300 ? line : `${line.slice(0, 299)}…`;
}
