import { Hono } from 'hono';
import type { Chain } from '../../../domain/chain/chain.ts';
import { defaultInputs } from '../../../domain/chain/chain-inputs.ts';
import { MAX_CONFIGURATION_BYTES } from '../../../domain/chain/configuration-files.ts';
import { applyingTo, type StoredChain } from '../../../domain/chain/stored.ts';
import { CHECK_TITLE, chainCheckPage } from '../../../messages/studio/chain-check.ts';
import {
  type ChainFields,
  chainFormAgain,
  dryRunRefused,
  NO_DRY_RUN,
} from '../../../messages/studio/chain-form.ts';
import { DRY_RUNS } from '../../../messages/studio/chain-path.ts';
import { dryRunPage } from '../../../messages/studio/dry-run.ts';
import { type Html, notice } from '../../../messages/studio/layout.ts';
import { livePart } from '../../../messages/studio/live.ts';
import { address } from '../../../messages/studio/parts.ts';
import { NO_ANSWER } from '../../../messages/studio/words.ts';
import type { CheckedChain } from '../../../ports/chain-tools.ts';
import { GitHubError, type Repo } from '../../../ports/github.ts';
import { TokenRefused } from '../../../ports/github-person.ts';
import { firesByHand, givenFor, textOf, withWrong, wrongSubject } from '../chain-given.ts';
import type { DryRun, NotBegun } from '../dry-runs.ts';
import { answerPage, type Env, type Request, type StudioParts } from '../frame.ts';
import { chainNamed, definitionIn } from '../known-chains.ts';
import type { Seeing } from '../live.ts';
import { rateLimit } from '../rate-limit.ts';
import { type Subject, subjectOf } from '../subject.ts';
import type { Person } from '../viewer.ts';

/** Of one person: each checks a text. */
const LIMIT = { most: 30, perMs: 60_000 };

/** What a form asks to be played. */
interface Wanted {
  name: string;
  /** As far as it is known here. */
  chain: Chain | undefined;
  /** Pasted. */
  text?: string;
}

/** Dry runs: what a chain would have done, for the person who asks and with their own access. */
export function dryRunPages(parts: StudioParts): Hono<Env> {
  const { storage, clock, access, live, dryRuns, chainTools, githubUrl, log } = parts;
  const pages = new Hono<Env>();
  if (!dryRuns) return pages;
  const limit = rateLimit(clock, LIMIT);

  pages.post(DRY_RUNS, async (context) => {
    const person = context.get('viewer');
    if (person.kind !== 'person') return context.notFound();
    if (!limit.allows(String(person.id))) return refused(context, { kind: 'too_often' });
    const sent = await context.req.parseBody();
    const subject = await subjectOf(storage.read, context.get('visible'), textOf(sent.on));
    let wanted: Wanted;
    if (sent.text === undefined) {
      const found = await chainNamed(parts, context, textOf(sent.chain));
      if (!found) return context.notFound();
      const chain =
        'wrong' in subject ? found.definition : await definitionIn(parts, found, subject.repositoryId);
      wanted = { name: found.name, chain };
    } else {
      // Browsers send the lines of a form with CRLF.
      const text = textOf(sent.text).replaceAll('\r\n', '\n');
      const checked = (await chainTools()).check(text);
      const { name, chain } = checked;
      if (checked.errors.length > 0 || name === undefined)
        return checkPage(context, person, text, givenFor(undefined, sent).fields, checked);
      wanted = { name, chain, text };
    }
    const { fields, values, isWrong } = givenFor(wanted.chain, sent);
    if (!('wrong' in subject) && !isWrong) return begin(context, person, wanted, subject, values);
    const again = 'wrong' in subject ? withWrong(fields, wrongSubject(subject)) : fields;
    if (wanted.text !== undefined) return checkPage(context, person, wanted.text, again);
    const main = chainFormAgain(wanted.name, person.csrf, again);
    return answerPage(parts, context, { title: wanted.name, main }, 422);
  });

  pages.get(`${DRY_RUNS}/:id`, async (context) => {
    const { id } = context.req.param();
    const seeing = { viewer: context.get('viewer'), visible: context.get('visible') };
    const found = await shownTo(seeing, id);
    if (!found) return context.notFound();
    const { dryRun, part } = found;
    const events = address(`${DRY_RUNS}/${id}/events`, { since: dryRun.stamp });
    return answerPage(parts, context, {
      title: `Dry run of ${dryRun.chain}`,
      main: dryRun.end ? part : livePart({ address: events, nonce: context.get('nonce'), part }),
    });
  });

  pages.get(`${DRY_RUNS}/:id/events`, async (context) => {
    const { id } = context.req.param();
    const seeing = { viewer: context.get('viewer'), visible: context.get('visible') };
    if (!(await shownTo(seeing, id))) return context.notFound();
    return live.follow(context, seeing, {
      stamp: async (now) => (await shownTo(now, id))?.dryRun.stamp,
      part: async (now) => {
        const html = (await shownTo(now, id))?.part;
        return html && { html };
      },
    });
  });

  pages.post(`${DRY_RUNS}/:id/stop`, async (context) => {
    const { id } = context.req.param();
    const person = context.get('viewer');
    if (person.kind !== 'person' || !(await dryRuns.of(person.id, id))) return context.notFound();
    await dryRuns.stop(person.id, id);
    return context.redirect(`${DRY_RUNS}/${id}`, 303);
  });

  return pages;

  function checkPage(
    context: Request,
    { csrf }: Person,
    text: string,
    fields: ChainFields,
    checked?: CheckedChain,
  ): Promise<Response> {
    const shown = Buffer.byteLength(text) > MAX_CONFIGURATION_BYTES ? '' : text;
    const main = chainCheckPage({
      text: shown,
      ...(checked && { checked }),
      dryRun: { ...fields, fires: false },
      csrf,
    });
    return answerPage(parts, context, { title: CHECK_TITLE, main }, 422);
  }

  function refused(context: Request, because: NotBegun): Promise<Response> {
    const own = because.kind === 'own' ? because.id : undefined;
    const main = dryRunRefused(because.kind, own);
    return answerPage(parts, context, { title: NO_DRY_RUN, main }, own === undefined ? 429 : 409);
  }

  async function begin(
    context: Request,
    person: Person,
    { name, chain, text }: Wanted,
    { repositoryId, repository, pullRequest }: Subject,
    values: Readonly<Record<string, string>>,
  ): Promise<Response> {
    const wait = await dryRuns?.inTheWay(person.id);
    if (wait) return refused(context, wait);
    const [owner = '', repo = ''] = repository.split('/');
    const of = { owner, name: repo };
    let token: string;
    try {
      token = await access.tokenOf(person);
    } catch (error) {
      if (!(error instanceof GitHubError || error instanceof TokenRefused)) throw error;
      log.warn({ err: error }, 'Studio has no token for a dry run');
      return answerPage(parts, context, { title: NO_ANSWER.title, main: notice(NO_ANSWER) }, 503);
    }
    const usual = defaultInputs(chain?.inputs);
    // With other inputs than its trigger would give, somebody fires it.
    const isFired =
      firesByHand(chain) === 'only' ||
      Object.entries(values).some(([name, value]) => String(usual[name]) !== value);
    const begun = await dryRuns?.begin(
      {
        repo: of,
        pullRequest,
        chain: name,
        ...(text !== undefined && { text }),
        ...(isFired && { fire: { actor: person.login, inputs: values } }),
        stored: definedIn(await storage.read.chains.all(), of),
      },
      { personId: person.id, repositoryId, token },
    );
    if (begun?.kind !== 'begun') return refused(context, begun ?? { kind: 'busy' });
    log.info({ chain: name, repository, pull_request: pullRequest, login: person.login }, 'a dry run began');
    return context.redirect(`${DRY_RUNS}/${begun.id}`, 303);
  }

  async function shownTo(
    { viewer, visible }: Seeing,
    id: string,
  ): Promise<{ dryRun: DryRun; part: Html } | undefined> {
    if (viewer.kind !== 'person') return undefined;
    const dryRun = await dryRuns?.of(viewer.id, id);
    if (!dryRun || !visible.has(dryRun.repositoryId)) return undefined;
    return { dryRun, part: dryRunPage(dryRun, { githubUrl, csrf: viewer.csrf }) };
  }
}

/** The definitions on this server that apply there. That a chain is paused does not keep anybody from trying it. */
function definedIn(rows: readonly StoredChain[], repo: Repo): StoredChain[] {
  return applyingTo(rows, repo).flatMap((row) =>
    row.definition === null ? [] : [{ ...row, status: 'active' }],
  );
}
