import { parseArgs } from 'node:util';
import { manyQuestions } from '../../test/budgets/many-questions.ts';

/**
 * What open questions cost that nobody answers, with the real app: requests, transactions of the database and
 * processor time in an hour of a test's clock. The stand-in for GitHub runs in the same process, and its
 * processor time counts too.
 */
const { values: options } = parseArgs({
  options: {
    count: { type: 'string', default: '5000' },
    'age-hours': { type: 'string', default: '48' },
    installations: { type: 'string', default: '1' },
  },
});
const HOUR = 3_600_000;

const questions = await manyQuestions(Number(options.count), Number(options['age-hours']) * HOUR, {
  installations: Number(options.installations),
});
await questions.harness.advance(600_000);
questions.reset();
const before = process.cpuUsage();
await questions.harness.advance(HOUR);
const { user, system } = process.cpuUsage(before);
const { polls, rechecks, transactions, others } = questions.figures();
const cpuSeconds = (user + system) / 1e6;
console.table({
  'requests of GraphQL': polls,
  'other requests about pull requests': others.length,
  'rechecks by the engine': rechecks,
  transactions,
  'processor seconds': Number(cpuSeconds.toFixed(2)),
  'percent of a core': Number(((cpuSeconds / (HOUR / 1_000)) * 100).toFixed(2)),
});
await questions.harness.stop();
