/**
 * Runs the slow tests: `npm run test:slow` all of them, `npm run test:slow -- --shares=10` a tenth, which is another one after each
 * commit, and `npm run test:slow -- --shares=10 --share=3` the third tenth. docs/adr/0074-ci-runs-a-share-of-the-slow-tests.md has
 * the reasons. With `--record`, it writes how long each file took, by which the shares are made.
 */
import { execFileSync, spawnSync } from 'node:child_process';
import { readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { recordSeconds, sharesOf, slowFiles } from './slow-shares.ts';

const { shares, share, record } = parseArgs({
  options: { shares: { type: 'string' }, share: { type: 'string' }, record: { type: 'boolean' } },
}).values;
const git = (...args: string[]) => execFileSync('git', args, { encoding: 'utf8' }).trim();

const files = slowFiles();
const chosen = shares === undefined ? files : oneOf(sharesOf(files, Number(shares)));
// Tests that need a process each have no others beside them, and no more of those processes run at once than there are cores.
const alone = run('alone', 2);
const shared = run('shared', 4);
if (record) recordSeconds({ ...alone.seconds, ...shared.seconds });
process.exitCode = alone.passed && shared.passed ? 0 : 1;

/** The files of one share, and those that were changed last, because a new error is likeliest there. */
function oneOf(all: { files: string[] }[]): string[] {
  // Unless one is named, each commit has another.
  const number = Number(share ?? (turn() % all.length) + 1);
  const own = all[number - 1]?.files;
  // Without files, Vitest would run all.
  if (!own?.length) throw new Error(`Share ${number} of ${all.length} has no files.`);
  console.log(
    `Share ${number} of ${all.length} of the slow tests: ${own.length} of ${files.length} files. To run it again:`,
  );
  console.log(`  npm run test:slow -- --shares=${all.length} --share=${number}`);
  const changed = share === undefined ? changedFiles().filter((file) => !own.includes(file)) : [];
  if (changed.length > 0) console.log(`Changed last, so they run as well:\n  ${changed.join('\n  ')}`);
  return [...own, ...changed];
}

/** The number of commits. A shallow clone always has as many, so there the commit's hash chooses. */
function turn(): number {
  return git('rev-parse', '--is-shallow-repository') === 'true'
    ? Number.parseInt(git('rev-parse', 'HEAD').slice(0, 8), 16)
    : Number(git('rev-list', '--count', 'HEAD'));
}

/** Of the last commit, and what is not committed yet. */
function changedFiles(): string[] {
  // A clone without history knows no difference.
  if (git('rev-list', '--max-count=2', 'HEAD').split('\n').length < 2) return [];
  const changed = [
    ...git('diff', '--name-only', 'HEAD~1').split('\n'),
    ...git('ls-files', '--others', '--exclude-standard').split('\n'),
  ];
  return files.filter((file) => changed.includes(file));
}

function run(project: string, workers: number): { passed: boolean; seconds: Record<string, number> } {
  const report = join(tmpdir(), `countersign-slow-${process.pid}.json`);
  const { status } = spawnSync(
    'vitest',
    [
      ...[
        'run',
        `--project=${project}`,
        `--maxWorkers=${workers}`,
        '--tags-filter=slow',
        '--passWithNoTests',
      ],
      ...(record ? ['--reporter=default', '--reporter=json', `--outputFile.json=${report}`] : []),
      ...chosen,
    ],
    { stdio: 'inherit' },
  );
  if (!record) return { passed: status === 0, seconds: {} };
  const { testResults } = JSON.parse(readFileSync(report, 'utf8')) as {
    testResults: { name: string; startTime: number; endTime: number }[];
  };
  rmSync(report);
  const seconds = testResults.map(
    ({ name, startTime, endTime }) => [name, (endTime - startTime) / 1_000 / workers] as const,
  );
  return { passed: status === 0, seconds: Object.fromEntries(seconds) };
}
