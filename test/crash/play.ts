import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { PEOPLE, REPO, seed } from '../../demo/world.ts';
import { routeOf } from '../support/github/route.ts';
import { type GitHubStandIn, startGitHub } from '../support/github/stand-in.ts';
import { type Script, startStubModel } from '../support/model/stub.ts';
import { DATABASE_KIND, type DatabaseKind, type StoryDatabase, storyDatabase } from './database.ts';
import { type EndState, REPEATING, readEndState, type Subject } from './end-state.ts';
import { notTaken } from './inbox.ts';
import type { KillPoint } from './kill-point.ts';
import { isAccepted, type Supervised, startSupervised } from './supervisor.ts';

export interface Story {
  /** Files of the default branch beside the demo's: the repository's own chains. */
  base?: Record<string, string>;
  /** The language model's answer to every question; there is no model by default. */
  model?: Script;
  /** What people do while the app is down: GitHub reaches nobody. */
  away?(github: GitHubStandIn): Promise<void>;
  /**
   * How long nobody starts it again after its death, in milliseconds of its clock. Meanwhile nobody requests redeliveries either:
   * the app must do that itself. By default, an operator does both at once.
   */
  downForMs?: number;
  /** What people do, and what they wait for in between; the app may have more to do when it returns. */
  tell(stage: Stage): Promise<Subject>;
}

export interface Stage {
  github: GitHubStandIn;
  until: Supervised['until'];
}

export interface PlayResult {
  end: EndState;
  /** Every request of the app to GitHub, in order. */
  routes: string[];
  /** The fault points that it passed in its watched lives. */
  points: string[];
  /** Points at which it was really killed; fewer than requested if one never came. */
  killed: string[];
  /** From the start of the app to the end of all its work. */
  ms: number;
}

/** Nothing listens on the discard port. */
const NOBODY = 'http://127.0.0.1:9/';

/**
 * Plays a story with the real app in its own process. At each point, one after another, the process is killed and started again
 * on the same database.
 */
export async function play(
  story: Story,
  kills: readonly KillPoint[] = [],
  { allWatched, on = DATABASE_KIND }: { allWatched?: true; on?: DatabaseKind } = {},
): Promise<PlayResult> {
  const folder = mkdtempSync(join(tmpdir(), 'countersign-crash-'));
  const database = await storyDatabase(on, folder);
  const github = await startGitHub();
  seed(github);
  if (story.base) {
    await github.push({ repo: REPO, branch: 'main', author: PEOPLE.maintainer, files: story.base });
  }
  if (story.away) {
    github.setWebhookUrl(NOBODY);
    await story.away(github);
    await github.settle();
  }
  const model = story.model === undefined ? undefined : await startModel(story.model);
  const began = Date.now();
  const app = await startSupervised(github, folder, database, kills, {
    environment: model?.environment,
    downForMs: story.downForMs,
    allWatched: allWatched ?? story.downForMs !== undefined,
  });
  const isQuiet = async () =>
    app.isUp() && github.leftToDo() === 0 && (await isOver(github, folder, database, app.now()));
  try {
    const subject = await story.tell({ github, until: app.until });
    await app.until('everything to be done', async () => (await isQuiet()) || undefined);
    const ms = Date.now() - began;
    await app.stop();
    return {
      end: await readEndState(github, { folder, database }, subject),
      routes: github.requests.map(routeOf),
      points: app.points,
      killed: app.killed,
      ms,
    };
  } finally {
    await app.stop();
    await model?.stop();
    await github.stop();
    await database.remove();
    rmSync(folder, { recursive: true, force: true });
  }
}

async function startModel(
  says: Script,
): Promise<{ environment: Record<string, string>; stop(): Promise<void> }> {
  const stub = await startStubModel();
  stub.answers(says);
  return {
    environment: {
      COUNTERSIGN_MODEL: 'openai-compatible/stub-1',
      COUNTERSIGN_MODEL_BASE_URL: `${stub.url}/v1`,
    },
    stop: stub.stop,
  };
}

/**
 * Whether nothing is left to do: every delivery is answered or recorded, no effect is open, and no job is left but the alarm of a
 * run that is over and the next searches for missed changes. A life begins with such searches, and they may find something to do.
 */
async function isOver(
  github: GitHubStandIn,
  folder: string,
  database: StoryDatabase,
  now: Date,
): Promise<boolean> {
  // GitHub did not get an answer for everything that was recorded: an app that died before it answered does not request it
  // again.
  const recorded = new Set((await database.rows('SELECT guid FROM deliveries')).map(({ guid }) => guid));
  if (database.kind === 'sqlite' && notTaken(folder).length > 0) return false;
  if (!github.deliveries.every(({ guid, status }) => isAccepted(status) || recorded.has(guid))) return false;
  const [open] = await database.rows(
    `SELECT (SELECT count(*) FROM jobs WHERE kind NOT IN ${REPEATING}
                 OR (kind <> 'wake' AND (lease_token IS NOT NULL OR run_at <= '${now.toISOString()}')))
          + (SELECT count(*) FROM effects WHERE status = 'pending')
          + (SELECT count(*) FROM deliveries WHERE status IN ('received', 'processing'))
          + (SELECT count(*) FROM chain_runs WHERE finished_at IS NULL) AS things`,
  );
  return Number(open?.things) === 0;
}
