// @module-tag slow

/*
 * An organisation installs the app on all its repositories and observes. The figures of docs/rollout.md come from here.
 */
import { expect, test } from 'vitest';
import { createTools } from '../../src/cli-tools.ts';
import { answered } from '../entrypoints/cli/support.ts';
import type { ObservedRequest } from '../support/github/server.ts';
import { start } from './support.ts';

const ALL = 500;
const WITH_PULL_REQUEST = 50;
/** One repository in so many has an error in its settings; the first of them has a pull request. */
const BROKEN_EVERY = 100;
const BROKEN = ALL / BROKEN_EVERY;
/** GitHub's hourly limit for an installation with so many repositories: 5,000 and 50 for each beyond 20, and at most this. */
const HOURLY = 12_500;
const AT_MOST = {
  /** Five for each: the list of its pull requests, the repository, its tip, and the folder with what is in it. */
  install: 5 * ALL + 100,
  /** From opened to what would have been merged, for each. */
  pullRequest: 15,
  /** A tip and a folder for each, and the pages of the list. */
  check: 2 * ALL + 50,
};
const HOUR = 3_600_000;

test('an organisation of 500 repositories is observed without a write, within its requests, and reported', {
  timeout: 600_000,
}, async () => {
  const harness = await start({ rollout: 'observe', rateLimit: HOURLY });
  const { github } = harness;
  let requests = 0;
  const writes: string[] = [];
  github.onRequest((request) => {
    requests += 1;
    if (isWrite(request)) writes.push(`${request.method} ${request.path}`);
  });
  const counted = async (work: () => Promise<unknown>) => {
    requests = 0;
    await work();
    return requests;
  };
  github.addOrganization('acme');
  const names = Array.from({ length: ALL }, (_, at) => `service-${at}`);
  for (const [at, name] of names.entries())
    github.addRepository({
      owner: 'acme',
      name,
      files: {
        'README.md': `# ${name}\n`,
        ...(at % BROKEN_EVERY === 0 && { '.github/countersign.yml': 'merge:\n  bye: people\n' }),
      },
      collaborators: { ada: 'write', mia: 'maintain' },
    });

  const toInstall = await counted(async () => {
    github.installApp('acme');
    await harness.settle();
    await harness.advance(HOUR);
  });
  expect(toInstall).toBeLessThanOrEqual(AT_MOST.install);

  const toReview = await counted(async () => {
    for (const name of names.slice(0, WITH_PULL_REQUEST))
      await github.openPullRequest({
        repo: `acme/${name}`,
        author: 'ada',
        branch: 'greet',
        title: 'Greet people',
        files: { 'src/greet.ts': 'export const hello = 1;\n' },
      });
    await harness.settle();
    await harness.advance(60_000);
  });
  expect(toReview).toBeLessThanOrEqual(AT_MOST.pullRequest * WITH_PULL_REQUEST);

  const tools = createTools(environmentOf(harness.config));
  const cli = async (...args: string[]) => {
    const { out, err } = await answered([...args, '--json'], { cwd: '/', clock: harness.clock, tools });
    expect(err).toBe('');
    return JSON.parse(out);
  };
  let checked: { checked: number; errors: unknown[]; unreadable: unknown[] } | undefined;
  const toCheck = await counted(async () => {
    checked = await cli('config', 'check', '--organisation', 'acme');
  });
  expect(checked).toMatchObject({ checked: ALL, unreadable: [] });
  expect(checked?.errors).toHaveLength(BROKEN);
  expect(toCheck).toBeLessThanOrEqual(AT_MOST.check);

  const { repositories } = (await cli('report', '--organisation', 'acme')) as {
    repositories: { rollout: string; configuration: { errors: number }; runs: { would_merge: number } }[];
  };
  expect(repositories).toHaveLength(ALL);
  expect(new Set(repositories.map(({ rollout }) => rollout))).toEqual(new Set(['observe']));
  expect(repositories.map(({ configuration }) => configuration.errors).slice(0, BROKEN + 1)).toEqual([
    ...Array.from({ length: BROKEN }, () => 1),
    0,
  ]);
  // Nothing runs where the settings have an error.
  expect(repositories.filter(({ runs }) => runs.would_merge === 1)).toHaveLength(WITH_PULL_REQUEST - 1);
  expect(writes).toEqual([]);
  expect(github.merges).toEqual([]);
});

function isWrite({ method, path, body }: ObservedRequest): boolean {
  if (method === 'GET' || path.endsWith('/access_tokens')) return false;
  const isQuery = path.endsWith('/graphql') && !/\bmutation\b/.test(JSON.stringify(body));
  return !isQuery && !path.startsWith('/app/hook/deliveries');
}

function environmentOf(config: {
  appId: number;
  privateKey: string;
  webhookSecret: string;
  githubApiUrl: string;
  databaseUrl: string;
}): Record<string, string> {
  return {
    APP_ID: String(config.appId),
    PRIVATE_KEY: config.privateKey,
    WEBHOOK_SECRET: config.webhookSecret,
    GITHUB_API_URL: config.githubApiUrl,
    DATABASE_URL: config.databaseUrl,
  };
}
