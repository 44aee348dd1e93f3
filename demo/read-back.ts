import { execFile } from 'node:child_process';
import { setTimeout as sleep } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { createAppAuth } from '@octokit/auth-app';
import { Octokit } from '@octokit/rest';
import type { GitHubStandIn } from '../test/support/github/stand-in.ts';
import type { Expected } from './cases.ts';
import { differences, type State } from './state.ts';
import { GATE, REPO } from './world.ts';

const run = promisify(execFile);
const [owner = '', repo = ''] = REPO.split('/');
const CLI = fileURLToPath(new URL('../src/cli.ts', import.meta.url));

/** The time for the last writes to GitHub after the last merge, in milliseconds. */
const TIMEOUT_MS = 10_000;

/** The part of a run's public JSON that matters here. */
interface RunSeen {
  id: string;
  status: string;
  pull_request: number;
  head_sha: string;
  reason: { code: string } | null;
}

export interface Verdict {
  expected: Expected;
  github: string;
  database: string;
  diagnostics: string[];
}

/**
 * Reads every expected state from GitHub's API and, through the command line, from the database, never from
 * the stand-in's internals. Repeats for a while, because the app still writes.
 */
export async function readBack(
  github: GitHubStandIn,
  databaseUrl: string,
  expectations: readonly Expected[],
): Promise<Verdict[]> {
  const octokit = await asTheApp(github);
  const end = Date.now() + TIMEOUT_MS;
  for (;;) {
    const runs = await runsOf(databaseUrl);
    const verdicts = await Promise.all(
      expectations.map(async (expected) => {
        const seen = await stateOf(octokit, github.app, runs, expected);
        const last = runs.find(({ head_sha }) => head_sha === expected.heads.at(-1));
        return {
          expected,
          github: seen.merged ? 'merged' : 'open',
          database: last ? `${last.id} ${last.status}` : 'no run',
          diagnostics: differences(expected.state, seen),
        };
      }),
    );
    if (verdicts.every(({ diagnostics }) => diagnostics.length === 0) || Date.now() > end) return verdicts;
    await sleep(500);
  }
}

async function runsOf(databaseUrl: string): Promise<RunSeen[]> {
  const { stdout } = await run(process.execPath, [CLI, 'run', 'list', '--json', '--limit', '100'], {
    env: { PATH: process.env.PATH, DATABASE_URL: databaseUrl },
  });
  return JSON.parse(stdout);
}

async function stateOf(
  { rest, paginate }: Octokit,
  app: GitHubStandIn['app'],
  runs: readonly RunSeen[],
  { number, heads }: Expected,
): Promise<State> {
  const here = { owner, repo };
  const [pull, comments, checks, commits] = await Promise.all([
    rest.pulls.get({ ...here, pull_number: number }),
    paginate(rest.issues.listComments, { ...here, issue_number: number }),
    Promise.all(
      heads.map((ref) =>
        paginate(rest.checks.listForRef, { ...here, ref, app_id: app.id, filter: 'all' }).then((all) =>
          all.toSorted((a, b) => a.id - b.id),
        ),
      ),
    ),
    paginate(rest.repos.listCommits, { ...here, sha: 'main' }),
  ]);
  const newest = checks.at(-1)?.filter(isReport).at(-1);
  const annotations = newest
    ? await paginate(rest.checks.listAnnotations, { ...here, check_run_id: newest.id })
    : [];
  return {
    merged: pull.data.merged,
    check_runs: checks.map((ofHead) => ofHead.filter(isReport).map(({ conclusion }) => conclusion)),
    gates: checks.map((ofHead) => ofHead.findLast((one) => one.name === GATE)?.conclusion ?? null),
    annotations: annotations.map(({ path, start_line }) => `${path}:${start_line}`).sort(),
    comments: comments
      .filter(({ user }) => user?.login === app.botLogin)
      .map(({ body }) => firstWords(body ?? ''))
      .sort(),
    merge_parents: commits
      .filter(({ sha, commit }) => isOf(commit.message, number) || sha === pull.data.merge_commit_sha)
      .map(({ parents }) => parents.length),
    runs: heads.map((sha) => {
      const ended = runs.find((one) => one.pull_request === number && one.head_sha === sha);
      if (!ended) return 'no run';
      return ended.status === 'cancelled' ? (ended.reason?.code ?? ended.status) : ended.status;
    }),
  };
}

function isReport({ name }: { name: string }): boolean {
  return name !== GATE;
}

/** The first line of a comment that people see, without where it links to. */
function firstWords(body: string): string {
  const line = body.split('\n').find((one) => one !== '' && !one.startsWith('<!--')) ?? '';
  return line.replace(/^#+ /, '').replaceAll(/\[([^\]]*)\]\([^)]*\)/g, '$1');
}

/** Whether a commit's message belongs to the merge of this pull request, with any method. */
function isOf(message: string, number: number): boolean {
  const [title = ''] = message.split('\n');
  return title.endsWith(`(#${number})`) || title.startsWith(`Merge pull request #${number} `);
}

/** A client of GitHub's API with the installation's permissions. */
async function asTheApp(github: GitHubStandIn): Promise<Octokit> {
  const credentials = { appId: github.app.id, privateKey: github.app.privateKey };
  const app = new Octokit({ authStrategy: createAppAuth, auth: credentials, baseUrl: github.url });
  const { data } = await app.rest.apps.getRepoInstallation({ owner, repo });
  return new Octokit({
    authStrategy: createAppAuth,
    auth: { ...credentials, installationId: data.id },
    baseUrl: github.url,
  });
}
