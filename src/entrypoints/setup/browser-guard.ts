import { timingSafeEqual } from 'node:crypto';
import type { IncomingHttpHeaders } from 'node:http';
import { isIPv4, isIPv6 } from 'node:net';
import { isLoopback } from '../../core/loopback.ts';

/** What a request was refused for. */
export type BrowserRefusal = 'host' | 'origin' | 'state' | 'length';

export interface GuardedRequest {
  method: string;
  url: URL;
  headers: IncomingHttpHeaders;
}

export interface Guard {
  /** A host name, besides those of this machine, by which the page may be asked for; an address of all interfaces is none. */
  host: string;
  /** The path that must carry the state, as `?state=`. */
  statePath: string;
  /** Drawn for this process alone. */
  state: string;
  maxBodyBytes: number;
}

/**
 * Why a request to a page without sign-in may have been sent by another site in the reader's browser; `undefined` when it was not.
 *
 * - `Host`: a name that somebody else points at this machine (DNS rebinding) makes their page one of the same origin as ours. Only names
 *   of this machine pass, and plain addresses, which no DNS decides.
 * - `Origin`: a browser sends it with every POST (https://fetch.spec.whatwg.org/#origin-header), so one that is missing or another's is
 *   refused.
 * - `state`: GitHub sends people back by a link, which carries no `Origin`. What it gives back of ours tells that it began here
 *   (https://docs.github.com/en/apps/sharing-github-apps/registering-a-github-app-from-a-manifest).
 */
export function refusedFor(
  { method, url, headers }: GuardedRequest,
  guard: Guard,
): BrowserRefusal | undefined {
  const hosts = [headers.host ?? '', ...named(headers['x-forwarded-host'])];
  if (!hosts.every((host) => isOwnHost(host, guard.host))) return 'host';
  if (url.pathname === guard.statePath && !isSame(url.searchParams.get('state') ?? '', guard.state)) {
    return 'state';
  }
  if (method === 'GET' || method === 'HEAD') return undefined;
  if (!isOwnOrigin(headers.origin, headers.host)) return 'origin';
  return Number(headers['content-length'] ?? Number.NaN) <= guard.maxBodyBytes ? undefined : 'length';
}

/** A header that proxies add to: each of its values counts. */
function named(value: string | string[] | undefined): string[] {
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

/** The host of an authority such as `localhost:3000`, as `URL` writes it; `undefined` for anything else than an authority. */
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
