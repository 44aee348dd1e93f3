import type { Clock } from '../../core/clock.ts';
import type { Log } from '../../core/log.ts';
import { type SignedOut, SignInRefused } from '../../ports/github.ts';
import type { RequestFailure } from './failure.ts';
import type { Fetch } from './transport.ts';

/** The longest pause between two sign-ins that GitHub may refuse, in milliseconds; the first is a second long. */
const LONGEST_PAUSE_MS = 60_000;
const FIRST_PAUSE_MS = 1_000;
/** Work that waits tries at least this often, in milliseconds; a refusal that is older concerns nobody any more. */
const FORGOTTEN_MS = 15 * 60_000;

interface Refused {
  error: SignInRefused;
  since: Date;
  /** When somebody last wanted to sign in. */
  wantedAt: Date;
  /** When GitHub is asked again. */
  askAt: Date;
}

/**
 * Knows who GitHub does not let sign in, and asks it seldom enough: without a pause, each waiting job would send requests that can
 * only be refused, after which GitHub refuses valid credentials, too ("Failed login limit":
 * https://docs.github.com/en/rest/authentication/authenticating-to-the-rest-api#failed-login-limit). One for all installations, since
 * the app's own key is behind each of them.
 */
export interface SignInWatch {
  /** @throws SignInRefused when GitHub refused lately, and it is not yet time to ask again. */
  mayAsk(installationId: number | undefined): void;
  /** GitHub refused the installation, or, with none named, the app itself: returns what to throw. */
  refused(installationId: number | undefined, failure: RequestFailure): SignInRefused;
  /** GitHub accepted the app's key, and with it the installation, if one is named. */
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

/** A `fetch` for an installation's tokens that leaves GitHub alone for a while after it refused one. */
export function watched(fetch: Fetch, watch: SignInWatch, installationId: number): Fetch {
  return async (input, init) => {
    watch.mayAsk(installationId);
    const response = await fetch(input, init);
    if (response.ok) watch.accepted(installationId);
    return response;
  };
}
