import { Hono } from 'hono';
import { MAX_CONFIGURATION_BYTES } from '../../../domain/chain/configuration-files.ts';
import { CHECK_TITLE, chainCheckPage, TOO_MANY_CHECKS } from '../../../messages/studio/chain-check.ts';
import { fieldsFor } from '../chain-given.ts';
import { answerPage, type Env, type Request, type StudioParts } from '../frame.ts';
import { knownChains, textOfChain } from '../known-chains.ts';
import { addressOf, rateLimit } from '../rate-limit.ts';

export const CHECK = '/chains/check';

const LIMIT = { most: 20, perMs: 60_000 };
/** Of all people together, because somebody can have many addresses. */
const LIMIT_OF_ALL = { most: 120, perMs: 60_000 };

/** The check of a text that is not in a repository yet. It reads nothing and keeps nothing. */
export function chainCheckPages(parts: StudioParts): Hono<Env> {
  const { chainTools, clock, dryRuns } = parts;
  const pages = new Hono<Env>();
  const checks = rateLimit(clock, LIMIT);
  const allChecks = rateLimit(clock, LIMIT_OF_ALL);

  function answer(
    context: Request,
    asked: Omit<Parameters<typeof chainCheckPage>[0], 'csrf'>,
    status: 200 | 422 | 429 = 200,
  ): Promise<Response> {
    const viewer = context.get('viewer');
    const csrf = viewer.kind === 'person' ? viewer.csrf : undefined;
    const fields = fieldsFor(asked.checked?.chain, undefined);
    const dryRun = csrf !== undefined && dryRuns ? { ...fields, fires: false } : undefined;
    return answerPage(
      parts,
      context,
      { title: CHECK_TITLE, main: chainCheckPage({ ...asked, csrf, dryRun }) },
      status,
    );
  }

  pages.get(CHECK, async (context) => {
    const chain = context.req.query('chain');
    const text =
      chain === undefined
        ? ''
        : (textOfChain(await knownChains(parts, context, { names: [chain] }), chain) ?? '');
    return answer(context, { text });
  });

  pages.post(CHECK, async (context) => {
    const viewer = context.get('viewer');
    const sender =
      viewer.kind === 'person' ? String(viewer.id) : addressOf(context.req.header('x-forwarded-for'));
    const { text: given } = await context.req.parseBody();
    // Browsers send the lines of a form with CRLF.
    const text = typeof given === 'string' ? given.replaceAll('\r\n', '\n') : '';
    const shown = Buffer.byteLength(text) > 2 * MAX_CONFIGURATION_BYTES ? '' : text;
    if (!checks.allows(sender) || !allChecks.allows(''))
      return answer(context, { text: shown, refused: TOO_MANY_CHECKS }, 429);
    const checked = (await chainTools()).check(text);
    return answer(context, { text: shown, checked }, checked.errors.length > 0 ? 422 : 200);
  });

  return pages;
}
