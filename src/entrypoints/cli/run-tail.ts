import { CountersignError } from '../../core/errors.ts';
import { redact, redactValue } from '../../core/redact/redact.ts';
import { type Invocation, isRunOver, type Run, type RunState } from '../../domain/run/run.ts';
import {
  isWell,
  NO_RUN_TO_FOLLOW,
  newsJson,
  newsLine,
  ONE_RUN_OR_ALL,
  type RunNews,
} from '../../messages/cli/run-tail.ts';
import type { ReadTx, RunFilter } from '../../ports/storage.ts';
import { type Context, type DatabaseOption, type Result, UsageError } from './context.ts';
import { findRun } from './find-run.ts';

export interface RunTailOptions extends DatabaseOption {
  repo?: string;
  pr?: number;
  /** All unfinished runs, and those that begin meanwhile. */
  follow?: true;
}

/** How often the database is read, in milliseconds. A running step stores what it prints every second. */
const EVERY_MS = 500;
/** How many runs are followed at once. */
const MAX_RUNS = 100;
/** What is shown of the lines that a step printed before, in bytes. */
const MOST_BEFORE = 16_384;
/** How many lines are shown of a log that is read at the end of its step. */
const MAX_LINES = 200;
/** Of a step, how many newest logs are searched for that of one attempt. */
const MAX_LOGS = 10;

/**
 * Shows what happens to a run until it ends, with what its steps print. It only reads the database, so it works beside
 * the app and after a crash. Fails unless the run came to what its chain is for.
 */
export async function runTail(
  context: Context,
  id: string | undefined,
  { repo, pr, follow, database }: RunTailOptions,
): Promise<Result> {
  const filter: RunFilter = {
    ...(repo === undefined ? {} : { repository: repo }),
    ...(pr === undefined ? {} : { pullRequest: pr }),
  };
  if (id !== undefined && (follow || Object.keys(filter).length > 0)) throw new UsageError(ONE_RUN_OR_ALL);
  const stop = context.tools.stopRequested();
  return context.tools.withDatabase(database, 'read', async ({ read }) => {
    if (follow) {
      await followAll(context, read, filter, stop);
      return { ran: true, failed: false };
    }
    const [newest] = id === undefined ? await read.runs.list({ ...filter, limit: 1 }) : [];
    if (id === undefined && !newest) throw new CountersignError('cli.unknown_run', NO_RUN_TO_FOLLOW);
    const { state } = await findRun(read, id ?? newest?.id ?? '');
    const watch = new WatchedRun(context, read, state.run.id, false);
    while (!stop.aborted) {
      const now = await watch.read();
      if (now === undefined) break;
      if (isRunOver(now.run.status)) return { ran: true, failed: !isWell(now) };
      await context.tools.pause(EVERY_MS, stop);
    }
    return { ran: true, failed: true };
  });
}

/** Until the process gets a signal to stop. */
async function followAll(
  context: Context,
  read: ReadTx,
  filter: RunFilter,
  stop: AbortSignal,
): Promise<void> {
  const watched = new Map<string, WatchedRun>();
  const over = new Set<string>();
  // A run that begins and ends between two reads is unfinished in neither.
  for (const { id, status } of await read.runs.list({ ...filter, limit: MAX_RUNS }))
    if (isRunOver(status)) over.add(id);
  while (!stop.aborted) {
    const [newest, active] = await Promise.all([
      read.runs.list({ ...filter, limit: MAX_RUNS }),
      read.runs.list({ ...filter, active: true, limit: MAX_RUNS }),
    ]);
    const known = new Map([...newest, ...active].map((run) => [run.id, run]));
    for (const { id } of [...known.values()].sort((a, b) => a.createdAt.getTime() - b.createdAt.getTime()))
      if (!over.has(id) && !watched.has(id)) watched.set(id, new WatchedRun(context, read, id, true));
    for (const [id, watch] of watched) {
      const now = await watch.read();
      if (now && !isRunOver(now.run.status)) continue;
      watched.delete(id);
      over.add(id);
    }
    await context.tools.pause(EVERY_MS, stop);
  }
}

/** What has been shown of a run. */
class WatchedRun {
  readonly #context: Context;
  readonly #read: ReadTx;
  readonly #id: string;
  readonly #among: boolean;
  #stamp: string | undefined;
  #state: RunState | undefined;
  /** Of each step, what was said about it last. */
  readonly #said = new Map<string, { said: string; sessionId: string | null }>();
  readonly #logs = new Map<string, ShownLog>();

  constructor(context: Context, read: ReadTx, id: string, among: boolean) {
    this.#context = context;
    this.#read = read;
    this.#id = id;
    this.#among = among;
  }

  /** Shows what is new, and returns the run; `undefined` if it is gone. */
  async read(): Promise<RunState | undefined> {
    const stamp = await this.#read.runs.stamp(this.#id);
    const isFirst = this.#state === undefined;
    if (isFirst || stamp !== this.#stamp) {
      this.#state = await this.#read.runs.load(this.#id);
      this.#stamp = stamp;
    }
    const state = this.#state;
    if (!state) return undefined;
    const { run } = state;
    if (isFirst) await this.#show({ kind: 'begun', run });
    for (const step of state.invocations) await this.#readStep(state, step, isFirst);
    if (isRunOver(run.status)) {
      const approval = (await this.#read.approvals.ofRun(run.id)).at(-1) ?? null;
      await this.#show({ kind: 'ended', state, approval });
    }
    return state;
  }

  async #readStep({ run }: RunState, step: Invocation, isFirst: boolean): Promise<void> {
    const { sessionId, status, reason } = step;
    const said = `${status} ${reason?.code} ${reason?.summary}`;
    const last = this.#said.get(step.id);
    this.#said.set(step.id, { said, sessionId });
    const of = { run, step };
    const ran = last?.sessionId;
    if (ran && ran !== sessionId) await this.#rest(of, ran);
    if (last?.said === said && ran === sessionId) {
      if (status === 'running') await this.#running(of);
      return;
    }
    // What a step printed stands before its end. A run that is over already is only summed up.
    if (!isFirst && sessionId !== null && status !== 'running') await this.#rest(of, sessionId);
    if (status !== 'pending') {
      const at = step.finishedAt ?? (isFirst ? step.startedAt : null) ?? this.#context.clock.now();
      await this.#show({ kind: 'step', ...of, at });
    }
    if (status === 'running') await this.#running(of);
  }

  #logOf(sessionId: string): ShownLog {
    const log = this.#logs.get(sessionId) ?? { after: undefined, lines: 0, isWhole: true };
    this.#logs.set(sessionId, log);
    return log;
  }

  /** Shows what the step has printed since. */
  async #running(of: StepOfRun): Promise<void> {
    const { sessionId } = of.step;
    if (sessionId === null) return;
    const log = this.#logOf(sessionId);
    const part = log.after ? { after: log.after } : { most: MOST_BEFORE };
    const printed = await this.#read.sessionLogs.read({ runId: of.run.id, sessionId }, part);
    if (!printed) return;
    if (printed.begunAt.getTime() !== log.after?.begunAt.getTime()) {
      Object.assign(log, { lines: 0, isWhole: printed.from === 0 });
      if (!log.isWhole) await this.#show({ kind: 'left_out', ...of, artifact: undefined });
    }
    log.after = { begunAt: printed.begunAt, position: printed.to };
    const lines = linesIn(printed.text);
    log.lines += lines.length;
    for (const line of lines) await this.#show({ kind: 'printed', ...of, line });
  }

  /** What a session printed last, or all of a short one: its running log is gone, and its whole log is an artifact. */
  async #rest(of: StepOfRun, sessionId: string): Promise<void> {
    const log = this.#logOf(sessionId);
    const part = { newest: MAX_LOGS, invocationId: of.step.id, kind: 'log' };
    const artifacts = await this.#read.artifacts.ofRun(of.run.id, part);
    const artifact = artifacts.findLast((one) => one.sessionId === sessionId);
    if (!artifact) return;
    const text = log.isWhole ? await this.#textOf(artifact) : undefined;
    const lines = text === undefined ? undefined : linesIn(text).slice(log.lines);
    if (lines === undefined || lines.length > MAX_LINES)
      await this.#show({ kind: 'left_out', ...of, artifact: artifact.id });
    log.lines += lines?.length ?? 0;
    for (const line of lines?.slice(-MAX_LINES) ?? []) await this.#show({ kind: 'printed', ...of, line });
  }

  /** `undefined` where the store of artifacts cannot be read from here. */
  async #textOf({ filePath }: { filePath: string | null }): Promise<string | undefined> {
    if (filePath === null) return undefined;
    try {
      const bytes = await (await this.#context.tools.blobs()).get(filePath);
      return bytes && new TextDecoder().decode(bytes);
    } catch (error) {
      if (error instanceof CountersignError) return undefined;
      throw error;
    }
  }

  #show(news: RunNews): Promise<void> {
    const { json, screen, write } = this.#context;
    const line = json
      ? JSON.stringify(redactValue(newsJson(news)))
      : redact(newsLine(news, this.#among, screen));
    return write(`${line}\n`);
  }
}

interface StepOfRun {
  run: Run;
  step: Invocation;
}

interface ShownLog {
  /** Where the next lines begin. */
  after: { begunAt: Date; position: number } | undefined;
  /** How many lines were shown. */
  lines: number;
  /** From its first line on. */
  isWhole: boolean;
}

function linesIn(text: string): string[] {
  return text === '' ? [] : text.replace(/\n$/, '').split('\n');
}
