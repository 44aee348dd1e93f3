import { timingSafeEqual } from 'node:crypto';
import type { IncomingHttpHeaders } from 'node:http';
import { isIPv4, isIPv6 } from 'node:net';
import { isLoopback } from '../../core/loopback.ts';

/** Why a request was refused. */
export type BrowserRefusal = 'host' | 'origin' | 'state' | 'length';

export interface GuardedRequest {
  method: string;
  url: URL;
  headers: IncomingHttpHeaders;
}

export interface Guard {
  /**
   * A host name that the page may be reached by, besides names of this machine. An address that means all
   * interfaces counts as none.
   */
  host: string;
  /** The paths that require a state, as `?state=`. */
  statePaths: readonly string[];
  /** The random values that this process has given out, one for each form that somebody sent. */
  states(): readonly string[];
  maxBodyBytes: number;
}

/**
 * Why a request to this page without sign-in could come from another site in the person's browser;
 * `undefined` if it cannot.
 *
 * - `Host`: with DNS rebinding, an attacker's name points at this machine and makes their page the same
 *   origin as ours. Only names of this machine pass, and plain addresses, which need no DNS.
 * - `Origin`: browsers send it with every POST (https://fetch.spec.whatwg.org/#origin-header), so a missing
 *   or foreign one is refused.
 * - `state`: GitHub sends people back by a link, which has no `Origin`. It returns a random state of ours, which
 *   proves that the registration began here, and says with which form
 *   (https://docs.github.com/en/apps/sharing-github-apps/registering-a-github-app-from-a-manifest).
 */
export function refusedFor(
  { method, url, headers }: GuardedRequest,
  guard: Guard,
): BrowserRefusal | undefined {
  const hosts = [headers.host ?? '', ...headerValues(headers['x-forwarded-host'])];
  if (!hosts.every((host) => isOwnHost(host, guard.host))) return 'host';
  if (guard.statePaths.includes(url.pathname)) {
    const given = url.searchParams.get('state') ?? '';
    if (!guard.states().some((state) => isSame(given, state))) return 'state';
  }
  if (method === 'GET' || method === 'HEAD') return undefined;
  if (!isOwnOrigin(headers.origin, headers.host)) return 'origin';
  return Number(headers['content-length'] ?? Number.NaN) <= guard.maxBodyBytes ? undefined : 'length';
}

/** Proxies can append to such a header, so each of its values counts. */
function headerValues(value: string | string[] | undefined): string[] {
  return value === undefined
    ? []
    : [value]
        .flat()
        .flatMap((list) => list.split(','))
        .map((one) => one.trim());
}

function isOwnHost(authority: string, configured: string): boolean {
  const name = hostOf(authority);
  if (name === undefined) return false;
  return isLoopback(name) || isAddress(name) || name === hostOf(configured);
}

/**
 * The host of an authority such as `localhost:3000`, as `URL` normalises it; `undefined` if the text is not
 * an authority.
 */
function hostOf(authority: string): string | undefined {
  if (!/^[A-Za-z0-9.:[\]_-]+$/.test(authority) || !URL.canParse(`http://${authority}`)) return undefined;
  return new URL(`http://${authority}`).hostname;
}

function isAddress(name: string): boolean {
  return isIPv4(name) || (name.startsWith('[') && isIPv6(name.slice(1, -1)));
}

function isOwnOrigin(origin: string | undefined, host: string | undefined): boolean {
  return host !== undefined && (origin === `http://${host}` || origin === `https://${host}`);
}

function isSame(given: string, expected: string): boolean {
  const [one, other] = [Buffer.from(given), Buffer.from(expected)];
  return one.length === other.length && timingSafeEqual(one, other);
}
