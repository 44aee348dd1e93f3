import { Hono } from 'hono';
import { ACCOUNT, accountPage, SIGN_OUT_EVERYWHERE } from '../../../messages/studio/account.ts';
import type { Html } from '../../../messages/studio/layout.ts';
import {
  MOST_TOKENS,
  madeToken,
  TOKENS,
  type TokenFields,
  WRONG_TOKEN,
} from '../../../messages/studio/tokens.ts';
import { answerPage, type Env, type Request, type StudioParts } from '../frame.ts';
import { emptyTokenFields, tokenOf, tokenWanted } from '../new-token.ts';
import { rateLimit } from '../rate-limit.ts';
import type { Sessions } from '../sessions.ts';

/** Also those that are over, after all that can be used: what is not listed cannot be revoked. */
const TOKENS_SHOWN = 50;
const REPOSITORIES = 500;
/** How long a token is listed after it was revoked or expired. */
const OVER_MS = 30 * 86_400_000;
/** Tokens that one person makes: each is a row that stays for a while. */
const LIMIT = { most: 20, perMs: 3_600_000 };

/** Where somebody is signed in, the way out of everywhere, and their tokens: what a stolen session needs. */
export function accountPages(parts: StudioParts, { sessions }: { sessions: Sessions }): Hono<Env> {
  const { storage, clock } = parts;
  const pages = new Hono<Env>();
  const limit = rateLimit(clock, LIMIT);

  pages.get(ACCOUNT, (context) => answer(context, {}));

  pages.post(TOKENS, async (context) => {
    const person = context.get('viewer');
    if (person.kind !== 'person') return context.notFound();
    const sent = await context.req.parseBody();
    const { fields, wanted } = await tokenWanted(storage.read, context.get('visible'), sent);
    if (!wanted) return answer(context, { fields });
    if (!limit.allows(String(person.id))) return answer(context, { fields, refused: WRONG_TOKEN.tooOften });
    const now = clock.now();
    const made = tokenOf(person, wanted, now);
    const isMade = await storage.transaction(async (tx) => {
      await tx.apiTokens.removeOver(person.id, new Date(now.getTime() - OVER_MS));
      if ((await tx.apiTokens.countUsable(person.id, now)) >= MOST_TOKENS) return false;
      await tx.apiTokens.insert(made.token);
      return true;
    });
    if (!isMade) return answer(context, { fields, refused: WRONG_TOKEN.tooManyTokens });
    return answer(context, { made: madeToken(made.token, made.secret) });
  });

  pages.post(`${TOKENS}/:id/revoke`, async (context) => {
    const person = context.get('viewer');
    const id = context.req.param('id');
    const isRevoked =
      person.kind === 'person' &&
      (await storage.transaction((tx) => tx.apiTokens.revoke(id, clock.now(), person.id)));
    return isRevoked ? context.redirect(`${ACCOUNT}#tokens`, 303) : context.notFound();
  });

  pages.post(SIGN_OUT_EVERYWHERE, async (context) => {
    const signedIn = await sessions.of(context);
    if (!signedIn) return context.notFound();
    await sessions.endAll(signedIn, context);
    return context.redirect('/', 303);
  });

  return pages;

  /** @param fields what is wrong with what somebody sent */
  async function answer(
    context: Request,
    { fields, refused, made }: { fields?: TokenFields; refused?: string; made?: Html },
  ): Promise<Response> {
    const viewer = context.get('viewer');
    const signedIn = await sessions.of(context);
    if (viewer.kind !== 'person' || !signedIn) return context.notFound();
    const { id, login, csrf } = viewer;
    const { insight, apiTokens } = storage.read;
    const repositories = await insight.repositories(context.get('visible'), REPOSITORIES);
    const main = accountPage({
      login,
      csrf,
      sessions: await sessions.all(signedIn),
      made,
      tokens: {
        tokens: await apiTokens.ofOwner(id, clock.now(), TOKENS_SHOWN),
        repositoryNames: new Map(repositories.map((one) => [one.id, one.name])),
        fields: fields ?? emptyTokenFields(repositories.map(({ name }) => name)),
        refused,
      },
      now: clock.now(),
    });
    return answerPage(parts, context, { title: login, main }, fields ? 422 : 200);
  }
}
