import { Hono } from 'hono';
import { type Invocation, RUN_STATUSES, type RunState, type RunStatus } from '../../../domain/run/run.ts';
import { timelineOf } from '../../../domain/run/timeline.ts';
import { livePart } from '../../../messages/studio/live.ts';
import { address } from '../../../messages/studio/parts.ts';
import { configurationPage, runPage } from '../../../messages/studio/run.ts';
import { FAILED, runListPage } from '../../../messages/studio/run-list.ts';
import type { RunFilter } from '../../../ports/storage.ts';
import { answerPage, type Env, type Request, type StudioParts } from '../frame.ts';
import { type Addition, eventId, type Seeing } from '../live.ts';
import { logEnds } from '../log-ends.ts';
import { cursorOf, positionOf } from '../run-position.ts';
import { linesAfter, linesOf } from '../running-log.ts';
import { isOperator } from '../viewer.ts';

const PAGE = 50;
/** The newest transitions that a page reads. A step that polls for weeks has thousands. */
const MAX_TRANSITIONS = 1_000;
/** The newest logs of a step that its run's page shows. The others are in the list of its artifacts. */
const MAX_LOGS = 3;
/** The newest attempts and artifacts of the selected step. */
const MAX_OF_STEP = 30;
/** The newest sessions of the run, for the names of what happened last. */
const MAX_SESSIONS = 60;
/** The newest writes of the run. Each can be as large as a comment. */
const MAX_EFFECTS = 50;
const ENDED_BADLY: readonly RunStatus[] = ['failed', 'timed_out', 'aborted'];

/** The pages of runs. */
export function runPages(parts: StudioParts): Hono<Env> {
  const { storage, clock, live, githubUrl } = parts;
  const endOfLog = logEnds(parts);
  const pages = new Hono<Env>();

  pages.get('/runs', async (context) => {
    const query = {
      status: context.req.query('status') || undefined,
      chain: context.req.query('chain') || undefined,
      repository: context.req.query('repository') || undefined,
      text: context.req.query('text')?.slice(0, 100) || undefined,
      before: context.req.query('before') || undefined,
    };
    const { ids } = context.get('visible');
    const status = RUN_STATUSES.find((one) => one === query.status);
    const before = positionOf(query.before);
    const filter: RunFilter = {
      ...(ids && { repositoryIds: ids }),
      ...(query.status === FAILED && { statuses: ENDED_BADLY }),
      ...(status && { status }),
      ...(query.chain !== undefined && { chain: query.chain }),
      ...(query.repository !== undefined && { repository: query.repository }),
      ...(query.text !== undefined && { text: query.text }),
      ...(before && { before }),
    };
    const found = await storage.read.runs.list({ ...filter, limit: PAGE + 1 });
    const runs = found.slice(0, PAGE);
    const last =
      found.length > PAGE
        ? runs.at(-1)
        : query.text === undefined
          ? undefined
          : await storage.read.runs.searchedTo(filter);
    const main = runListPage({ runs, query, next: last && cursorOf(last), now: clock.now() });
    return answerPage(parts, context, { title: 'Runs', main });
  });

  pages.get('/runs/:id', async (context) => {
    const { id } = context.req.param();
    // Before the page is read: what changes meanwhile is sent again rather than lost.
    const stamp = await storage.read.runs.stamp(id);
    const seeing = { viewer: context.get('viewer'), visible: context.get('visible') };
    const shown = await partOf(context, seeing);
    if (stamp === undefined || !shown) return context.notFound();
    const { run } = shown.state;
    const since = eventId(stamp, shown.place);
    const events = address(`/runs/${run.id}/events`, { step: context.req.query('step'), since });
    return answerPage(parts, context, {
      title: `${run.chain} · ${run.repository}${run.pullRequest === null ? '' : ` #${run.pullRequest}`}`,
      main: livePart({ address: events, nonce: context.get('nonce'), part: shown.html }),
    });
  });

  pages.get('/runs/:id/events', async (context) => {
    const { id } = context.req.param();
    const visible = context.get('visible');
    const run = await storage.read.runs.get(id);
    if (!run || !visible.has(run.repositoryId)) return context.notFound();
    const seeing = { viewer: context.get('viewer'), visible };
    return live.follow(context, seeing, {
      stamp: async (seen) => (seen.visible.has(run.repositoryId) ? storage.read.runs.stamp(id) : undefined),
      part: (seen, place) => partOf(context, seen, place),
      added: (place) => linesAfter(storage.read.sessionLogs, id, place),
    });
  });

  pages.get('/runs/:id/configuration', async (context) => {
    const state = await storage.read.runs.load(context.req.param('id'));
    if (!state || !context.get('visible').has(state.run.repositoryId)) return context.notFound();
    return answerPage(parts, context, {
      title: `Configuration of ${state.run.chain}`,
      main: configurationPage({ state, githubUrl }),
    });
  });

  async function partOf(
    context: Request,
    { viewer, visible }: Seeing,
    place?: string,
  ): Promise<(Addition & { state: RunState }) | undefined> {
    const { runs, approvals, effects, artifacts, sessionLogs } = storage.read;
    const id = context.req.param('id') ?? '';
    const state = await runs.load(id);
    if (!state || !visible.has(state.run.repositoryId)) return undefined;
    const now = clock.now();
    const past = await runs.historyOf(id, MAX_TRANSITIONS + 1);
    const isCut = past.length > MAX_TRANSITIONS;
    const known = isCut ? past.slice(-MAX_TRANSITIONS) : past;
    const selected = selectedOf(state, context.req.query('step'));
    const ofStep = selected && { invocationId: selected.id };
    const made = ofStep ? await artifacts.ofRun(id, { ...ofStep, newest: MAX_OF_STEP + 1 }) : [];
    const logs = ofStep ? await artifacts.ofRun(id, { ...ofStep, newest: MAX_LOGS, kind: 'log' }) : [];
    const written = await effects.ofRun(id, MAX_EFFECTS + 1);
    const lines = await linesOf(sessionLogs, id, selected, place);
    const html = runPage({
      state,
      approval: (await approvals.ofRun(id)).at(-1) ?? null,
      sessions: await runs.sessionsOf(id, { newest: MAX_SESSIONS }),
      attempts: ofStep
        ? newest(await runs.sessionsOf(id, { ...ofStep, newest: MAX_OF_STEP + 1 }), MAX_OF_STEP)
        : ALL,
      past: known,
      isCut,
      effects: newest(written, MAX_EFFECTS),
      artifacts: newest(made, MAX_OF_STEP),
      timeline: timelineOf(state, known, now),
      selected,
      logs: await Promise.all(logs.map(endOfLog)),
      lines: lines.shown,
      githubUrl,
      seesDeliveries: isOperator(viewer),
      // Also for the part that a live update sends, whose own address is another.
      acting:
        viewer.kind === 'person'
          ? { csrf: viewer.csrf, to: address(`/runs/${id}`, { step: context.req.query('step') }) }
          : undefined,
      now,
    });
    return { state, html, place: lines.place };
  }

  return pages;
}

const ALL = { shown: [], isCut: false };

/** The newest of what was read, which can be one more. */
function newest<T>(found: readonly T[], most: number): { shown: readonly T[]; isCut: boolean } {
  return { shown: found.slice(-most), isCut: found.length > most };
}

/** The step that the address names, or the one that people ask about: what is under way, went wrong or came last. */
function selectedOf({ invocations }: RunState, stepId: string | undefined): Invocation | undefined {
  return (
    invocations.find((step) => step.stepId === stepId) ??
    invocations.find(({ status }) => status === 'running' || status.startsWith('waiting_')) ??
    invocations.find(
      ({ status, outcome }) => ['failed', 'timed_out'].includes(status) || outcome?.passed === false,
    ) ??
    invocations.findLast(({ startedAt }) => startedAt !== null) ??
    invocations[0]
  );
}
