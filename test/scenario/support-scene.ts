import { afterEach, expect } from 'vitest';
import type { Log } from '../../src/core/log.ts';
import type { Run } from '../../src/domain/run/run.ts';
import { isGateCheck, type SeenCheckRun, type SeenComment } from '../support/github/read.ts';
import { type Harness, type HarnessOptions, REPO, startHarness } from '../support/harness.ts';

export const CHAINS = '.github/countersign/chains';
export const SETTINGS = '.github/countersign.yml';

/** A scenario's world, with short names for what its people do and read. */
export interface Scene extends Harness {
  /** Messages that the app logged as errors. */
  errors: string[];
  /** ada opens a pull request; everything that is due then happens. */
  open(more?: Partial<Parameters<Harness['github']['openPullRequest']>[0]>): Promise<Opened>;
  /** Somebody comments. @returns the comment's id. */
  say(number: number, login: string, body: string): Promise<number>;
  comment(number: number, id: number): SeenComment;
  /** The app's replies to a comment, without the marker. */
  replies(number: number, commentId: number): string[];
  /** The newest check run of a chain on the commit. */
  check(sha: string, chain: string): SeenCheckRun | undefined;
  /** Names and conclusions of all the app's check runs of the commit. */
  verdicts(sha: string): Record<string, string>;
  /** Every run of a chain, newest first. */
  runs(chain: string): Promise<Run[]>;
  /** The status comment, without its marker. */
  status(number: number): string;
}

export interface Opened {
  number: number;
  headSha: string;
}

/**
 * Creates scenes, and checks at the end of each test that the app is healthy: it answers, and it sent no request that GitHub's
 * own description does not allow.
 */
export function scenes(): (files?: Record<string, string>, options?: HarnessOptions) => Promise<Scene> {
  let scene: Scene | undefined;
  afterEach(async () => {
    if (!scene) return;
    const { app, faultyRequests } = scene;
    const answers = await Promise.all(['healthz', 'readyz'].map((page) => fetch(`${app.url}/${page}`)));
    await scene.stop();
    scene = undefined;
    expect(answers.map((answer) => answer.status)).toEqual([200, 200]);
    expect(faultyRequests).toEqual([]);
  });
  return async (files = {}, options = {}) => {
    scene = await startScene(files, options);
    return scene;
  };
}

async function startScene(files: Record<string, string>, options: HarnessOptions): Promise<Scene> {
  const errors: string[] = [];
  const log: Log = {
    debug() {},
    info() {},
    warn() {},
    error: (_fields, message) => errors.push(message),
  };
  const harness = await startHarness({ log, ...options, files });
  const { github } = harness;
  const own = (sha: string) =>
    github.checkRuns(REPO, sha).filter((run) => run.app === github.app.slug && !isGateCheck(run));
  return Object.assign(harness, {
    errors,
    async open(more: Partial<Parameters<typeof github.openPullRequest>[0]> = {}) {
      const opened = await github.openPullRequest({
        repo: REPO,
        author: 'ada',
        branch: 'change',
        title: 'Change something',
        files: { 'docs/page.txt': 'A page.\n' },
        ...more,
      });
      await harness.advance(UPDATES_SHOWN_MS);
      return opened;
    },
    async say(number: number, login: string, body: string) {
      const id = await github.comment(REPO, number, login, body);
      await harness.settle();
      return id;
    },
    comment(number: number, id: number) {
      const found = github.comments(REPO, number).find((comment) => comment.id === id);
      if (!found) throw new Error(`there is no comment ${id}`);
      return found;
    },
    replies: (number: number, commentId: number) =>
      github
        .comments(REPO, number)
        .filter(
          ({ author, body }) => author === github.app.botLogin && body.includes(`reply to=${commentId}`),
        )
        .map(({ body }) => withoutMarker(body)),
    check: (sha: string, chain: string) => own(sha).findLast((run) => run.name === `countersign / ${chain}`),
    verdicts: (sha: string) =>
      Object.fromEntries(own(sha).map((run) => [run.name, run.conclusion ?? run.status])),
    runs: (chain: string) => harness.app.storage.read.runs.list({ chain, limit: 100 }),
    status(number: number) {
      const found = github
        .comments(REPO, number)
        .filter(({ body, isMinimized }) => !isMinimized && /countersign:(status|question)/.test(body));
      expect(found.length).toBeLessThanOrEqual(1);
      return withoutMarker(found[0]?.body ?? '');
    },
  });
}

function withoutMarker(body: string): string {
  return body.replace(/^<!--.*?-->\n/, '');
}

/** After this time, an update of a check run or comment is visible on GitHub. */
export const UPDATES_SHOWN_MS = 2_500;

/** The part of a check run's summary under a heading, up to the next. */
export function section(summary: string | null | undefined, heading: string): string {
  return summary?.split(/^### /m).find((part) => part.startsWith(heading)) ?? '';
}

/** A chain that waits for CI and then for a countersign, without a review: quick to run and long to watch. */
export const CI_AND_MERGE = `
name: ship
trigger: { event: pr.opened }
steps:
  - skill: ci
  - id: merge
    action: gh-merge
    condition: "{{ steps.ci.outcome.passed }}"
    requires_approval: true
`;

/** A repository in which only these chains run. */
export function only(chains: Record<string, string>, settings = ''): Record<string, string> {
  const names = Object.keys(chains);
  return {
    [SETTINGS]: `chains: [${names.join(', ')}]\n${settings}`,
    ...Object.fromEntries(names.map((name) => [`${CHAINS}/${name}.yaml`, chains[name] ?? ''])),
  };
}
