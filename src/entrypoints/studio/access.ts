import type { Context } from 'hono';
import type { Clock } from '../../core/clock.ts';
import { type GitHubForPeople, TokenRefused } from '../../ports/github-person.ts';
import { Visible } from '../../ports/visible.ts';
import { isMasked, masked } from './form-token.ts';
import { remembered } from './remembered.ts';
import type { Sessions, SignedIn } from './sessions.ts';
import type { Person, Viewer } from './viewer.ts';

/** Knows who sends a request and what that person may see. */
export interface Access {
  /** Whether people can sign in at all. */
  canSignIn: boolean;
  /** Whether somebody who did not sign in sees anything. */
  isPublic: boolean;
  /** @throws GitHubError if GitHub had to be asked and did not answer */
  viewer(context: Context): Promise<Viewer>;
  /** The same again, for an answer that lasts: somebody who has signed out meanwhile is nobody. @throws GitHubError */
  again(context: Context): Promise<Viewer>;
  /** Asks GitHub, or remembers for some minutes what it said. @throws GitHubError */
  visible(viewer: Viewer): Promise<Visible>;
  /**
   * Whether a form was made for the person who sends the request; `undefined` for somebody who has no session. Asks the
   * database only.
   */
  isProven(context: Context, token: string): Promise<boolean | undefined>;
  /**
   * The person's own token for GitHub, for what they do there themselves.
   * @throws TokenRefused, GitHubError
   */
  tokenOf(person: Person): Promise<string>;
}

/** How long GitHub's answer counts: what it stops showing to a person disappears within that time. */
const PERSON_MS = 300_000;
const PUBLIC_MS = 120_000;
/** Until GitHub is asked again after it did not answer, so that requests do not queue up behind an outage. */
const ASKED = { failedForMs: 5_000, most: 2_000 };

/** What is public, if everybody may read that. */
export type PublicRepositories = () => Promise<readonly number[]>;

/**
 * Access by what GitHub says: people see the repositories that both they and the App have access to, and everybody
 * sees public ones if the operator opened them. Where GitHub does not answer, nobody sees anything.
 */
export function accessByGitHub({
  clock,
  sessions,
  github,
  operators,
  publicRepositories,
}: {
  clock: Clock;
  /** Absent if nobody can sign in. */
  sessions: Sessions | undefined;
  github: GitHubForPeople | undefined;
  /** In lower case. */
  operators: readonly string[];
  publicRepositories: PublicRepositories | undefined;
}): Access {
  const shownTo = remembered<number, { login: string; ids: readonly number[] }>(clock, {
    ...ASKED,
    forMs: PERSON_MS,
  });
  const shownToAll = remembered<number, readonly number[]>(clock, { ...ASKED, forMs: PUBLIC_MS });
  const people = new WeakMap<Person, { signedIn: SignedIn; ids: readonly number[] }>();

  async function ask(signedIn: SignedIn) {
    const token = await tokenOf(signedIn);
    if (!github) throw new TokenRefused('nobody can sign in');
    const [owner, ids] = await Promise.all([github.owner(token), github.repositoryIds(token)]);
    if (owner.id !== signedIn.row.personId) throw new TokenRefused('the token belongs to somebody else');
    if (owner.login !== signedIn.row.login) await sessions?.rename(signedIn, owner.login);
    return { login: owner.login, ids };
  }

  async function tokenOf(signedIn: SignedIn): Promise<string> {
    if (!sessions) throw new TokenRefused('nobody can sign in');
    return sessions.accessToken(signedIn);
  }

  /** @param context of an answer that has not begun */
  async function viewerOf(signedIn: SignedIn | undefined, context?: Context): Promise<Viewer> {
    if (!signedIn) return { kind: 'nobody' };
    const id = signedIn.row.personId;
    for (;;) {
      let isOwn = false;
      const answer = shownTo.get(id, () => {
        isOwn = true;
        return ask(signedIn);
      });
      try {
        const { login, ids } = await answer;
        const viewer: Person = {
          kind: 'person',
          id,
          login,
          isOperator: operators.includes(login.toLowerCase()),
          csrf: masked(signedIn.secrets.form),
        };
        people.set(viewer, { signedIn, ids });
        return viewer;
      } catch (error) {
        if (!(error instanceof TokenRefused)) throw error;
        shownTo.forget(id, answer);
        // Another session of the same person asked, whose token says nothing about that of this one.
        if (!isOwn) continue;
        await sessions?.end(signedIn, context);
        return { kind: 'nobody' };
      }
    }
  }

  const publicIds = () =>
    publicRepositories ? shownToAll.get(0, publicRepositories) : Promise.resolve<readonly number[]>([]);

  return {
    canSignIn: sessions !== undefined,
    isPublic: publicRepositories !== undefined,

    viewer: async (context) => viewerOf(await sessions?.of(context), context),

    async again(context) {
      const before = await sessions?.of(context);
      return viewerOf(before && (await sessions?.again(before)));
    },

    async visible(viewer) {
      if (viewer.kind === 'nobody') return Visible.only([...(await publicIds())]);
      const own = (viewer.kind === 'person' && people.get(viewer)?.ids) || [];
      // Without an answer about what is public, people still see what is theirs.
      const others = await publicIds().catch((): readonly number[] => []);
      return Visible.only([...new Set([...own, ...others])]);
    },

    async isProven(context, token) {
      const signedIn = await sessions?.of(context);
      return signedIn && isMasked(token, signedIn.secrets.form);
    },

    async tokenOf(person) {
      const known = people.get(person);
      if (!known) throw new TokenRefused('the person did not sign in');
      return tokenOf(known.signedIn);
    },
  };
}
