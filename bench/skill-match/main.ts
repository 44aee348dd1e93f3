import { cpus } from 'node:os';
import { parseArgs } from 'node:util';
import { createMatcher, MAX_TEXT_LENGTH } from '../../src/skill/match.ts';
import { MAX_PATH_LENGTH, MAX_PATHS } from '../../src/skill/some-path.ts';
import { manySkills } from './skills.ts';

/**
 * How long it takes to find the skills that fit a question among 500, with three intent patterns and three globs each: a short
 * question, one about a pull request of 100 files, and the longest text and paths that are looked at. The first match after the
 * start is a figure of its own, since nothing is compiled and warm by then. The floor is a loop over the same descriptions that
 * only looks for one word in each. Exits 1 when a median is 100 ms or more: the maxima tell of the machine's other work too.
 */
const { values: options } = parseArgs({
  options: {
    skills: { type: 'string', default: '500' },
    rounds: { type: 'string', default: '50' },
    json: { type: 'boolean', default: false },
  },
});
const MAX_MS = 100;
const rounds = Number(options.rounds);
const skills = manySkills(Number(options.skills));

const paths = Array.from(
  { length: 100 },
  (_, index) => `packages/p${index % 7}/src/feature-${index}/index.ts`,
);
const QUESTIONS = {
  'a short question': { text: 'Could you review the migration, please?', paths: [] },
  'a pull request of 100 files': {
    text: 'Is our cache safe with this?',
    paths: [...paths, 'db/migration-7/a.sql'],
  },
  'the most that is looked at': {
    text: 'why is the queue slow and does it '.repeat(100).slice(0, MAX_TEXT_LENGTH),
    paths: Array.from(
      { length: MAX_PATHS },
      (_, index) => 'src/queue/schema/cache/'.repeat(20).slice(0, MAX_PATH_LENGTH - 5) + index,
    ),
  },
};

function timed<T>(work: () => T): { ms: number; result: T } {
  const started = performance.now();
  const result = work();
  return { ms: performance.now() - started, result };
}

function figures(values: readonly number[]): { median: number; max: number } {
  const sorted = values.toSorted((a, b) => a - b);
  const at = (index: number) => Number((sorted[index] ?? 0).toFixed(1));
  return { median: at(Math.floor(sorted.length / 2)), max: at(sorted.length - 1) };
}

const { ms: prepareMs, result: matcher } = timed(() => createMatcher(skills));
const first = timed(() => matcher.match(QUESTIONS['a short question']));
const matched = Object.fromEntries(
  Object.entries(QUESTIONS).map(([name, question]) => [
    name,
    figures(Array.from({ length: rounds }, () => timed(() => matcher.match(question)).ms)),
  ]),
);
const floor = figures(
  Array.from(
    { length: rounds },
    () => timed(() => skills.filter(({ description }) => description.includes('migration'))).ms,
  ),
);
const passed = Object.values(matched).every(({ median }) => median < MAX_MS);
process.exitCode = passed ? 0 : 1;

const rows = {
  'preparing (once)': Number(prepareMs.toFixed(1)),
  'the first match': Number(first.ms.toFixed(1)),
  ...matched,
  'floor: one word in each description': floor,
};
if (options.json) {
  const setting = { skills: skills.length, rounds, node: process.version, cpus: cpus().length };
  console.log(JSON.stringify({ ...setting, ms: rows, limit_ms: MAX_MS, passed }));
} else {
  console.log(
    `Milliseconds to match among ${skills.length} skills, ${rounds} rounds (each below ${MAX_MS}):`,
  );
  console.table(
    Object.fromEntries(
      Object.entries(rows).map(([name, value]) => [
        name,
        typeof value === 'number' ? { median: value, max: value } : value,
      ]),
    ),
  );
}
