import { Hono } from 'hono';
import { timeSortedIds } from '../../../core/ids.ts';
import type { Chain } from '../../../domain/chain/chain.ts';
import { cannotWorkOn, workingOfStep } from '../../../domain/chain/subject.ts';
import type { Event } from '../../../domain/event/event.ts';
import { ANSWERED } from '../../../messages/studio/answering.ts';
import {
  chainFormAgain,
  FIRED_TITLE,
  firedPage,
  needsPullRequest,
  unknownPullRequest,
} from '../../../messages/studio/chain-form.ts';
import { FIRED } from '../../../messages/studio/chain-path.ts';
import { livePart } from '../../../messages/studio/live.ts';
import { address } from '../../../messages/studio/parts.ts';
import { repositoryKey } from '../../../ports/job-keys.ts';
import { eventJob, type NewJob } from '../../../ports/jobs.ts';
import type { Queue } from '../../../ports/queue.ts';
import { fireCommand, firesByHand, givenFor, textOf, withWrong, wrongSubject } from '../chain-given.ts';
import { ASKED, answerPage, type Env, type Request, type StudioParts } from '../frame.ts';
import { chainNamed, definitionIn } from '../known-chains.ts';
import type { Seeing } from '../live.ts';
import { rateLimit } from '../rate-limit.ts';
import { type Subject, subjectOf } from '../subject.ts';
import type { Person } from '../viewer.ts';

const LIMIT = { most: 30, perMs: 60_000 };
const DAY_MS = 24 * 3_600_000;

/**
 * Firing a chain by hand. For a pull request, it is the command `/countersign fire`; without one, an event with the same rights.
 * The person's role is read from GitHub when it is executed, and not here.
 */
export function firingPages(parts: StudioParts, { queue }: { queue: Pick<Queue, 'enqueue'> }): Hono<Env> {
  const { storage, clock, live } = parts;
  const pages = new Hono<Env>();
  const limit = rateLimit(clock, LIMIT);
  const ids = timeSortedIds(() => clock.now());

  pages.post(FIRED, async (context) => {
    const person = context.get('viewer');
    if (person.kind !== 'person') return context.notFound();
    const sent = await context.req.parseBody();
    const known = await chainNamed(parts, context, textOf(sent.chain));
    if (!known) return context.notFound();
    const subject = await subjectOf(storage.read, context.get('visible'), textOf(sent.on));
    const chain =
      'wrong' in subject ? known.definition : await definitionIn(parts, known, subject.repositoryId);
    if (!chain || firesByHand(chain) === 'no') return context.notFound();
    const { fields, values, isWrong } = givenFor(chain, sent);
    const again = (wrong?: string) => {
      const shown = wrong === undefined ? fields : withWrong(fields, wrong);
      const main = chainFormAgain(known.name, person.csrf, shown);
      return answerPage(parts, context, { title: known.name, main }, 422);
    };
    if ('wrong' in subject) return again(wrongSubject(subject));
    if (isWrong) return again();
    if (!limit.allows(String(person.id))) return again(ANSWERED.tooOften);
    const id = ids.next('run');
    const job = await jobFor(subject, chain, { id, name: known.name, person, values });
    return 'wrong' in job ? again(job.wrong) : fire(context, { id, person, subject, job });
  });

  pages.get(`${FIRED}/:id`, async (context) => {
    const { id } = context.req.param();
    const found = await stateOf({ viewer: context.get('viewer'), visible: context.get('visible') }, id);
    if (!found) return context.notFound();
    if (found.hasBegun) return context.redirect(address(`/runs/${id}`, { [ASKED]: id }), 303);
    const part = firedPage(id, found.answer, false);
    const events = address(`${FIRED}/${id}/events`, { since: found.stamp });
    return answerPage(parts, context, {
      title: FIRED_TITLE,
      main:
        found.answer?.ok === false ? part : livePart({ address: events, nonce: context.get('nonce'), part }),
    });
  });

  pages.get(`${FIRED}/:id/events`, async (context) => {
    const { id } = context.req.param();
    const seeing = { viewer: context.get('viewer'), visible: context.get('visible') };
    if (!(await stateOf(seeing, id))) return context.notFound();
    return live.follow(context, seeing, {
      stamp: async (now) => (await stateOf(now, id))?.stamp,
      part: async (now) => {
        const found = await stateOf(now, id);
        return found && { html: firedPage(id, found.answer, found.hasBegun) };
      },
    });
  });

  return pages;

  /** What starts the chain, or why nothing can. */
  async function jobFor(
    { repositoryId, repository, installationId, pullRequest }: Subject,
    chain: Chain,
    {
      id,
      name,
      person,
      values,
    }: { id: string; name: string; person: Person; values: Record<string, string> },
  ): Promise<NewJob | { wrong: string }> {
    const [owner = '', repo = ''] = repository.split('/');
    const on = { installation_id: installationId, repository: { id: repositoryId, owner, name: repo } };
    const at = clock.now().toISOString();
    const asked = { actor: person.login, run_id: id, at };
    if (pullRequest === null) {
      const because = cannotWorkOn('commit', chain.steps.map(workingOfStep));
      if (because !== undefined) return { wrong: needsPullRequest(because) };
      const event: Event = { kind: 'fire.requested', ...on, ...asked, chain: name, inputs: values };
      return { kind: 'event', installationId, key: repositoryKey(repositoryId), payload: { event } };
    }
    const row = await storage.read.pullRequests.get(repositoryId, pullRequest);
    if (!row?.headSha) return { wrong: unknownPullRequest(pullRequest) };
    return eventJob({
      kind: 'command.issued',
      ...on,
      pull_request: pullRequest,
      actor: person.login,
      text: fireCommand(name, values),
      via: { kind: 'studio', command: id, head_sha: row.headSha, at, run_id: id },
    });
  }

  /** The row of what somebody asked for has the id of the run that they wait for. */
  async function fire(
    context: Request,
    { id, person, subject, job }: { id: string; person: Person; subject: Subject; job: NewJob },
  ): Promise<Response> {
    const now = clock.now();
    await storage.transaction(async (tx) => {
      await tx.studioCommands.removeBefore(new Date(now.getTime() - DAY_MS));
      await tx.studioCommands.insert({
        id,
        personId: person.id,
        repositoryId: subject.repositoryId,
        askedAt: now,
      });
      await queue.enqueue(tx, job);
    });
    return context.redirect(`${FIRED}/${id}`, 303);
  }

  /** `undefined` for anybody but the person who asked. */
  async function stateOf({ viewer, visible }: Seeing, id: string) {
    const command = await storage.read.studioCommands.get(id);
    if (viewer.kind !== 'person' || command?.personId !== viewer.id || !visible.has(command.repositoryId))
      return undefined;
    const hasBegun = (await storage.read.runs.get(id)) !== undefined;
    const { answer } = command;
    return { answer, hasBegun, stamp: `${answer === null ? '' : answer.ok}-${hasBegun}` };
  }
}
