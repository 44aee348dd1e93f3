import type { Finding, Grants, Lacking } from './finding.ts';

/** GitHub refuses a token that is older than a minute: half of that is left for the way. */
const CLOCK_TOLERANCE_MS = 30_000;
/** A day of a busy organisation, with its artifacts. */
const LOW_DISK_BYTES = 1024 ** 3;

/** How GitHub is set to send webhooks of the app. */
export interface WebhookRegistration {
  /** `undefined` if there is none. */
  url: string | undefined;
  contentType: string | undefined;
  hasSecret: boolean;
  /** Whether GitHub checks the certificate of the address. */
  checksTls: boolean;
}

/** An attempt of GitHub to deliver a webhook. */
export interface Attempt {
  deliveredAt: Date;
  /** 0 if GitHub received no response. */
  statusCode: number;
}

export function judgeClock(aheadMs: number): Finding {
  return { check: 'clock', kind: Math.abs(aheadMs) > CLOCK_TOLERANCE_MS ? 'off' : 'right', aheadMs };
}

export function judgeDisk(folder: string, freeBytes: number): Finding {
  return { check: 'disk', kind: freeBytes < LOW_DISK_BYTES ? 'low' : 'enough', folder, freeBytes };
}

/** What of the asked grants is missing in the granted ones; `undefined` if nothing. */
export function lackingIn(granted: Grants, asked: Grants): Lacking | undefined {
  const permissions = Object.entries(asked.permissions).flatMap(([name, level]) =>
    covers(granted.permissions[name], level) ? [] : [`${name}: ${level}`],
  );
  const events = asked.events.filter((event) => !granted.events.includes(event));
  return permissions.length + events.length === 0 ? undefined : { permissions, events };
}

const LEVELS = ['read', 'write', 'admin'];

function covers(granted: string | undefined, asked: string): boolean {
  return granted !== undefined && LEVELS.indexOf(granted) >= LEVELS.indexOf(asked);
}

/**
 * @param expectedUrl the address at which this app accepts webhooks, if the settings say it
 * @param newest GitHub's newest attempt to deliver one, if there is any
 */
export function judgeWebhook(
  { url, contentType, hasSecret, checksTls }: WebhookRegistration,
  expectedUrl: string | undefined,
  newest: Attempt | undefined,
): Finding[] {
  if (url === undefined) return [{ check: 'webhook', kind: 'no_address' }];
  const errors: Finding[] = [];
  if (!hasSecret) errors.push({ check: 'webhook', kind: 'no_secret' });
  if (contentType !== 'json') errors.push({ check: 'webhook', kind: 'not_json' });
  if (expectedUrl !== undefined && url !== expectedUrl)
    errors.push({ check: 'webhook', kind: 'other_address', url, expected: expectedUrl });
  if (!checksTls) errors.push({ check: 'webhook', kind: 'tls_unchecked', url });
  return [...errors, judgeAttempt(newest, url)];
}

/** What the newest attempt says, because an older one may be from before somebody corrected the settings. */
export function judgeAttempt(newest: Attempt | undefined, url: string | undefined): Finding {
  if (newest === undefined) return { check: 'webhook', kind: 'never_sent' };
  const { deliveredAt: at, statusCode: status } = newest;
  if (status >= 200 && status < 300) return { check: 'webhook', kind: 'answered', at, status };
  if (status === 401) return { check: 'webhook', kind: 'secret_differs', at };
  if (status === 0) return { check: 'webhook', kind: 'unreached', at, url };
  return { check: 'webhook', kind: 'refused', at, status };
}
