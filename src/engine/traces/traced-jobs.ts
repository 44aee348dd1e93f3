import type { Clock } from '../../core/clock.ts';
import { CountersignError } from '../../core/errors.ts';
import type { Log } from '../../core/log.ts';
import { isRunOver, type Run } from '../../domain/run/run.ts';
import {
  JOB_KINDS,
  type JobKind,
  type JobPayload,
  type JobRunner,
  type JobRunners,
} from '../../ports/jobs.ts';
import type { ReadTx, Storage } from '../../ports/storage.ts';
import type { Span } from '../../ports/traces.ts';
import { createPlaces, type Place } from './places.ts';
import { spanIdOf, traceIdOf } from './span-ids.ts';
import type { Tracer } from './tracer.ts';

/** A job as a span that has not ended. */
interface Described extends Place {
  name: string;
  kind: Span['kind'];
  /** By default, when the job begins. */
  since?: Date;
  attributes: Span['attributes'];
}

/** What can be a span: a delivery, an attempt at a step, and a write. Other jobs belong to no run. */
type TracedKind = 'delivery' | 'session' | 'review' | 'effect';

interface Prepared {
  inner: unknown;
  described: Described | undefined;
}

/** Runs that are over, whose spans are recorded after the job in which they ended. */
export interface EndedRuns {
  add(run: Run): void;
  take(): Run[];
}

export function endedRuns(): EndedRuns {
  let ended: Run[] = [];
  return {
    add: (run) => void ended.push(run),
    take() {
      const taken = ended;
      ended = [];
      // A transaction that was repeated has added its run twice.
      return [...new Map(taken.map((run) => [run.id, run])).values()];
    },
  };
}

/**
 * The same runners, each in its span. What a span says is read beside the job, so that the jobs know nothing of traces. Reading never
 * fails a job: then there is no span.
 */
export function tracedJobs(
  runners: JobRunners,
  {
    tracer,
    ended,
    storage,
    clock,
    log,
  }: { tracer: Tracer; ended: EndedRuns; storage: Pick<Storage, 'read'>; clock: Clock; log: Log },
): JobRunners {
  const places = createPlaces();
  let attempts = 0;

  const describe: {
    [K in TracedKind]: (read: ReadTx, payload: JobPayload<K>) => Promise<Described | undefined>;
  } = {
    async delivery(read, { deliveryId }) {
      const delivery = await read.deliveries.get(deliveryId);
      if (!delivery || delivery.status === 'done') return undefined;
      const { guid, event, action, receivedAt } = delivery;
      return {
        ...places.ofDelivery({ id: deliveryId, guid }),
        name: `delivery ${event}`,
        kind: 'server',
        since: receivedAt,
        attributes: {
          'countersign.delivery.guid': guid,
          'countersign.delivery.event': event,
          ...(action === null ? {} : { 'countersign.delivery.action': action }),
        },
      };
    },
    session: describeSession,
    review: describeSession,
    async effect(read, { key }) {
      const row = (await read.effects.getWithRun(key))?.row;
      if (!row || row.desiredHash === row.appliedHash) return undefined;
      const run = row.runId === null ? undefined : await places.ofRunWithId(read, row.runId);
      attempts += 1;
      return {
        ref: {
          traceId: run?.ref.traceId ?? traceIdOf('effect', row.id),
          spanId: spanIdOf('effect', row.id, clock.now().getTime(), attempts),
        },
        parentId: run?.ref.spanId,
        name: `effect ${row.effect.kind}`,
        kind: 'internal',
        attributes: {
          'countersign.effect.id': row.id,
          'countersign.effect.kind': row.effect.kind,
          ...(row.runId === null ? {} : { 'countersign.run.id': row.runId }),
        },
      };
    },
  };

  async function describeSession(
    read: ReadTx,
    { sessionId, because }: JobPayload<'session'>,
  ): Promise<Described | undefined> {
    const found = await read.runs.getSession(sessionId);
    if (!found || isRunOver(found.state.run.status)) return undefined;
    const { run } = found.state;
    const { stepId } = found.invocation;
    const of = await places.ofRun(read, run);
    attempts += 1;
    return {
      ref: {
        traceId: of.ref.traceId,
        spanId: spanIdOf('session', sessionId, clock.now().getTime(), attempts),
      },
      parentId: of.ref.spanId,
      name: `step ${stepId}`,
      kind: 'internal',
      attributes: {
        ...aboutRun(run),
        'countersign.step.id': stepId,
        'countersign.session.id': sessionId,
        'countersign.session.because': because,
      },
    };
  }

  /** What became of it. */
  const conclude: { [K in TracedKind]: (payload: JobPayload<K>) => Promise<Ending> } = {
    delivery: async () => ({}),
    session: concludeSession,
    review: concludeSession,
    async effect({ key }) {
      const status = (await storage.read.effects.getWithRun(key))?.row.status;
      return ending('countersign.effect.status', status);
    },
  };

  async function concludeSession({ sessionId }: JobPayload<'session'>): Promise<Ending> {
    const session = (await storage.read.runs.getSession(sessionId))?.session;
    const { attributes, error } = ending('countersign.session.status', session?.status);
    const code = session?.reason?.code;
    return {
      attributes: { ...attributes, ...(code === undefined ? {} : { 'countersign.session.reason': code }) },
      ...(error === undefined ? {} : { error: code ?? error }),
    };
  }

  async function safely<T>(work: () => Promise<T>): Promise<T | undefined> {
    try {
      return await work();
    } catch (error) {
      log.debug({ err: error }, 'a span could not be described');
      return undefined;
    }
  }

  function record({ ref, name, kind, parentId, attributes }: Described, startedAt: Date, end: Ending): void {
    tracer.record({
      ...ref,
      parentId,
      name,
      kind,
      startedAt,
      endedAt: clock.now(),
      attributes: { ...attributes, ...end.attributes },
      ...(end.error === undefined ? {} : { error: end.error }),
    });
  }

  /** Outside of every transaction, because it may read. */
  async function recordEnded(): Promise<void> {
    for (const run of ended.take()) {
      const place = await safely(() => places.ofRun(storage.read, run));
      if (!place) continue;
      const { status, reason, createdAt, finishedAt, updatedAt } = run;
      tracer.record({
        ...place.ref,
        parentId: place.parentId,
        name: `run ${run.chain}`,
        kind: 'internal',
        startedAt: createdAt,
        endedAt: finishedAt ?? updatedAt,
        attributes: {
          ...aboutRun(run),
          'countersign.run.status': status,
          ...(reason ? { 'countersign.run.reason': reason.code } : {}),
        },
        ...(status === 'failed' || status === 'timed_out' ? { error: reason?.code ?? status } : {}),
      });
    }
  }

  function traced<K extends TracedKind>(kind: K, runner: JobRunner<K>): JobRunner<K> {
    const { prepare, finish, onInterrupted } = runner;
    const before = (read: ReadTx, payload: JobPayload<K>) => safely(() => describe[kind](read, payload));
    return {
      async run(payload, signal, given) {
        const prepared = given as Prepared | undefined;
        const described = prepared ? prepared.described : await before(storage.read, payload);
        const begun = clock.now();
        const startedAt = described?.since ?? begun;
        try {
          const { result, hasAsked } = await tracer.within(described?.ref, () =>
            runner.run(payload, signal, prepared?.inner),
          );
          // What is put off was not tried, unless it asked GitHub first. A delivery ends once.
          if (described && (result.kind === 'done' || (hasAsked && kind !== 'delivery')))
            record(described, startedAt, (await safely(() => conclude[kind](payload))) ?? {});
          return result;
        } catch (error) {
          // A delivery ends once, however often it is tried.
          if (described && kind !== 'delivery') record(described, startedAt, { error: nameOf(error) });
          throw error;
        } finally {
          await recordEnded();
        }
      },
      async prepare(tx, payload) {
        const inner = await prepare?.(tx, payload);
        return { inner, described: await before(tx, payload) } satisfies Prepared;
      },
      ...(finish && {
        finish(payload: JobPayload<K>, given?: unknown) {
          const { inner, described } = (given as Prepared | undefined) ?? {};
          const work = finish(payload, inner);
          if (!work) return undefined;
          return async (tx) => {
            const isDone = await work(tx);
            if (isDone && described) record(described, described.since ?? clock.now(), {});
            return isDone;
          };
        },
      }),
      async onRetriesExhausted(payload, error) {
        const described = kind === 'delivery' ? await before(storage.read, payload) : undefined;
        await runner.onRetriesExhausted(payload, error);
        if (described) record(described, described.since ?? clock.now(), { error: nameOf(error) });
        await recordEnded();
      },
      ...(onInterrupted && { onInterrupted }),
    };
  }

  /** In no span: what it asks GitHub belongs to no run. */
  function untraced<K extends JobKind>(runner: JobRunner<K>): JobRunner<K> {
    return {
      ...runner,
      async run(payload, signal, prepared) {
        try {
          return (await tracer.within(undefined, () => runner.run(payload, signal, prepared))).result;
        } finally {
          await recordEnded();
        }
      },
    };
  }

  const others = JOB_KINDS.map((kind) => [kind, untraced(runners[kind] as JobRunner<JobKind>)]);
  return {
    ...(Object.fromEntries(others) as JobRunners),
    delivery: traced('delivery', runners.delivery),
    session: traced('session', runners.session),
    review: traced('review', runners.review),
    effect: traced('effect', runners.effect),
  };
}

interface Ending {
  attributes?: Span['attributes'];
  error?: string;
}

function ending(attribute: string, status: string | undefined): Ending {
  if (status === undefined) return {};
  const hasFailed = status === 'failed' || status === 'timed_out';
  return { attributes: { [attribute]: status }, ...(hasFailed && { error: status }) };
}

function aboutRun(run: Run): Span['attributes'] {
  return {
    'countersign.run.id': run.id,
    'countersign.chain': run.chain,
    'countersign.repository': run.repository,
    ...(run.pullRequest === null ? {} : { 'countersign.pull_request': run.pullRequest }),
  };
}

/** Not the message, which may quote what somebody wrote. */
function nameOf(error: unknown): string {
  if (error instanceof CountersignError) return error.code;
  return error instanceof Error ? error.name : 'error';
}
