// @module-tag slow
import { describe, expect, onTestFinished, test } from 'vitest';
import type { AppConfig } from '../../src/config/config.ts';
import { type Collector, type ReceivedSpan, startCollector } from '../support/collector.ts';
import { type Harness, REPO } from '../support/harness.ts';
import { CI_AND_MERGE, countersign, MERGE_ONLY, open, reportCi, type Setting, start } from './support.ts';

type Tracing = NonNullable<AppConfig['tracing']>;

interface Traced {
  harness: Harness;
  collector: Collector;
}

/** The app with a collector; spans arrive when the app stops, at the latest. */
async function traced(setting: Setting = {}, tracing: Partial<Tracing> = {}): Promise<Traced> {
  const collector = await startCollector();
  onTestFinished(() => collector.stop());
  const { endpoint } = collector;
  const harness = await start({
    chain: MERGE_ONLY,
    ...setting,
    tracing: {
      endpoint,
      headers: { authorization: 'Bearer a-key-only-for-tests' },
      service: 'countersign-test',
      sampler: 'always_on',
      ratio: 1,
      ...tracing,
    },
  });
  // The comparison at the start would find the pull request before its webhook comes.
  await harness.settle();
  return { harness, collector };
}

async function merge({ harness }: Traced): Promise<number> {
  const { number } = await open(harness);
  await countersign(harness, number);
  expect((await harness.github.pullRequest(REPO, number)).merged).toBe(true);
  return number;
}

/** The names from the root of its trace to the span. */
function pathTo(span: ReceivedSpan, spans: readonly ReceivedSpan[]): string[] {
  const parent = spans.find(
    ({ spanId, traceId }) => spanId === span.parentSpanId && traceId === span.traceId,
  );
  return [...(parent ? pathTo(parent, spans) : []), span.name];
}

const MERGE = 'PUT /repos/{owner}/{repo}/pulls/{pull_number}/merge';

const named = ({ spans }: Collector, name: string) => spans.filter((span) => span.name === name);

describe('the traces', () => {
  test('lead from the webhook that opened a pull request over its run and step to the call that merged it', async () => {
    const both = await traced();
    const { harness, collector } = both;
    const number = await merge(both);
    await harness.down();

    const [call, another] = named(collector, MERGE);
    expect(another).toBeUndefined();
    expect(call && pathTo(call, collector.spans)).toEqual([
      'delivery pull_request',
      'run pr-review',
      'step merge',
      MERGE,
    ]);
    expect(call).toMatchObject({
      kind: 3,
      attributes: { 'http.request.method': 'PUT', 'http.response.status_code': '200' },
      status: {},
    });
    const opened = harness.github.deliveries.find(
      ({ event, action }) => event === 'pull_request' && action === 'opened',
    );
    expect(
      collector.spans.find(({ parentSpanId, traceId }) => !parentSpanId && traceId === call?.traceId),
    ).toMatchObject({
      name: 'delivery pull_request',
      kind: 2,
      attributes: { 'countersign.delivery.guid': opened?.guid, 'countersign.delivery.action': 'opened' },
    });
    expect(named(collector, 'run pr-review')).toMatchObject([
      {
        attributes: {
          'countersign.chain': 'pr-review',
          'countersign.repository': 'octo/app',
          'countersign.pull_request': String(number),
          'countersign.run.status': 'completed',
        },
        status: {},
      },
    ]);
    await harness.up();
  });

  test('have the writes of a run, with their calls, in it', async () => {
    const both = await traced();
    await merge(both);
    await both.harness.down();
    const writes = both.collector.spans.filter(({ name }) => name.startsWith('effect '));
    expect(new Set(writes.map(({ name }) => name))).toEqual(
      new Set(['effect check_run', 'effect comment', 'effect gate_check']),
    );
    for (const write of writes)
      expect(pathTo(write, both.collector.spans)).toEqual([
        'delivery pull_request',
        'run pr-review',
        write.name,
      ]);
    const calls = both.collector.spans.filter(({ parentSpanId }) =>
      writes.some(({ spanId }) => spanId === parentSpanId),
    );
    expect(calls.map(({ name }) => name)).toContain('POST /graphql');
    await both.harness.up();
  });

  test('have no span without its parent, and no span twice, once runs are over', async () => {
    const both = await traced();
    await merge(both);
    await both.harness.down();
    const { spans } = both.collector;
    expect(
      spans.filter(
        ({ parentSpanId }) => parentSpanId && !spans.some(({ spanId }) => spanId === parentSpanId),
      ),
    ).toEqual([]);
    expect(new Set(spans.map(({ spanId }) => spanId)).size).toBe(spans.length);
    for (const { startTimeUnixNano, endTimeUnixNano } of spans)
      expect(BigInt(endTimeUnixNano)).toBeGreaterThanOrEqual(BigInt(startTimeUnixNano));
    await both.harness.up();
  });

  test('continue after a restart: the step that merges is in the run that the process before began', async () => {
    const { harness, collector } = await traced();
    const { number } = await open(harness);
    await harness.restart();
    await countersign(harness, number);
    await harness.down();
    const [call] = named(collector, MERGE);
    expect(call && pathTo(call, collector.spans)).toEqual([
      'delivery pull_request',
      'run pr-review',
      'step merge',
      MERGE,
    ]);
    await harness.up();
  });

  test('say of a delivery that begins no run that it was processed', async () => {
    const { harness, collector } = await traced({ chain: CI_AND_MERGE });
    const { headSha } = await open(harness);
    await reportCi(harness, headSha, 'failure');
    await harness.down();
    const [status] = named(collector, 'delivery status');
    expect(status).toMatchObject({ attributes: { 'countersign.delivery.event': 'status' } });
    expect(status?.parentSpanId).toBeUndefined();
    await harness.up();
  });

  test('have one request of a batch, with the headers and the name of the service that were set', async () => {
    const both = await traced();
    await merge(both);
    await both.harness.down();
    for (const { path, headers, service } of both.collector.requests) {
      expect({ path, service }).toEqual({ path: '/v1/traces', service: 'countersign-test' });
      expect(headers).toMatchObject({
        authorization: 'Bearer a-key-only-for-tests',
        'content-type': 'application/json',
      });
    }
    expect(both.collector.requests.length).toBeGreaterThan(0);
    await both.harness.up();
  });

  test('have nothing that a pull request says, and no token', async () => {
    const { harness, collector } = await traced();
    const { number } = await open(harness, {
      title: 'A title of nobody’s business',
      body: 'a body that stays',
      branch: 'branch-of-ada',
      files: { 'path-of-ada.ts': 'export const content = 1;\n' },
    });
    await countersign(harness, number);
    await harness.down();
    const sent = collector.requests.map(({ text }) => text).join('\n');
    expect(sent).toContain(MERGE);
    for (const text of [
      'nobody’s',
      'body that stays',
      'branch-of-ada',
      'path-of-ada',
      'ghs_',
      'Bearer',
      '"ada"',
      '"mia"',
    ])
      expect(sent).not.toContain(text);
    await harness.up();
  });

  test('are none with the sampler that chooses none', async () => {
    const both = await traced({}, { sampler: 'always_off', ratio: 0 });
    await merge(both);
    await both.harness.down();
    expect(both.collector.requests).toEqual([]);
    await both.harness.up();
  });
});

describe('work', () => {
  test.each<[string, (collector: Collector) => Promise<unknown>]>([
    ['is down', (collector) => collector.stop()],
    ['hangs', async (collector) => collector.next.push(...Array.from({ length: 20 }, () => 'hang' as const))],
    ['refuses', async (collector) => collector.next.push(...Array.from({ length: 20 }, () => 400))],
  ])('ends as without traces while the collector %s', async (_what, breakIt) => {
    const collector = await startCollector();
    const harness = await start({
      chain: MERGE_ONLY,
      tracing: { endpoint: collector.endpoint, headers: {}, service: 'x', sampler: 'always_on', ratio: 1 },
    });
    await breakIt(collector);
    await merge({ harness, collector });
    await harness.down();
    expect(collector.spans).toEqual([]);
    await harness.up();
    if (collector.next.length > 0) await collector.stop();
  });
});
