import { execFile } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { createAppAuth } from '@octokit/auth-app';
import { Octokit } from '@octokit/rest';
import type { GitHubStandIn } from '../test/support/github/stand-in.ts';
import type { Expected } from './cases.ts';
import { REPO } from './world.ts';

const run = promisify(execFile);
const [owner = '', repo = ''] = REPO.split('/');
const CLI = fileURLToPath(new URL('../src/cli/main.ts', import.meta.url));

/** What the command line says of one run; the public shape, of which only this much matters here. */
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
  faults: string[];
}

/** Reads every expected state back from GitHub's API and, through the command line, from the database. */
export async function readBack(
  github: GitHubStandIn,
  databaseUrl: string,
  expectations: readonly Expected[],
): Promise<Verdict[]> {
  const { stdout } = await run(process.execPath, [CLI, 'run', 'list', '--json', '--limit', '100'], {
    env: { PATH: process.env.PATH, DATABASE_URL: databaseUrl },
  });
  const runs = JSON.parse(stdout) as RunSeen[];
  const octokit = await asTheApp(github);
  return Promise.all(
    expectations.map(async (expected) => {
      const { data: pull } = await octokit.rest.pulls.get({ owner, repo, pull_number: expected.number });
      const faults: string[] = [];
      if (pull.merged !== expected.merged) faults.push(`GitHub says merged: ${pull.merged}`);
      const own = runs.find(
        (one) => one.pull_request === expected.number && one.head_sha === expected.headSha,
      );
      if (own?.status !== expected.runStatus) faults.push(`the database says ${own?.status ?? 'no run'}`);
      for (const sha of expected.superseded) {
        const old = runs.find((one) => one.head_sha === sha);
        if (old?.reason?.code !== 'run.cancelled.superseded')
          faults.push(`the run of ${sha} is not superseded`);
      }
      const merges = github.merges.filter((merge) => merge.number === expected.number).length;
      if (merges !== (expected.merged ? 1 : 0)) faults.push(`${merges} merges`);
      return {
        expected,
        github: pull.merged ? 'merged' : pull.state,
        database: own ? `${own.id} ${own.status}` : 'no run',
        faults,
      };
    }),
  );
}

/** A client of GitHub's API with the installation's rights. */
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
