import { expect, test } from 'vitest';
import { GitHubError, type WorkflowJob } from '../../../../src/ports/github.ts';
import { commandsIn, readCommands } from '../../../../src/skills/builtin/ci/commands.ts';
import { at } from '../../../support/builders.ts';
import { run } from './facts.ts';

const REPO = { owner: 'octo', name: 'app' };

function job(name: string, ...steps: [name: string, conclusion: string | null, ms?: number][]): WorkflowJob {
  return {
    name,
    steps: steps.map(([name, conclusion, ms = 1_000]) => ({
      name,
      conclusion,
      startedAt: at(0),
      completedAt: conclusion === null ? null : at(ms),
    })),
  };
}

test('the commands are the steps of a job without the runner’s own steps', () => {
  const steps = job(
    'test',
    ['Set up job', 'success'],
    ['Run actions/checkout@v5', 'success'],
    ['Run octo/tools/setup@main', 'success'],
    ['Run docker://alpine:3', 'success'],
    ['Run npm ci', 'success', 21_000],
    ['Run bin/prepare', 'success'],
    ['Run ./test.sh --all', 'failure', 90_000],
    ['Tell the team', 'cancelled'],
    ['Run npm publish', 'skipped'],
    ['Run sleep 60', null],
    ['Post Run actions/checkout@v5', 'success'],
    ['Complete job', 'success'],
  );
  expect(commandsIn([steps])).toEqual([
    { command: 'npm ci', passed: true, duration_ms: 21_000 },
    { command: 'bin/prepare', passed: true, duration_ms: 1_000 },
    { command: './test.sh --all', passed: false, duration_ms: 90_000 },
    { command: 'Tell the team', passed: false, duration_ms: 1_000 },
  ]);
});

test('the commands of several jobs say which job each belongs to', () => {
  const jobs = [job('lint', ['Run biome check', 'success']), job('test', ['Run vitest', 'failure'])];
  expect(commandsIn(jobs).map(({ command }) => command)).toEqual(['lint: biome check', 'test: vitest']);
});

test('a workflow is read once for all its jobs, and jobs whose checks do not count are omitted', async () => {
  const asked: number[] = [];
  const reader = {
    workflowJobs: async (_: unknown, id: number) => {
      asked.push(id);
      return [job('lint', ['Run biome check', 'success']), job('deploy', ['Run ship', 'failure'])];
    },
  };
  const checks = [
    run('lint', 'success', { workflowRunId: 7 }),
    run('types', 'success', { workflowRunId: 7 }),
    run('other', 'success'),
  ];
  expect(await readCommands(reader, REPO, checks)).toEqual([
    { command: 'biome check', passed: true, duration_ms: 1_000 },
  ]);
  expect(asked).toEqual([7]);
});

test('only as much is read and kept as a person would read', async () => {
  let asked = 0;
  const reader = {
    workflowJobs: async (_: unknown, id: number) => {
      asked++;
      return [
        job(
          `job ${id}`,
          ...Array.from({ length: 60 }, (_, n): [string, string] => [`Run ${'x'.repeat(n * 20)}`, 'success']),
        ),
      ];
    },
  };
  const checks = Array.from({ length: 40 }, (_, n) => run(`job ${n}`, 'success', { workflowRunId: n }));
  const commands = await readCommands(reader, REPO, checks);
  expect(asked).toBe(10);
  expect(commands).toHaveLength(100);
  expect(Math.max(...commands.map(({ command }) => command.length))).toBeLessThanOrEqual(300);
});

test.each(['forbidden', 'not_found'] as const)('an answer of the kind %s means no commands', async (kind) => {
  const reader = {
    workflowJobs: () => Promise.reject(new GitHubError(kind, 403, 'Resource not accessible')),
  };
  expect(await readCommands(reader, REPO, [run('lint', 'success', { workflowRunId: 7 })])).toEqual([]);
});
