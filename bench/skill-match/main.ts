import { cpus } from 'node:os';
import { parseArgs } from 'node:util';
import { createSelect } from '../../src/skills/catalogue/activation/select.ts';
import { MAX_PATH_LENGTH, MAX_PATHS } from '../../src/skills/catalogue/glob-matcher.ts';
import { MAX_TEXT_LENGTH, type Question } from '../../src/skills/catalogue/match.ts';
import { manySkills } from './skills.ts';

/**
 * The time to choose among 500 skills without a model, as a step or a question in a comment does: from stored
 * metadata, with three intent patterns and three globs each. Measures a short question, one about a pull
 * request with 100 files, and the longest text and paths that are considered. The first choice after the
 * start is a separate figure, because nothing is read, compiled and warm then. The reference is a loop over
 * the same descriptions that searches each for one word. Exits with 1 if a median is 100 ms or more; the
 * maxima also depend on the machine's other work.
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

const outlines = skills.map(({ id, name, artifacts }) => ({
  id,
  name,
  description: artifacts[0]?.content ?? '',
  artifacts: [{ kind: 'prompt_template' as const, name: 'ask.md', modelVariant: null }],
}));
const wanted = new Map(outlines.map((outline) => [outline.id, outline]));
const select = createSelect({
  skills: { outlines: async (ids) => ids.flatMap((id) => wanted.get(id) ?? []) },
  kinds: ['prompt_template'],
  model: undefined,
});
const ids = [...wanted.keys()];
const purpose = {
  runId: null,
  sessionId: null,
  repositoryId: null,
  pullRequest: null,
  skill: null,
  artifact: null,
};

async function timed(question: Question): Promise<number> {
  const { signal } = new AbortController();
  const started = performance.now();
  await select({ question, ids, mayAnswer: false, purpose, signal });
  return performance.now() - started;
}

async function timesOf(question: Question): Promise<number[]> {
  const times: number[] = [];
  while (times.length < rounds) times.push(await timed(question));
  return times;
}

function figures(values: readonly number[]): { median: number; max: number } {
  const sorted = values.toSorted((a, b) => a - b);
  const at = (index: number) => Number((sorted[index] ?? 0).toFixed(1));
  return { median: at(Math.floor(sorted.length / 2)), max: at(sorted.length - 1) };
}

const firstMs = await timed(QUESTIONS['a short question']);
const chosen: Record<string, ReturnType<typeof figures>> = {};
for (const [name, question] of Object.entries(QUESTIONS)) chosen[name] = figures(await timesOf(question));
const floor = figures(
  Array.from({ length: rounds }, () => {
    const started = performance.now();
    skills.filter(({ description }) => description.includes('migration'));
    return performance.now() - started;
  }),
);
const passed = Object.values(chosen).every(({ median }) => median < MAX_MS);
process.exitCode = passed ? 0 : 1;

const rows = {
  'the first choice': Number(firstMs.toFixed(1)),
  ...chosen,
  'floor: one word in each description': floor,
};
if (options.json) {
  const setting = { skills: skills.length, rounds, node: process.version, cpus: cpus().length };
  console.log(JSON.stringify({ ...setting, ms: rows, limit_ms: MAX_MS, passed }));
} else {
  console.log(
    `Milliseconds to choose among ${skills.length} skills, ${rounds} rounds (each below ${MAX_MS}):`,
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
