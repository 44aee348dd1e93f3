import { createHmac } from 'node:crypto';
import { type LookupAddress, lookup } from 'node:dns';
import { request as httpRequest } from 'node:http';
import { request as httpsRequest } from 'node:https';
import { isIP, type LookupFunction } from 'node:net';
import type { Clock } from '../../core/clock.ts';
import { isPrivateAddress } from '../../core/private-address.ts';
import { type Chat, ChatError } from '../../ports/chat.ts';

/** For a whole attempt, in milliseconds. */
const TIMEOUT_MS = 5_000;
/** The longest pause that a receiver can ask for, in milliseconds. */
const MAX_WAIT_MS = 3_600_000;

class PrivateAddress extends Error {}

/**
 * Posts to the operator's webhooks. Those without a secret get the format of Slack's incoming webhooks, which other
 * chats also accept: https://docs.slack.dev/messaging/sending-messages-using-incoming-webhooks. Those with a secret
 * get a signed message of Standard Webhooks, for which receivers find libraries:
 * https://github.com/standard-webhooks/standard-webhooks/blob/main/spec/standard-webhooks.md.
 *
 * The address is checked when it is resolved, and the connection is made to what was checked: a name that
 * resolves differently the second time leads nowhere else. Redirects are not followed.
 */
export function createChat(config: {
  webhooks: ReadonlyMap<string, string>;
  /** The keys of signed webhooks, by name. */
  secrets?: ReadonlyMap<string, string> | undefined;
  /** The operator allows private addresses. */
  allowsPrivate: boolean;
  clock: Clock;
  /** Resolves names; the system does by default. */
  resolve?: LookupFunction;
}): Chat {
  const { webhooks, secrets, allowsPrivate, clock, resolve = lookup as LookupFunction } = config;
  return {
    has: (webhook) => webhooks.has(webhook),
    async post(webhook, { text, data = { text }, id, at }) {
      const url = webhooks.get(webhook);
      if (url === undefined)
        throw new ChatError(`this server has no webhook ${webhook}`, { isTemporary: false });
      const secret = secrets?.get(webhook);
      const body = JSON.stringify(
        secret === undefined
          ? { text, unfurl_links: false, unfurl_media: false }
          : { type: 'countersign.message', timestamp: at.toISOString(), data },
      );
      const headers = secret === undefined ? {} : signed({ id, body, secret }, clock.now());
      const { status, retryAfter } = await send(new URL(url), body, {
        headers: { ...headers, 'idempotency-key': id },
        allowsPrivate,
        resolve,
      }).catch((error: unknown) => {
        throw failureOf(webhook, error);
      });
      if (status >= 200 && status < 300) return;
      const isTemporary = status === 429 || status === 408 || status >= 500;
      throw new ChatError(`the webhook ${webhook} answered ${status}`, {
        isTemporary,
        waitMs: status === 429 ? retryAfter : undefined,
      });
    },
  };
}

/** The time is signed too, so that a receiver can refuse a message that somebody recorded and sends again. */
function signed({ id, body, secret }: { id: string; body: string; secret: string }, now: Date) {
  const seconds = String(Math.floor(now.getTime() / 1_000));
  const key = Buffer.from(secret.replace(/^whsec_/, ''), 'base64');
  const signature = createHmac('sha256', key).update(`${id}.${seconds}.${body}`).digest('base64');
  return { 'webhook-id': id, 'webhook-timestamp': seconds, 'webhook-signature': `v1,${signature}` };
}

/** Only the system's code: a message would name the address. */
function failureOf(webhook: string, error: unknown): ChatError {
  if (error instanceof PrivateAddress)
    return new ChatError(`the webhook ${webhook} has a private address, which this server refuses`, {
      isTemporary: false,
    });
  const code = error instanceof Error && 'code' in error ? String(error.code) : 'no answer';
  return new ChatError(`the webhook ${webhook} cannot be reached (${code})`, { isTemporary: true });
}

function send(
  url: URL,
  body: string,
  {
    headers,
    allowsPrivate,
    resolve: resolveName,
  }: { headers: Record<string, string>; allowsPrivate: boolean; resolve: LookupFunction },
): Promise<{ status: number; retryAfter: number | undefined }> {
  const host = url.hostname.replace(/^\[|\]$/g, '');
  // An address is not resolved.
  if (!allowsPrivate && isIP(host) !== 0 && isPrivateAddress(host))
    return Promise.reject(new PrivateAddress());
  const request = url.protocol === 'https:' ? httpsRequest : httpRequest;
  return new Promise((resolve, reject) => {
    const sent = request(
      url,
      {
        method: 'POST',
        agent: false,
        lookup: allowsPrivate ? resolveName : onlyPublic(resolveName),
        signal: AbortSignal.timeout(TIMEOUT_MS),
        headers: {
          'content-type': 'application/json',
          'content-length': Buffer.byteLength(body),
          'user-agent': 'countersign',
          ...headers,
        },
      },
      (response) => {
        // Nothing in the body is needed, and it can be of any length.
        resolve({ status: response.statusCode ?? 0, retryAfter: waitOf(response.headers['retry-after']) });
        response.destroy();
      },
    );
    sent.on('error', reject);
    sent.end(body);
  });
}

function waitOf(header: string | undefined): number | undefined {
  return header !== undefined && /^\d{1,6}$/.test(header)
    ? Math.min(Number(header) * 1_000, MAX_WAIT_MS)
    : undefined;
}

function onlyPublic(resolveName: LookupFunction): LookupFunction {
  return (hostname, options, callback) => {
    resolveName(hostname, { ...options, all: true }, (error, found) => {
      const addresses = found as LookupAddress[] | undefined;
      const [first] = addresses ?? [];
      if (error || !addresses || !first) return callback(error ?? new Error('no address'), '');
      if (addresses.some(({ address }) => isPrivateAddress(address)))
        return callback(new PrivateAddress(), '');
      return options.all ? callback(null, addresses) : callback(null, first.address, first.family);
    });
  };
}
