import { createHmac, createSecretKey, timingSafeEqual } from 'node:crypto';
import type { IncomingMessage, ServerResponse } from 'node:http';
import type { Log } from '../../core/log.ts';
import type { BodyReader } from './body.ts';
import { deliveryFacts } from './delivery/facts.ts';
import type { Intake, Receipt, Webhook } from './delivery/intake.ts';
import { REFUSALS, type Refusal, WRONG_SIGNATURE } from './refusals.ts';

export type Received =
  | { kind: 'accepted'; guid: string; receipt: Receipt }
  | { kind: 'refused'; refusal: Refusal }
  /** The sender disconnected before the body was complete. */
  | { kind: 'cut' };

export interface ReceiveParts {
  secret: string;
  intake: Intake;
  readBody: BodyReader;
  log: Log;
}

/**
 * Accepts one webhook. Checks the headers that need no body, then the signature over the raw bytes, and
 * parses only after that. Records nothing unless all checks pass.
 */
export function createReceiver({ secret, intake, readBody, log }: ReceiveParts) {
  const isSigned = createSignatureCheck(secret);

  return async (request: IncomingMessage, response: ServerResponse): Promise<Received> => {
    const { headers } = request;
    if (!isJson(headers['content-type'])) return refused(REFUSALS.contentType);
    const signature = oneHeader(headers['x-hub-signature-256']);
    if (!isSignature(signature)) return refused(REFUSALS.signature);

    const body = await readBody(request, response);
    if (body.kind === 'cut') return body;
    if (body.kind === 'too_large') return refused(REFUSALS.tooLarge);
    if (body.kind === 'busy') return refused(body.over === 'peer' ? REFUSALS.peerBusy : REFUSALS.busy);
    if (!isSigned(body.bytes, signature)) return refusedSignature();
    body.prove();

    const event = oneHeader(headers['x-github-event']);
    if (!event || !EVENT_NAME.test(event)) return refused(REFUSALS.eventHeader);
    const guid = oneHeader(headers['x-github-delivery']);
    if (!guid || !DELIVERY_ID.test(guid)) return refused(REFUSALS.deliveryHeader);
    const payload = jsonObject(body.bytes);
    if (!payload) return refused(REFUSALS.notJson);

    return record({ guid, event, body: body.bytes, facts: deliveryFacts(payload) });
  };

  /** Anybody can send such a request, so the line comes once a minute; `engine/self-check` asks GitHub itself. */
  function refusedSignature(): Received {
    log.warn({ outage: 'webhook signature' }, WRONG_SIGNATURE);
    return refused(REFUSALS.signature);
  }

  async function record(webhook: Webhook): Promise<Received> {
    const { guid, event } = webhook;
    try {
      const receipt = await intake.accept(webhook);
      log.debug({ delivery: guid, event, receipt }, 'webhook accepted');
      return { kind: 'accepted', guid, receipt };
    } catch (err) {
      log.error({ delivery: guid, event, err }, 'webhook could not be recorded');
      return refused(REFUSALS.notRecorded);
    }
  }
}

export const EVENT_NAME = /^[a-z0-9_]{1,100}$/;
/** GitHub sends UUIDs; emulators of GitHub send other ids. */
export const DELIVERY_ID = /^[A-Za-z0-9._:-]{1,100}$/;

function refused(refusal: Refusal): Received {
  return { kind: 'refused', refusal };
}

function isJson(contentType: string | undefined): boolean {
  return /^application\/json\s*(;|$)/i.test(contentType ?? '');
}

/** Node joins repeated headers with commas, which none of the patterns accepts. */
function oneHeader(value: string | string[] | undefined): string | undefined {
  return typeof value === 'string' ? value : undefined;
}

function jsonObject(bytes: Buffer): object | undefined {
  try {
    const value: unknown = JSON.parse(bytes.toString('utf8'));
    return typeof value === 'object' && value !== null && !Array.isArray(value) ? value : undefined;
  } catch {
    return undefined;
  }
}

/**
 * Checks `X-Hub-Signature-256` (`sha256=<64 hex digits>`: HMAC-SHA-256 of the raw body with the webhook
 * secret) in constant time.
 *
 * Rejected: `verify` of @octokit/webhooks-methods, which takes the body only as text. That costs a decoding
 * and an encoding, and changes bytes that are not UTF-8 before they are verified.
 */
function createSignatureCheck(secret: string): (body: Uint8Array, header: string) => boolean {
  const key = createSecretKey(secret, 'utf8');
  return (body, header) => {
    if (!isSignature(header)) return false;
    const given = Buffer.from(header.slice('sha256='.length), 'hex');
    return timingSafeEqual(given, createHmac('sha256', key).update(body).digest());
  };
}

/** Whether the header has the form of a signature. If not, the request is refused before its body is read. */
function isSignature(header: string | undefined): header is string {
  return header !== undefined && /^sha256=[0-9a-f]{64}$/.test(header);
}
