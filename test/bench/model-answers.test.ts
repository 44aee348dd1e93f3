import { readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { basename, join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { z } from 'zod';
import {
  type AnswerSource,
  byFiles,
  byProvider,
  modelOn,
  type Replayed,
  recorded,
  replay,
} from '../../bench/review-quality/model/answer-sources.ts';
import { FREE } from '../../bench/review-quality/model/budget.ts';
import { ledgerFor, recordAll } from '../../bench/review-quality/model/measure.ts';
import {
  type Recording,
  readRecordings,
  writeRecording,
} from '../../bench/review-quality/model/recording.ts';
import { reservations } from '../../bench/review-quality/model/report-small.ts';
import type { SmallReview } from '../../bench/review-quality/model/review-small.ts';
import { namesWeakness, scoreOf } from '../../bench/review-quality/model/score-small.ts';
import {
  parseChanges,
  type SmallPullRequest,
  smallPullRequests,
} from '../../bench/review-quality/model/small-pull-requests.ts';
import { readSamples } from '../../bench/review-quality/read-samples.ts';
import type { Finding } from '../../src/domain/outcome/finding.ts';
import type { Model, Provider, Reply } from '../../src/ports/model.ts';
import { purpose } from '../support/model/questions.ts';
import { temporaryFolders } from '../support/temp.ts';

const temporaryFolder = temporaryFolders();
const NAME = { provider: 'openai-compatible', model: 'stub' } as const;
const PRICE = { input: 1, output: 1 };
const schema = z.strictObject({ findings: z.array(z.string()) });
const nothing = (): Recording => ({ model: NAME, answers: {} });

/** Answers at once and counts what it is asked. */
function standIn(...replies: Reply[]): Provider & { calls: number } {
  return {
    name: NAME,
    calls: 0,
    async call() {
      const reply = replies[Math.min(this.calls, replies.length - 1)];
      this.calls++;
      return reply ?? { kind: 'text', text: '{"findings":[]}', tokens: { input: 100, output: 10 } };
    },
  };
}

const said = (text: string): Reply => ({ kind: 'text', text, tokens: { input: 100, output: 10 } });

const ask = (source: AnswerSource, prompt = 'What is wrong?', pullRequest = 'a change') =>
  askOf(modelOn(source, { name: NAME, ledger: FREE, pullRequest }), prompt);

const askOf = (model: Model, prompt = 'What is wrong?') =>
  model.ask({
    prompt,
    schema,
    limits: { maxOutputTokens: 500, timeoutMs: 60_000 },
    purpose: { ...purpose, artifact: 'prompts/review.md' },
    signal: new AbortController().signal,
  });

const change = (name: string): SmallPullRequest => ({
  name,
  half: 'tuning',
  title: 'Add a.ts',
  path: 'src/a.ts',
  before: undefined,
  after: 'a();\n',
  weakness: undefined,
});

describe('a recorded answer', () => {
  const WORDS = '{"findings":["It leaks."]}';
  const record = async () => {
    const into = nothing();
    await ask(
      recorded(
        into,
        byProvider(standIn(said(WORDS)), () => 0),
      ),
    );
    return into;
  };

  test('is given again for the same prompt of the same pull request', async () => {
    const told: Replayed[] = [];
    const answer = await ask(replay(await record(), (one) => told.push(one)));
    expect(answer).toMatchObject({ kind: 'answered', value: { findings: ['It leaks.'] } });
    expect(told).toEqual([
      {
        pullRequest: 'a change',
        prompt: 'prompts/review.md',
        state: 'current',
        tokens: { input: 100, output: 10 },
        ms: 0,
      },
    ]);
  });

  test('is given, and counted as one of an older prompt, if the prompt has changed since', async () => {
    const told: Replayed[] = [];
    const source = replay(await record(), (one) => told.push(one));
    expect(await ask(source, 'What is wrong with it?')).toMatchObject({ kind: 'answered' });
    await ask(source, 'What is wrong?', 'another change');
    expect(told.map(({ state }) => state)).toEqual(['of an older prompt', 'missing']);
    expect(reservations({ name: 'It', reviews: [], answers: told, price: undefined })).toEqual([
      'It: 1 of 2 answers are of an older prompt.',
      'It: 1 of 2 answers are missing.',
    ]);
  });

  test('is missing without a second try for another pull request', async () => {
    const told: Replayed[] = [];
    const answer = await ask(
      replay(await record(), (one) => told.push(one)),
      'What is wrong?',
      'another change',
    );
    expect(answer.kind).toBe('failed');
    expect(told).toHaveLength(1);
  });

  test('is not asked for again, unless its prompt has changed', async () => {
    const into = await record();
    const provider = standIn();
    const source = recorded(
      into,
      byProvider(provider, () => 0),
    );
    await ask(source);
    expect(provider.calls).toBe(0);
    await ask(source, 'What is wrong with it?');
    expect(provider.calls).toBe(1);
  });

  test('counts the tokens of an unusable answer before it', async () => {
    const into = nothing();
    await ask(
      recorded(
        into,
        byProvider(standIn(said('Looks good.'), said(WORDS)), () => 0),
      ),
    );
    expect(into.answers['a change']?.['prompts/review.md']).toMatchObject({
      text: WORDS,
      tokens: { input: 200, output: 20 },
    });
  });

  test('is the same after it was written and read', async () => {
    const folder = temporaryFolder();
    const into = await record();
    writeRecording(into, folder);
    expect(readRecordings(folder)).toEqual([into]);
  });
});

test('a prompt that is written to a file is answered from the file beside it', async () => {
  const folder = temporaryFolder();
  expect(await ask(byFiles(folder))).toMatchObject({ kind: 'failed' });
  const [file = ''] = readdirSync(folder);
  expect(readFileSync(join(folder, file), 'utf8')).toContain('What is wrong?');
  writeFileSync(join(folder, `${basename(file, '.txt')}.json`), '{"findings":[]}');
  expect(await ask(byFiles(folder))).toMatchObject({ kind: 'answered', value: { findings: [] } });
});

describe('recording', () => {
  const review = async (pullRequest: SmallPullRequest, { model }: { model: Model | undefined }) => {
    const answer = model && (await askOf(model));
    return { pullRequest, findings: [], takenBack: [], isComplete: answer?.kind === 'answered', ms: 0 };
  };
  const kept = (recording: Recording) => Object.keys(recording.answers);

  test('refuses to ask a provider without a budget, and without a price', () => {
    expect(() => ledgerFor(undefined, PRICE)).toThrow('--budget 2.00');
    expect(() => ledgerFor('free', PRICE)).toThrow('--budget 2.00');
    expect(() => ledgerFor('2.00', undefined)).toThrow('--price 3/15');
  });

  test('stops before a call that could exceed the budget, and keeps what it has', async () => {
    const provider = standIn();
    // Each call can cost 500 millionths for its answer and about 1,000 for its question, and costs 110.
    const ledger = ledgerFor('0.0023', PRICE);
    const recording = nothing();
    const keeps: string[][] = [];
    const ended = await recordAll(
      Array.from({ length: 50 }, (_, index) => change(`change ${index}`)),
      {
        provider,
        ledger,
        recording,
        pool: undefined as never,
        review,
        keep: (one) => keeps.push(kept(one)),
      },
    );
    expect(ended).toBe(`stopped by the budget after ${provider.calls} of 50 pull requests`);
    expect(provider.calls).toBeGreaterThan(1);
    expect(provider.calls).toBeLessThan(50);
    expect(ledger.spent()).toBe(110 * provider.calls);
    expect(ledger.spent()).toBeLessThanOrEqual(2_300);
    expect(keeps.at(-1)).toHaveLength(provider.calls);
  });

  test('counts the most that a call could cost if the provider does not say what it cost', async () => {
    const ledger = ledgerFor('2.00', PRICE);
    const provider = standIn({ kind: 'text', text: '{"findings":[]}', tokens: null });
    await recordAll([change('one')], {
      provider,
      ledger,
      recording: nothing(),
      pool: undefined as never,
      review,
      keep: () => undefined,
    });
    expect(ledger.spent()).toBeGreaterThan(500);
  });
});

describe('the small pull requests', () => {
  const all = smallPullRequests(readSamples());

  test('have weaknesses in both halves, corrected samples and ordinary changes', () => {
    const of = (half: string) => all.filter((one) => one.half === half && one.weakness).length;
    expect(all).toHaveLength(46);
    expect([of('tuning'), of('control')].every((count) => count > 0)).toBe(true);
    expect(all.filter(({ before }) => before !== undefined)).toHaveLength(10);
    expect(all.filter(({ before, weakness }) => before === undefined && !weakness).length).toBeGreaterThan(
      10,
    );
  });

  test('do not show the name of a sample, which says what is wrong with it', () => {
    const samples = all.filter(({ before }) => before === undefined);
    expect(samples.filter(({ name, title, path }) => `${title} ${path}`.includes(name))).toEqual([]);
  });

  test('are refused with the line that has no mark', () => {
    expect(() => parseChanges('== a | A | a.ts\n+a();\nb();\n')).toThrow('line 3');
  });
});

describe('a finding on a small pull request', () => {
  const weak: SmallPullRequest = { ...change('weak'), weakness: { kind: 'xss', places: [10] } };
  const finding = (over: Partial<Finding>): Finding => ({
    severity: 'high',
    category: 'injection',
    file: 'src/a.ts',
    line: 10,
    description: 'It is unescaped.',
    suggestion: null,
    rule: 'model/injection',
    ...over,
  });
  const reviewOf = (pullRequest: SmallPullRequest, findings: Finding[]): SmallReview => ({
    pullRequest,
    findings,
    takenBack: [],
    isComplete: true,
    ms: 1,
  });

  test.each([
    [{}, true],
    [{ line: 13 }, true],
    [{ line: 14 }, false],
    [{ category: 'style', rule: 'model/style' }, false],
    [{ rule: 'data-flow/cross-site-scripting' }, true],
    [{ rule: 'data-flow/command-injection' }, false],
  ])('with %o names the weakness: %s', (over, expected) => {
    expect(namesWeakness(finding(over), { pullRequest: weak })).toBe(expected);
  });

  test('counts against precision unless it names the weakness, and as a block if it is critical or high', () => {
    const reviews = [
      reviewOf(weak, [finding({}), finding({ line: 20 })]),
      reviewOf(change('harmless'), [finding({ severity: 'low' })]),
      reviewOf(change('blocked'), [finding({})]),
      reviewOf(change('quiet'), []),
    ];
    expect(scoreOf(reviews)).toMatchObject({
      weaknesses: { tuning: { found: 1, of: 1 } },
      findings: 4,
      right: 1,
      harmless: { of: 3, remarked: 2, blocked: 1 },
    });
  });
});

test('every recorded answer belongs to a small pull request', () => {
  const names = new Set(smallPullRequests(readSamples()).map(({ name }) => name));
  const recordings = readRecordings();
  expect(recordings.length).toBeGreaterThan(0);
  for (const { answers } of recordings)
    expect(Object.keys(answers).filter((name) => !names.has(name))).toEqual([]);
});
