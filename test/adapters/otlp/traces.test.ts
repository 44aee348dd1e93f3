import { describe, expect, it } from 'vitest';
import { encodeSpans } from '../../../src/adapters/otlp/encode.ts';
import { createOtlpTraces, EVERY_MS, MAX_BATCH, MAX_QUEUED } from '../../../src/adapters/otlp/traces.ts';
import { neverShow } from '../../../src/core/redact/redact.ts';
import type { Span, Traces } from '../../../src/ports/traces.ts';
import { keepingLog } from '../../disk/log-lines.ts';

const span = (number = 1, over: Partial<Span> = {}): Span => ({
  traceId: number.toString(16).padStart(32, '0'),
  spanId: number.toString(16).padStart(16, '0'),
  parentId: undefined,
  name: 'step review',
  kind: 'internal',
  startedAt: new Date('2026-03-02T09:00:00.000Z'),
  endedAt: new Date('2026-03-02T09:00:01.250Z'),
  attributes: {},
  ...over,
});

interface Setting {
  ratio?: number;
  answer?: (tries: number) => Response | Promise<Response>;
}

/** Traces whose time passes only when the test says so. */
function sending({ ratio = 1, answer = () => new Response('{}') }: Setting = {}) {
  const bodies: { spans: number }[] = [];
  const counts = { sent: 0, dropped: 0 };
  let due: { at: number; work: () => void }[] = [];
  const { log, lines } = keepingLog();
  const traces: Traces = createOtlpTraces(
    { endpoint: 'http://collector:4318', headers: {}, service: 'x', ratio },
    {
      timers: {
        elapsedMs: () => 0,
        sleep: async () => {},
        after(at, work) {
          const timer = { at, work };
          due.push(timer);
          return () => {
            due = due.filter((one) => one !== timer);
          };
        },
      },
      log,
      onSpans: (result, count) => {
        counts[result] += count;
      },
      fetch: async (_url, init) => {
        bodies.push({ spans: JSON.parse(String(init?.body)).resourceSpans[0].scopeSpans[0].spans.length });
        return answer(bodies.length);
      },
    },
  );
  const settled = () => new Promise((resolve) => setImmediate(resolve));
  return {
    traces,
    bodies,
    counts,
    lines,
    waits: () => due.map(({ at }) => at),
    settled,
    async tick() {
      const now = due;
      due = [];
      for (const { work } of now) work();
      await settled();
    },
  };
}

const record = (traces: Traces, count: number) => {
  for (let number = 1; number <= count; number += 1) traces.record(span(number));
};

describe('spans', () => {
  it('wait for others, and are sent in one request', async () => {
    const { traces, bodies, counts, waits, tick } = sending();
    record(traces, 3);
    expect({ bodies, waits: waits() }).toEqual({ bodies: [], waits: [EVERY_MS] });
    await tick();
    expect({ bodies, counts, waits: waits() }).toEqual({
      bodies: [{ spans: 3 }],
      counts: { sent: 3, dropped: 0 },
      waits: [],
    });
  });

  it('are sent at once when a batch is full', async () => {
    const { traces, bodies, settled } = sending();
    record(traces, MAX_BATCH);
    await settled();
    expect(bodies).toEqual([{ spans: MAX_BATCH }]);
  });

  it('are dropped and counted when too many wait, and the log says so', async () => {
    const { traces, counts, lines } = sending({ answer: () => new Promise(() => {}) });
    record(traces, MAX_QUEUED + 7);
    expect(counts).toEqual({ sent: 0, dropped: 7 });
    expect(lines[0]).toMatchObject({
      fields: { outage: 'tracing', because: 'too many wait for the collector' },
    });
  });

  it('are tried again twice while the collector is not there, and then dropped', async () => {
    const { traces, bodies, counts, tick } = sending({
      answer: () => {
        throw new TypeError('fetch failed');
      },
    });
    record(traces, 2);
    for (let turn = 0; turn < 5; turn += 1) await tick();
    expect({ tries: bodies.length, counts }).toEqual({ tries: 3, counts: { sent: 0, dropped: 2 } });
  });

  it.each([429, 502, 503, 504])('are sent again after an answer %i', async (status) => {
    const { traces, counts, tick } = sending({
      answer: (tries) => new Response('', { status: tries === 1 ? status : 200 }),
    });
    record(traces, 2);
    await tick();
    expect(counts).toEqual({ sent: 0, dropped: 0 });
    await tick();
    expect(counts).toEqual({ sent: 2, dropped: 0 });
  });

  it.each([302, 400, 401, 500])(
    'are dropped after an answer %i, which would be the same again',
    async (status) => {
      const { traces, counts, tick } = sending({ answer: () => new Response('', { status }) });
      record(traces, 2);
      await tick();
      expect(counts).toEqual({ sent: 0, dropped: 2 });
    },
  );

  it('that are left are sent at the end', async () => {
    const { traces, counts } = sending();
    record(traces, 2);
    await traces.stop();
    expect(counts).toEqual({ sent: 2, dropped: 0 });
  });

  it('do not hold up the end while the collector hangs', async () => {
    const { traces, tick } = sending({ answer: () => new Promise(() => {}) });
    record(traces, 2);
    const stopped = traces.stop();
    await tick();
    await expect(stopped).resolves.toBeUndefined();
  });

  it('of a share of all traces are sent, always the same ones', async () => {
    const ids = Array.from(
      { length: 1_000 },
      (_, i) => `${'0'.repeat(16)}${((BigInt(i) * 2n ** 64n) / 1_000n).toString(16).padStart(16, '0')}`,
    );
    const { traces, counts, tick } = sending({ ratio: 0.25 });
    for (const traceId of ids) traces.record(span(1, { traceId }));
    await tick();
    expect(counts.sent).toBe(250);
  });
});

it('a span is encoded as OpenTelemetry’s protocol wants it', () => {
  const encoded = encodeSpans(
    [
      span(1, {
        parentId: '00000000000000ff',
        kind: 'client',
        attributes: { text: 'a', yes: true, whole: 200, part: 0.5 },
        error: '404',
      }),
    ],
    'my-service',
  );
  expect(encoded).toEqual({
    resourceSpans: [
      {
        resource: { attributes: [{ key: 'service.name', value: { stringValue: 'my-service' } }] },
        scopeSpans: [
          {
            scope: { name: 'countersign' },
            spans: [
              {
                traceId: '00000000000000000000000000000001',
                spanId: '0000000000000001',
                parentSpanId: '00000000000000ff',
                name: 'step review',
                kind: 3,
                startTimeUnixNano: '1772442000000000000',
                endTimeUnixNano: '1772442001250000000',
                attributes: [
                  { key: 'text', value: { stringValue: 'a' } },
                  { key: 'yes', value: { boolValue: true } },
                  { key: 'whole', value: { intValue: '200' } },
                  { key: 'part', value: { doubleValue: 0.5 } },
                ],
                status: { code: 2, message: '404' },
              },
            ],
          },
        ],
      },
    ],
  });
});

it('a span never shows a secret, wherever it is', () => {
  neverShow('key of this test', 'a-secret-0f-this-test-alone');
  const secret = 'x a-secret-0f-this-test-alone y';
  const encoded = encodeSpans([span(1, { name: secret, attributes: { one: secret }, error: secret })], 'x');
  expect(JSON.stringify(encoded)).not.toContain('a-secret-0f-this-test-alone');
});
