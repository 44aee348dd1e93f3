import { randomBytes } from 'node:crypto';
import { Hono } from 'hono';
import { approvalKey } from '../../../domain/policy/approval.ts';
import { tightened } from '../../../domain/policy/countersign-rules.ts';
import { type Run, repoOf } from '../../../domain/run/run.ts';
import { ANSWERED, BUTTONS } from '../../../messages/studio/answering.ts';
import { GitHubError } from '../../../ports/github.ts';
import { type GitHubForPeople, TokenRefused } from '../../../ports/github-person.ts';
import { repositoryKey } from '../../../ports/job-keys.ts';
import { eventJob } from '../../../ports/jobs.ts';
import type { Queue } from '../../../ports/queue.ts';
import { ASKED, type Env, type Request, type StudioParts } from '../frame.ts';
import { localPath } from '../local-path.ts';
import { rateLimit } from '../rate-limit.ts';
import type { Person } from '../viewer.ts';

const LIMIT = { most: 30, perMs: 60_000 };
const DAY_MS = 24 * 3_600_000;

const NAME = /^[a-z0-9][a-z0-9_.-]{0,99}$/i;
const SHA = /^[0-9a-f]{40}([0-9a-f]{24})?$/;

type Fields = Record<string, string>;
type Answer = { ok: boolean; text: string };

/**
 * What people do from pages. An answer to a question is the person's own reaction, made with their own token; a button
 * is the event of the command with the same name. Neither decides anything here.
 */
export function answeringPages(
  { storage, clock, access, log }: StudioParts,
  { github, queue }: { github: GitHubForPeople; queue: Pick<Queue, 'enqueue'> },
): Hono<Env> {
  const pages = new Hono<Env>();
  const limit = rateLimit(clock, LIMIT);

  /** Only people act. Somebody who reads with the link of this machine sees no buttons. */
  async function acting(context: Request): Promise<{ person: Person; fields: Fields } | undefined> {
    const person = context.get('viewer');
    if (person.kind !== 'person') return undefined;
    const body = await context.req.parseBody();
    const texts = Object.entries(body).flatMap(([name, value]) =>
      typeof value === 'string' ? [[name, value] as const] : [],
    );
    return { person, fields: Object.fromEntries(texts) };
  }

  /** Stores what the person asked for, in one transaction with what it leads to, and leads them back. */
  async function lead(
    context: Request,
    { person, fields }: { person: Person; fields: Fields },
    repositoryId: number,
    outcome: { answer: Answer } | { enqueue(tx: Parameters<Queue['enqueue']>[0], id: string): Promise<void> },
  ): Promise<Response> {
    const id = randomBytes(12).toString('base64url');
    const now = clock.now();
    await storage.transaction(async (tx) => {
      await tx.studioCommands.removeBefore(new Date(now.getTime() - DAY_MS));
      await tx.studioCommands.insert({ id, personId: person.id, repositoryId, askedAt: now });
      if ('answer' in outcome) await tx.studioCommands.answer(id, outcome.answer);
      else await outcome.enqueue(tx, id);
    });
    const back = new URL(localPath(fields.to), 'http://studio.invalid');
    back.searchParams.set(ASKED, id);
    return context.redirect(`${back.pathname}${back.search}`, 303);
  }

  async function react(
    { person, fields }: { person: Person; fields: Fields },
    run: Run,
    says: 'approve' | 'reject',
  ): Promise<Answer> {
    const approvals = await storage.read.approvals.ofRun(run.id);
    const approval = approvals.find(({ id, status }) => id === fields.approval && status === 'open');
    if (!approval) return { ok: false, text: ANSWERED.closed };
    const commentId = (await storage.read.effects.get(approvalKey(approval.id)))?.githubId;
    if (typeof commentId !== 'number') return { ok: false, text: ANSWERED.noComment };
    const state = await storage.read.runs.load(run.id);
    const index = state?.invocations.find(({ id }) => id === approval.invocationId)?.stepIndex ?? -1;
    const rules = tightened(run.settings.countersign, run.definition.steps[index]?.approval);
    const [content] = says === 'approve' ? rules.approve : rules.reject;
    if (content === undefined) return { ok: false, text: ANSWERED.closed };
    try {
      const token = await access.tokenOf(person);
      const result = await github.react(token, repoOf(run), commentId, content);
      if (result.kind === 'refused') return { ok: false, text: ANSWERED.refused(result.message) };
    } catch (error) {
      if (!(error instanceof GitHubError || error instanceof TokenRefused)) throw error;
      log.warn({ err: error, run: run.id }, 'a reaction from Studio may be missing');
      return { ok: false, text: ANSWERED.noAnswer };
    }
    log.info({ run: run.id, approval: approval.id, login: person.login, says }, 'answered from Studio');
    return { ok: true, text: ANSWERED.reacted(says, person.login) };
  }

  pages.post('/answers', async (context) => {
    const asked = await acting(context);
    const run = asked && (await storage.read.runs.get(asked.fields.run ?? ''));
    const says = asked?.fields.says;
    if (!asked || !run || !context.get('visible').has(run.repositoryId)) return context.notFound();
    if (says !== 'approve' && says !== 'reject') return context.notFound();
    const answer = limit.allows(String(asked.person.id))
      ? await react(asked, run, says)
      : { ok: false, text: ANSWERED.tooOften };
    const { pullRequest } = run;
    if (answer.ok && pullRequest !== null) {
      // GitHub sends no event for a reaction. The poller finds it anyway, but the person waits.
      const changed = { kind: 'approval.changed', ...placeOf(run), pull_request: pullRequest } as const;
      await storage.transaction((tx) => queue.enqueue(tx, eventJob(changed)));
    }
    return lead(context, asked, run.repositoryId, { answer });
  });

  pages.post('/commands', async (context) => {
    const asked = await acting(context);
    if (!asked) return context.notFound();
    const { fields, person } = asked;
    const visible = context.get('visible');
    const tooOften = () =>
      limit.allows(String(person.id)) ? undefined : { answer: { ok: false, text: ANSWERED.tooOften } };

    if (fields.run !== undefined) {
      const run = await storage.read.runs.get(fields.run);
      const { verb } = fields;
      if (!run || !visible.has(run.repositoryId) || run.pullRequest !== null) return context.notFound();
      if (verb !== 'rerun' && verb !== 'cancel') return context.notFound();
      const requested = {
        kind: 'run.requested',
        ...placeOf(run),
        asks: verb,
        run_id: run.id,
        head_sha: run.headSha,
        actor: person.login,
      } as const;
      return lead(
        context,
        asked,
        run.repositoryId,
        tooOften() ?? {
          enqueue: (tx, id) =>
            queue.enqueue(tx, {
              kind: 'event',
              installationId: run.installationId,
              key: repositoryKey(run.repositoryId),
              payload: { event: { ...requested, studio: id } },
            }),
        },
      );
    }

    const [repositoryId, number] = [Number(fields.repository), Number(fields.pull)];
    if (!Number.isSafeInteger(repositoryId) || !Number.isSafeInteger(number)) return context.notFound();
    if (!visible.has(repositoryId)) return context.notFound();
    const row = await storage.read.pullRequests.get(repositoryId, number);
    const text = commandText(fields);
    const head = fields.head ?? '';
    if (!row || text === undefined || !SHA.test(head)) return context.notFound();
    return lead(
      context,
      asked,
      repositoryId,
      tooOften() ?? {
        enqueue: (tx, id) =>
          queue.enqueue(
            tx,
            eventJob({
              kind: 'command.issued',
              ...placeOf(row),
              pull_request: number,
              actor: person.login,
              text,
              via: { kind: 'studio', command: id, head_sha: head, at: clock.now().toISOString() },
            }),
          ),
      },
    );
  });

  return pages;
}

function placeOf(of: Pick<Run, 'installationId' | 'repositoryId' | 'repository'>) {
  const { owner, name } = repoOf(of);
  return { installation_id: of.installationId, repository: { id: of.repositoryId, owner, name } };
}

/** The command as a comment would have it; `undefined` if no form could have been sent with these fields. */
function commandText({ verb = '', step }: Fields): string | undefined {
  if (!BUTTONS.some((one) => one === verb)) return undefined;
  if (step === undefined || step === '') return `/countersign ${verb}`;
  return verb === 'rerun' && NAME.test(step) ? `/countersign rerun ${step}` : undefined;
}
