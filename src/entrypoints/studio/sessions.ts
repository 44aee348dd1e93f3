import { createHash, randomBytes } from 'node:crypto';
import type { Context } from 'hono';
import { deleteCookie, getCookie, setCookie } from 'hono/cookie';
import { LRUCache } from 'lru-cache';
import { z } from 'zod';
import type { Clock } from '../../core/clock.ts';
import { type GitHubForPeople, type PersonTokens, TokenRefused } from '../../ports/github-person.ts';
import type { Storage } from '../../ports/storage.ts';
import type { StudioSession } from '../../ports/studio-sessions.ts';
import { newFormSecret } from './form-token.ts';
import { sealFor } from './sealed.ts';

/** Without a request for so long, a session ends. */
const IDLE_MS = 24 * 3_600_000;
/** So long after the sign-in, a session ends. */
const ABSOLUTE_MS = 14 * 24 * 3_600_000;
/** How often the token in the cookie changes. */
const ROTATE_MS = 3_600_000;
/** How long the token before counts once the browser has the new one: other requests are still under way. */
const GRACE_MS = 60_000;
/** How exactly the last request is known, so that most requests write nothing. */
const SEEN_MS = 600_000;
/** A token that expires sooner is refreshed first. */
const MARGIN_MS = 60_000;

/** Sessions on the page of an account. */
const MOST_LISTED = 50;

const secretsSchema = z.strictObject({
  access: z.string(),
  accessUntil: z.iso.datetime().nullable(),
  refresh: z.string().nullable(),
  /** What the forms of the sign-in prove to know. */
  form: z.string(),
});
type Secrets = z.infer<typeof secretsSchema>;

/** Somebody's session, as one request found it. */
export interface SignedIn {
  /** The hash in the cookie, by which the session is still found after its token has changed. */
  foundBy: string;
  row: StudioSession;
  secrets: Secrets;
}

/** A session of a person, in some browser. */
interface OpenSession {
  signedInAt: Date;
  seenAt: Date;
  /** The one of the request. */
  isThis: boolean;
}

export interface Sessions {
  /** The session of the request. Changes the token in the cookie when it is time. */
  of(context: Context): Promise<SignedIn | undefined>;
  /** The session as it is now, for an answer that lasts: it may have ended, and its token may be another one. Changes nothing. */
  again(signedIn: SignedIn): Promise<SignedIn | undefined>;
  /** Begins a session, always with a new token. Ends the one that the browser had. */
  begin(context: Context, tokens: PersonTokens, owner: { id: number; login: string }): Promise<void>;
  /** @param context of an answer that has not begun, which takes the cookie away */
  end(signedIn: SignedIn, context?: Context): Promise<void>;
  /** The newest sessions of the person, in all browsers. */
  all(signedIn: SignedIn): Promise<readonly OpenSession[]>;
  /** Ends all of them. */
  endAll(signedIn: SignedIn, context: Context): Promise<void>;
  /** The person has another login now. */
  rename(signedIn: SignedIn, login: string): Promise<void>;
  /** The person's token for GitHub. @throws TokenRefused if it expired and GitHub gives no new one */
  accessToken(signedIn: SignedIn): Promise<string>;
}

/**
 * Sessions of people, in the database: a row is found by the hash of the random token in a cookie, so that nobody who
 * reads the database can use it. https://cheatsheetseries.owasp.org/cheatsheets/Session_Management_Cheat_Sheet.html
 */
export function createSessions({
  storage,
  clock,
  github,
  clientSecret,
  isSecure,
}: {
  storage: Storage;
  clock: Clock;
  github: GitHubForPeople;
  clientSecret: string;
  /** Browsers send the cookie by HTTPS only. */
  isSecure: boolean;
}): Sessions {
  const seal = sealFor('sessions', clientSecret);
  // Browsers accept `__Host-` only with `Secure` and for this host: a neighbouring host cannot set it.
  const cookie = isSecure ? '__Host-countersign' : 'countersign';
  const found = new WeakMap<Request, Promise<SignedIn | undefined>>();
  /** By the refresh token, which works once. Requests that read the session before it was used get the same answer. */
  const refreshed = new LRUCache<string, Promise<PersonTokens>>({ max: 1_000 });

  function give(context: Context, token: string, signedInAt: Date): void {
    const left = signedInAt.getTime() + ABSOLUTE_MS - clock.now().getTime();
    setCookie(context, cookie, token, {
      httpOnly: true,
      sameSite: 'Lax',
      path: '/',
      secure: isSecure,
      maxAge: Math.floor(left / 1_000),
    });
  }

  function expiry(signedInAt: Date): Date {
    return new Date(Math.min(clock.now().getTime() + IDLE_MS, signedInAt.getTime() + ABSOLUTE_MS));
  }

  async function find(context: Context): Promise<SignedIn | undefined> {
    const token = getCookie(context, cookie);
    if (token === undefined || token.length > 100) return undefined;
    const foundBy = hashOf(token);
    const row = await storage.read.studioSessions.find(foundBy, clock.now());
    if (!row) return undefined;
    const secrets = secretsOf(row);
    if (!secrets) return undefined;
    await keep(context, row, foundBy);
    return { foundBy, row, secrets };
  }

  function secretsOf({ sealed }: StudioSession): Secrets | undefined {
    const text = seal.open(sealed);
    return secretsSchema.safeParse(text === undefined ? undefined : JSON.parse(text)).data;
  }

  /** Writes what a request changes of its session; most change nothing. */
  async function keep(context: Context, row: StudioSession, foundBy: string): Promise<void> {
    const now = clock.now();
    const age = now.getTime() - row.rotatedAt.getTime();
    const isCurrent = row.tokenHash === foundBy;
    // If the browser still has the token before, it may never have got the answer with the new one.
    const isLost = !isCurrent && row.previousUntil === null && age >= GRACE_MS;
    const arrived = isCurrent && row.previousHash !== null && row.previousUntil === null;
    const next = age >= ROTATE_MS || isLost ? newToken() : undefined;
    const isSeen = now.getTime() - row.seenAt.getTime() < SEEN_MS;
    if (!next && !arrived && isSeen) return;
    const changed = {
      seenAt: now,
      expiresAt: expiry(row.signedInAt),
      ...(arrived && { previousUntil: new Date(now.getTime() + GRACE_MS) }),
      ...(next !== undefined && {
        tokenHash: hashOf(next),
        previousHash: foundBy,
        previousUntil: null,
        rotatedAt: now,
      }),
    };
    const done = await storage.transaction((tx) => tx.studioSessions.change(row.tokenHash, changed));
    // Otherwise another request was first, and its answer has the new token.
    if (done && next !== undefined) give(context, next, row.signedInAt);
  }

  const sealed = (secrets: Secrets) => seal.seal(JSON.stringify(secrets));

  /** The token may have changed since the request found the session. */
  async function change(
    { foundBy }: SignedIn,
    changed: Partial<Pick<StudioSession, 'sealed' | 'login'>>,
  ): Promise<void> {
    await storage.transaction(async (tx) => {
      const row = await tx.studioSessions.find(foundBy, clock.now());
      if (row) await tx.studioSessions.change(row.tokenHash, changed);
    });
  }

  const sessions: Sessions = {
    of(context) {
      const known = found.get(context.req.raw);
      if (known) return known;
      const finding = find(context);
      found.set(context.req.raw, finding);
      return finding;
    },

    async again({ row: { personId, signedInAt } }) {
      const row = await storage.read.studioSessions.ofSignIn({ personId, signedInAt }, clock.now());
      const secrets = row && secretsOf(row);
      return secrets && { foundBy: row.tokenHash, row, secrets };
    },

    async begin(context, tokens, owner) {
      const before = await sessions.of(context);
      const token = newToken();
      const now = clock.now();
      await storage.transaction(async (tx) => {
        await tx.studioSessions.removeExpired(now);
        if (before) await removeFound(tx.studioSessions, before.foundBy, now);
        await tx.studioSessions.insert({
          tokenHash: hashOf(token),
          previousHash: null,
          previousUntil: null,
          personId: owner.id,
          login: owner.login,
          sealed: sealed({ ...shown(tokens), form: newFormSecret() }),
          signedInAt: now,
          rotatedAt: now,
          seenAt: now,
          expiresAt: expiry(now),
        });
      });
      give(context, token, now);
    },

    async end({ foundBy }, context) {
      await storage.transaction((tx) => removeFound(tx.studioSessions, foundBy, clock.now()));
      if (context) deleteCookie(context, cookie, { path: '/', secure: isSecure });
    },

    async all({ row }) {
      const rows = await storage.read.studioSessions.ofPerson(row.personId, MOST_LISTED, clock.now());
      // Its token may have changed with this request.
      const isThis = ({ signedInAt }: StudioSession) => signedInAt.getTime() === row.signedInAt.getTime();
      return rows.map((one) => ({ signedInAt: one.signedInAt, seenAt: one.seenAt, isThis: isThis(one) }));
    },

    async endAll({ row }, context) {
      await storage.transaction((tx) => tx.studioSessions.removeOfPerson(row.personId));
      deleteCookie(context, cookie, { path: '/', secure: isSecure });
    },

    rename: (signedIn, login) => change(signedIn, { login }),

    async accessToken(signedIn) {
      const { access, accessUntil, refresh } = signedIn.secrets;
      const until = accessUntil === null ? Number.POSITIVE_INFINITY : Date.parse(accessUntil);
      if (until - MARGIN_MS > clock.now().getTime()) return access;
      if (refresh === null) throw new TokenRefused('the token of the person expired');
      const known = refreshed.get(refresh);
      const asked =
        known ??
        github.refresh(refresh).then(async (tokens) => {
          await change(signedIn, { sealed: sealed({ ...shown(tokens), form: signedIn.secrets.form }) });
          return tokens;
        });
      if (!known) {
        refreshed.set(refresh, asked);
        asked.catch(() => refreshed.delete(refresh));
      }
      return (await asked).access;
    },
  };
  return sessions;
}

async function removeFound(
  table: Storage['read']['studioSessions'],
  foundBy: string,
  now: Date,
): Promise<void> {
  const row = await table.find(foundBy, now);
  if (row) await table.remove(row.tokenHash);
}

function newToken(): string {
  return randomBytes(32).toString('base64url');
}

function hashOf(token: string): string {
  return createHash('sha256').update(token).digest('hex');
}

function shown({ access, accessUntil, refresh }: PersonTokens): Omit<Secrets, 'form'> {
  return { access, accessUntil: accessUntil?.toISOString() ?? null, refresh };
}
