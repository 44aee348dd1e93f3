import { setTimeout as sleep } from 'node:timers/promises';
import { unreachable } from '../../src/core/errors.ts';
import type { GitHubStandIn } from '../support/github/stand-in.ts';
import { type AppProcess, type Program, startAppProcess } from './app-process.ts';
import type { StoryDatabase } from './database.ts';
import { faultPoint, type KillPoint, killAtRequest, nameOf } from './kill-point.ts';

/** Long, for a busy machine: it only ends what hangs. */
const PATIENCE_MS = 240_000;
/**
 * Counted from when it listens, and on PostgreSQL from when it has the turn to work, for which it waits up to ten seconds.
 * Shorter than a lease, to distinguish a lease that merely expires from one that is taken over, and far longer than the one turn
 * of a queue that a takeover needs.
 */
const TAKEN_OVER_WITHIN_MS = 20_000;

export interface Supervised {
  /** Points at which it was really killed, so far. */
  readonly killed: string[];
  /** Fault points that the watched lives have passed. */
  readonly points: string[];
  /** Whether the present life has taken over what the one before it left. */
  isUp(): boolean;
  /** As its clock says. */
  now(): Date;
  /** Polls until it finds something. @throws Error with the app's log if it never does. */
  until<T>(what: string, look: () => T | undefined | Promise<T | undefined>): Promise<T>;
  stop(): Promise<void>;
}

interface Surroundings {
  /** Settings beside those that every app needs. */
  environment?: Record<string, string> | undefined;
  /** How long it is down after each death, by the clock of the life that follows. */
  downForMs?: number | undefined;
  /** Every life reports its fault points, not only an undisturbed one. The real program's clock cannot be set, either. */
  allWatched?: boolean | undefined;
}

/**
 * The app with an operator's supervisor, which starts it again when it dies. Each life is killed at the next of the points;
 * without any, its only life is watched. Deliveries that nobody answered are sent again, unless the app is down for a while: it
 * requests those itself when it starts, but those that fall into its start only ten minutes later.
 */
export async function startSupervised(
  github: GitHubStandIn,
  folder: string,
  database: StoryDatabase,
  kills: readonly KillPoint[],
  { environment = {}, downForMs, allWatched = false }: Surroundings = {},
): Promise<Supervised> {
  const left = [...kills];
  const killed: string[] = [];
  const points: string[] = [];
  const log: string[] = [];
  let failure: unknown;
  let stopping = false;
  let isUp = true;
  let aheadMs = 0;
  let app = await listeningApp();
  const supervision = supervise();

  /** Starts lives until one gets as far as listening. */
  async function listeningApp(): Promise<AppProcess> {
    for (;;) {
      // Whatever GitHub was carrying out is over long before the app is back.
      while (downForMs !== undefined && github.leftToDo() > 0) await sleep(25);
      const point = left.shift();
      const life = startAppProcess(github, folder, programFor(point), {
        ...environment,
        DATABASE_URL: database.url,
        COUNTERSIGN_CLOCK_AHEAD_MS: String(aheadMs),
      });
      const disarm = point === undefined ? () => undefined : arm(point, life);
      const ended = life.gone.then((end) => {
        disarm();
        log.push(...life.log);
        points.push(...life.points);
        if (point !== undefined && end.signal === 'SIGKILL') {
          killed.push(nameOf(point));
          aheadMs += downForMs ?? 0;
        }
        return end;
      });
      const url = await life.webhookUrl;
      if (url !== undefined) {
        github.setWebhookUrl(url);
        return life;
      }
      if ((await ended).signal !== 'SIGKILL')
        throw new Error(`the app ended before it listened:\n${life.log.join('\n')}`);
    }
  }

  function programFor(point: KillPoint | undefined): Program {
    if (point?.at === 'write') return { kind: 'watched', diesAt: faultPoint(point) };
    return kills.length === 0 || allWatched ? { kind: 'watched' } : { kind: 'real' };
  }

  /** @returns a function that removes it, for a life that ends otherwise. */
  function arm(point: KillPoint, life: AppProcess): () => void {
    switch (point.at) {
      case 'request':
        return killAtRequest(github, point, life.kill);
      case 'moment': {
        const timer = setTimeout(life.kill, point.ms);
        return () => clearTimeout(timer);
      }
      case 'write':
        return () => undefined;
      default:
        return unreachable(point);
    }
  }

  async function supervise(): Promise<void> {
    try {
      for (;;) {
        await app.gone;
        if (stopping) return;
        isUp = false;
        app = await listeningApp();
        await takenOver(app);
        if (stopping) await app.stop();
        else if (downForMs === undefined) await redeliverUnanswered(github);
        isUp = true;
      }
    } catch (error) {
      failure = error;
    }
  }

  /** Jobs of dead processes must not wait for the end of their leases, unless this process dies too before it has taken them. */
  async function takenOver({ pid, gone }: AppProcess): Promise<void> {
    let isGone = false;
    void gone.then(() => {
      isGone = true;
    });
    const within = async (limitMs: number, isSo: () => Promise<boolean>, otherwise: string) => {
      const end = Date.now() + limitMs;
      while (!isGone && !(await isSo())) {
        if (Date.now() > end) throw new Error(otherwise);
        await sleep(25);
      }
    };
    const held = `SELECT 1 FROM jobs WHERE lease_token NOT LIKE '%:${pid}:%' LIMIT 1`;
    const isTaken = async () => (await database.rows(held)).length === 0;
    if (database.kind === 'postgres') {
      const own = `SELECT 1 FROM installation_leases JOIN workers ON id = worker WHERE holder LIKE '%"pid":${pid},%'`;
      const works = async () => (await isTaken()) || (await database.rows(own)).length > 0;
      await within(PATIENCE_MS, works, 'the process did not get the lease of the installation');
    }
    await within(TAKEN_OVER_WITHIN_MS, isTaken, 'the jobs of the process that died were not taken over');
  }

  return {
    killed,
    points,
    isUp: () => isUp,
    now: () => new Date(Date.now() + aheadMs),
    async until(what, look) {
      const end = Date.now() + PATIENCE_MS;
      for (;;) {
        const found = await look();
        if (found !== undefined) return found;
        if (failure !== undefined) throw failure;
        if (Date.now() > end) {
          const said = [...log, ...app.log].join('\n');
          throw new Error(`waited ${PATIENCE_MS / 1_000} s in vain for ${what}:\n${said}`);
        }
        await sleep(25);
      }
    },
    async stop() {
      stopping = true;
      await app.stop();
      await supervision;
    },
  };
}

export async function redeliverUnanswered(github: GitHubStandIn): Promise<void> {
  await github.settle();
  for (const { guid, status } of github.deliveries) {
    if (!isAccepted(status)) await github.redeliver(guid);
  }
}

export function isAccepted(status: number | undefined): boolean {
  return status !== undefined && status >= 200 && status < 300;
}
