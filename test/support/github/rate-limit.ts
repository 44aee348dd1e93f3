import { ApiError } from './api-error.ts';
import { type Caller, NOBODY, REQUESTS_OF_NOBODY } from './auth.ts';

const WINDOW_MS = 3_600_000;

/** `undefined`: a request that was answered before anybody looked at its token, or one of a page. */
export type Asker = Caller | 'nobody' | undefined;

interface Window {
  used: number;
  resetAt: number;
}

/** GitHub's primary limit: so many requests, or points of GraphQL, an hour for each installation and for the app itself. */
export class RateLimit {
  readonly #limit: number;
  readonly #resource: string;
  readonly #now: () => Date;
  readonly #windows = new Map<number, Window>();

  constructor(limit: number, now: () => Date, resource: 'core' | 'graphql' = 'core') {
    this.#resource = resource;
    this.#limit = limit;
    this.#now = now;
  }

  isSpent(caller: Asker): boolean {
    return this.#window(caller).used >= this.#limitOf(caller);
  }

  /** @throws ApiError 403 when the hour's requests are used up. */
  refuseWhenSpent(caller: Asker): void {
    if (this.isSpent(caller)) throw new ApiError(403, 'API rate limit exceeded for installation.');
  }

  spend(caller: Asker, points = 1): void {
    const window = this.#window(caller);
    window.used = Math.min(window.used + points, this.#limitOf(caller));
  }

  /** Somebody else used up the hour's budget, down to so many requests, for everybody who has asked so far. */
  leave(left: number): void {
    for (const window of this.#windows.values()) window.used = this.#limit - left;
  }

  headers(caller: Asker): Record<string, string> {
    const { limit, remaining, used, reset } = this.#figures(caller);
    return {
      'x-ratelimit-limit': String(limit),
      'x-ratelimit-remaining': String(remaining),
      'x-ratelimit-used': String(used),
      'x-ratelimit-reset': String(reset),
      'x-ratelimit-resource': this.#resource,
    };
  }

  view(caller: Asker): object {
    const rate = this.#figures(caller);
    return { resources: { core: { ...rate, resource: 'core' } }, rate };
  }

  #figures(caller: Asker) {
    const { used, resetAt } = this.#window(caller);
    return {
      limit: this.#limitOf(caller),
      used,
      remaining: this.#limitOf(caller) - used,
      reset: Math.ceil(resetAt / 1000),
    };
  }

  #limitOf(caller: Asker): number {
    return caller === 'nobody' ? Math.min(this.#limit, REQUESTS_OF_NOBODY) : this.#limit;
  }

  #window(caller: Asker): Window {
    const key = caller === 'nobody' ? NOBODY : caller?.kind === 'installation' ? caller.installation.id : 0;
    const now = this.#now().getTime();
    const known = this.#windows.get(key);
    if (known && known.resetAt > now) return known;
    const window = { used: 0, resetAt: now + WINDOW_MS };
    this.#windows.set(key, window);
    return window;
  }
}
