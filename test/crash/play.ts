import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import BetterSqlite3 from 'better-sqlite3';
import { CLEAN, PEOPLE, REPO, seed } from '../../demo/world.ts';
import { routeOf } from '../support/github/route.ts';
import { type GitHubStandIn, startGitHub } from '../support/github/stand-in.ts';
import { type AppProcess, databaseIn, startAppProcess } from './app-process.ts';
import { type EndState, readEndState } from './end-state.ts';
import { type KillPoint, killAt, nameOf } from './kill-point.ts';

export interface Story {
  /** Files of the default branch beside the demo's: a chain of the repository's own, if it shall not be the shipped one. */
  base?: Record<string, string>;
  /** Changed files beside the demo's clean ones. */
  change?: Record<string, string>;
}

export interface Told {
  end: EndState;
  /** Every request the app made to GitHub, in order. */
  routes: string[];
  /** Points at which it was really killed; fewer than asked for when a request never came. */
  killed: string[];
}

const PATIENCE_MS = 25_000;

/**
 * Tells the demo's first story with the real app in a process of its own: a pull request opens, CI passes, a maintainer
 * countersigns, it is merged. At each point, one after the other, the process is killed and started again on the
 * same database; deliveries that nobody answered are sent again, as GitHub does when it is asked to.
 */
export async function play(story: Story, points: readonly KillPoint[] = []): Promise<Told> {
  const folder = mkdtempSync(join(tmpdir(), 'countersign-crash-'));
  const github = await startGitHub();
  seed(github);
  if (story.base) {
    await github.push({ repo: REPO, branch: 'main', author: PEOPLE.maintainer, files: story.base });
  }
  const app = await startSupervised(github, folder, points);
  try {
    const opened = await github.openPullRequest({
      repo: REPO,
      author: PEOPLE.author,
      branch: 'discounts',
      title: 'Give discounts',
      files: { ...CLEAN, ...story.change },
    });
    // One check: of two, a quick look could see the first alone, and would rightly say so.
    await github.reportCheck(REPO, opened.headSha, {
      name: 'test',
      status: 'completed',
      conclusion: 'success',
    });
    const asked = await app.until('the approval comment', () =>
      github.comments(REPO, opened.number).find(({ body }) => body.includes('countersign:approval')),
    );
    await github.react(REPO, asked.id, PEOPLE.maintainer, 'rocket');
    await app.until('everything to be done', () => isOver(github, folder) || undefined);
    await app.stop();
    return {
      end: readEndState(github, databaseIn(folder), { repo: REPO, ...opened }),
      routes: github.requests.map(routeOf),
      killed: app.killed,
    };
  } finally {
    await app.stop();
    await github.stop();
    rmSync(folder, { recursive: true, force: true });
  }
}

interface Supervised {
  killed: string[];
  /** Waits until the look finds something. @throws Error with the app's log when it never does. */
  until<T>(what: string, look: () => T | undefined): Promise<T>;
  stop(): Promise<void>;
}

/** The app with what an operator has around it: something that starts it again when it dies. */
async function startSupervised(
  github: GitHubStandIn,
  folder: string,
  points: readonly KillPoint[],
): Promise<Supervised> {
  const left = [...points];
  const killed: string[] = [];
  const log: string[] = [];
  let failure: unknown;
  let app = await start();
  let stopping = false;
  const supervision = supervise();

  async function start(): Promise<AppProcess> {
    const started = await startAppProcess(github, folder);
    const point = left.shift();
    if (point) {
      killAt(github, point, () => {
        killed.push(nameOf(point));
        started.kill();
      });
    }
    github.setWebhookUrl(started.webhookUrl);
    return started;
  }

  async function supervise(): Promise<void> {
    try {
      for (;;) {
        await app.gone;
        log.push(...app.log);
        if (stopping) return;
        app = await start();
        await redeliverUnanswered(github);
      }
    } catch (error) {
      failure = error;
    }
  }

  return {
    killed,
    async until(what, look) {
      const end = Date.now() + PATIENCE_MS;
      for (;;) {
        const found = look();
        if (found !== undefined) return found;
        if (failure !== undefined) throw failure;
        if (Date.now() > end) {
          throw new Error(
            `waited ${PATIENCE_MS / 1_000} s in vain for ${what}:\n${[...log, ...app.log].join('\n')}`,
          );
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

async function redeliverUnanswered(github: GitHubStandIn): Promise<void> {
  await github.settle();
  for (const { guid, status } of github.deliveries) {
    if (!isAccepted(status)) await github.redeliver(guid);
  }
}

function isAccepted(status: number | undefined): boolean {
  return status !== undefined && status >= 200 && status < 300;
}

/**
 * Whether nothing is left to do: every delivery answered, no effect open, no job but the alarm of a run that is over and the
 * looks for what was missed, which come again for ever.
 */
function isOver(github: GitHubStandIn, folder: string): boolean {
  if (github.merges.length === 0 || github.deliveries.some(({ status }) => !isAccepted(status))) return false;
  const db = new BetterSqlite3(databaseIn(folder), { readonly: true });
  try {
    const open = db.prepare(
      `SELECT (SELECT count(*) FROM jobs WHERE kind NOT IN ('wake', 'missed_deliveries', 'reconcile'))
            + (SELECT count(*) FROM effects WHERE status = 'pending')
            + (SELECT count(*) FROM deliveries WHERE status IN ('received', 'processing'))
            + (SELECT count(*) FROM chain_runs WHERE finished_at IS NULL)`,
    );
    return open.pluck().get() === 0;
  } finally {
    db.close();
  }
}
