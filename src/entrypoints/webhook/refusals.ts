import type { SignedOut } from '../../ports/github.ts';

/** The answers to refused requests. Each says what would be right, and none repeats what was sent. */
export interface Refusal {
  status: number;
  error: string;
  headers?: Record<string, string>;
}

const CLOSE = { connection: 'close' };

export const REFUSALS = {
  notFound: { status: 404, error: 'There is nothing at this address.' },
  contentType: {
    status: 415,
    error: 'Webhooks must be sent as application/json; set "Content type" so in the App’s webhook settings.',
  },
  tooLarge: { status: 413, error: 'The body is larger than a webhook may be.', headers: CLOSE },
  peerBusy: {
    status: 429,
    error: 'Too much is being received from this address at once; redeliver this webhook in a moment.',
    headers: { ...CLOSE, 'retry-after': '5' },
  },
  busy: {
    status: 503,
    error: 'Too much is being received at once; redeliver this webhook in a moment.',
    headers: { ...CLOSE, 'retry-after': '5' },
  },
  signature: {
    status: 401,
    error: 'X-Hub-Signature-256 is missing or is not the signature of this body with the webhook secret.',
  },
  eventHeader: { status: 400, error: 'X-GitHub-Event is missing or is not the name of an event.' },
  deliveryHeader: {
    status: 400,
    error:
      'X-GitHub-Delivery is missing or is not an id of at most 100 letters, digits, ".", "_", ":" and "-".',
  },
  notJson: { status: 400, error: 'The body is not a JSON object.' },
  notRecorded: {
    status: 503,
    error:
      'The delivery could not be recorded, so it was not accepted; redeliver it when the app is healthy again.',
    headers: { 'retry-after': '60' },
  },
  webhooksElsewhere: {
    status: 503,
    error: 'This process takes no webhooks (ROLE): send them to one that does, and redeliver this one.',
    headers: CLOSE,
  },
  metricsElsewhere: {
    status: 404,
    error:
      'The metrics are not served on this port, which everybody reaches: they have one of their own, METRICS_PORT. ' +
      'To read them here, set METRICS_TOKEN and send it as "Authorization: Bearer …".',
  },
  metricsToken: {
    status: 401,
    error: 'Send the METRICS_TOKEN as "Authorization: Bearer …".',
    headers: { 'www-authenticate': 'Bearer' },
  },
  broken: { status: 500, error: 'Something is wrong in the app itself; its log says what.' },
} as const satisfies Record<string, Refusal>;

export function methodNotAllowed(allow: string): Refusal {
  return { status: 405, error: `Use ${allow.replace(', ', ' or ')} here.`, headers: { allow } };
}

export function notReady(checks: readonly string[]): Refusal {
  return { status: 503, error: `Not ready: ${checks.join(', ')}.`, headers: { 'retry-after': '5' } };
}

/** What `/healthz` says if the engine hangs, so that a supervisor restarts the process. */
export function engineIsSilent(ms: number): Refusal {
  return { status: 503, error: `The engine has not responded for ${Math.round(ms / 1_000)} s.` };
}

/** A check of `/readyz` that fails because another process has locked the database. */
export function lockedByAnother(check: string): string {
  return `${check} (locked by another process)`;
}

/** What `/readyz` says while GitHub rejects the app's sign-in. Times are UTC. */
export function signInWaits({ installationId, since, status }: SignedOut): string {
  const at = since.toISOString().slice(0, 19);
  return installationId === undefined
    ? `GitHub has not let this app sign in since ${at}Z (${status}): all work waits. Are its private key and the clock right?`
    : `GitHub has not let this app sign in to the installation ${installationId} since ${at}Z (${status}): its work waits.`;
}

/** In the log, when a webhook is refused for its signature. */
export const WRONG_SIGNATURE =
  'a webhook is not signed with WEBHOOK_SECRET and was refused: if GitHub sent it, the App has another secret (countersign doctor says more)';

export const MERGING_IS_OFF =
  'Merging is switched off on this server (COUNTERSIGN_MERGING=off): nothing is merged until it is switched on again.';
