import type { Clock } from '../../core/clock.ts';
import type { Log } from '../../core/log.ts';
import { type SignedOut, SignInRefused } from '../../ports/github.ts';
import type { RequestFailure } from './failure.ts';
import type { Fetch } from './transport.ts';

/**
 * The longest pause between two attempts to authenticate after a refusal, in milliseconds. The first pause is
 * a second.
 */
const LONGEST_PAUSE_MS = 60_000;
const FIRST_PAUSE_MS = 1_000;
/** In milliseconds. Waiting work retries at least this often, so an older refusal no longer matters. */
const FORGOTTEN_MS = 15 * 60_000;

interface Refused {
  error: SignInRefused;
  since: Date;
  /** When authentication was last needed. */
  wantedAt: Date;
  /** When GitHub may be asked again. */
  askAt: Date;
}

/**
 * Records which authentications GitHub refuses, and limits new attempts. Without a pause, each waiting job
 * would send requests that can only fail, and GitHub would then refuse valid credentials, too ("Failed login
 * limit": https://docs.github.com/en/rest/authentication/authenticating-to-the-rest-api#failed-login-limit).
 * Shared by all installations, because they all depend on the app's own key.
 */
export interface SignInWatch {
  /** @throws SignInRefused if GitHub refused recently, and the pause is not over */
  mayAsk(installationId: number | undefined): void;
  /** GitHub refused the installation, or without an id the app itself. Returns the error to throw. */
  refused(installationId: number | undefined, failure: RequestFailure): SignInRefused;
  /** GitHub accepted the app's key, and also the installation if an id is given. */
  accepted(installationId: number | undefined): void;
  signedOut(): SignedOut[];
}

export function createSignInWatch({ clock, log }: { clock: Clock; log: Log }): SignInWatch {
  const refusals = new Map<number | undefined, Refused>();

  function accept(installationId: number | undefined): void {
    const before = refusals.get(installationId);
    if (!before) return;
    refusals.delete(installationId);
    log.info({ installation: installationId, since: before.since }, 'GitHub lets this app sign in again');
  }

  return {
    mayAsk(installationId) {
      const now = clock.now();
      for (const id of new Set([undefined, installationId])) {
        const known = refusals.get(id);
        if (!known) continue;
        known.wantedAt = now;
        if (now < known.askAt) throw known.error;
      }
    },

    refused(id, failure) {
      const now = clock.now();
      const whose = id === undefined ? 'app' : 'installation';
      const since = refusals.get(id)?.since ?? now;
      const pause = Math.max(FIRST_PAUSE_MS, (now.getTime() - since.getTime()) / 2);
      const error = new SignInRefused(whose, failure.status, failure.message);
      refusals.set(id, {
        error,
        since,
        wantedAt: now,
        askAt: new Date(now.getTime() + Math.min(LONGEST_PAUSE_MS, pause)),
      });
      return error;
    },

    accepted(installationId) {
      accept(undefined);
      if (installationId !== undefined) accept(installationId);
    },

    signedOut() {
      const now = clock.now().getTime();
      for (const [id, { wantedAt }] of refusals) {
        if (now - wantedAt.getTime() > FORGOTTEN_MS) refusals.delete(id);
      }
      return [...refusals].map(([installationId, { since, error }]) => ({
        installationId,
        since,
        status: error.status,
      }));
    },
  };
}

/** A `fetch` for an installation's tokens that pauses after GitHub refused one. */
export function watched(fetch: Fetch, watch: SignInWatch, installationId: number): Fetch {
  return async (input, init) => {
    watch.mayAsk(installationId);
    const response = await fetch(input, init);
    if (response.ok) watch.accepted(installationId);
    return response;
  };
}
