import { readFileSync } from 'node:fs';
import { beforeAll, describe, expect, it } from 'vitest';
import { z } from 'zod';
import { alertRules } from '../../scripts/generated-tables.ts';
import { WEBHOOK_PATH } from '../../src/config/webhook-path.ts';
import { silentLog } from '../../src/core/log.ts';
import { EFFECT_STATUSES } from '../../src/domain/effect/effect.ts';
import { RUN_STATUSES } from '../../src/domain/run/run.ts';
import { createMetrics } from '../../src/entrypoints/webhook/metrics.ts';
import { DELIVERY_STATUSES, type Storage } from '../../src/ports/storage.ts';
import { startHarness } from '../support/harness.ts';
import { usesOf } from './promql.ts';

/** The labels that Prometheus adds to each metric, and the ones of histograms. */
const ADDED_LABELS = ['instance', 'job', 'le'];
/** The metric that Prometheus itself keeps of each scrape: https://prometheus.io/docs/concepts/jobs_instances/ */
const OF_PROMETHEUS = 'up';

const read = (path: string) => readFileSync(new URL(`../../${path}`, import.meta.url), 'utf8');

const dashboard = z
  .object({
    uid: z.literal('countersign'),
    templating: z.object({
      list: z.array(z.object({ name: z.string(), definition: z.string().optional() })),
    }),
    panels: z.array(
      z.object({
        id: z.number(),
        type: z.enum(['row', 'stat', 'timeseries']),
        title: z.string(),
        gridPos: z.object({ x: z.number(), y: z.number(), w: z.number(), h: z.number() }),
        targets: z
          .array(z.object({ expr: z.string(), legendFormat: z.string(), refId: z.string() }))
          .default([]),
      }),
    ),
  })
  .parse(JSON.parse(read('deploy/grafana-dashboard.json')));
const targets = dashboard.panels.flatMap(({ title, targets }) =>
  targets.map(({ expr, legendFormat }) => ({ title, expr, legendFormat })),
);
/** Grafana replaces its variables before Prometheus reads them. */
const asSent = (expr: string) => expr.replaceAll('$__rate_interval', '5m');

const expressions = [
  ...targets.map(({ title, expr }) => [`panel “${title}”`, asSent(expr)] as const),
  ...alertRules().map(({ alert, expr }) => [`alert ${alert}`, expr] as const),
];

/** The metrics that docs/metrics.md says every process shows the same of, because they read the shared database. */
const shared = [
  ...(/^### With several processes\n\n([\s\S]+?)\n\n/m
    .exec(read('docs/metrics.md'))?.[1]
    ?.matchAll(/countersign_\w+/g) ?? []),
].map(([name]) => name);

/** The metrics whose values go if only the database cannot be read. */
async function readFromDatabase(): Promise<string[]> {
  const metrics = createMetrics();
  const none = { slots: 0, busy: 0 };
  const rest = {
    clock: { now: () => new Date(0) },
    log: silentLog,
    rateLimits: () => [],
    signedOut: () => [],
    webhookOutage: () => undefined,
    waitingForGitHub: () => new Map(),
    slots: () => ({ reviews: none, others: none }),
    disks: () => [],
    skillIndexes: async () => ({ newer: 1, failing: 1 }),
  };
  const counts = async () => ({ received: 1 });
  const wait = { count: 1, since: new Date(-1_000) };
  const storage = {
    read: {
      deliveries: { countByStatus: counts, oldestToQueue: async () => new Date(-1_000) },
      runs: { countByStatus: counts },
      effects: { countByStatus: counts },
      firings: { counts: async () => [{ status: 'due', reason: '', count: 1 }] },
      jobs: {
        countDue: async () => 1,
        nextDue: async () => undefined,
        ready: async () => ({ reviews: wait, others: wait }),
      },
    },
  } as unknown as Pick<Storage, 'read'>;
  const shown = async (from: Pick<Storage, 'read'>) => {
    await metrics.collect({ ...rest, storage: from });
    const all = await metrics.registry.getMetricsAsJSON();
    return new Map(all.map(({ name, values }) => [name, JSON.stringify(values)]));
  };
  const up = await shown(storage);
  const down = await shown({} as Pick<Storage, 'read'>);
  return [...up.keys()].filter((name) => name.startsWith('countersign_') && up.get(name) !== down.get(name));
}

/** The labels of each series that the app shows. */
let shown: ReadonlyMap<string, ReadonlySet<string>>;

beforeAll(async () => {
  const harness = await startHarness();
  await fetch(`${harness.app.url}${WEBHOOK_PATH}`, { method: 'POST', body: '{}' });
  const page = await (await fetch(`${harness.app.metricsUrl}/metrics`)).text();
  await harness.stop();
  const labels = new Map<string, Set<string>>();
  const add = (name: string, label: readonly string[]) =>
    labels.set(name, new Set([...(labels.get(name) ?? []), ...label]));
  for (const [, name = ''] of page.matchAll(/^# TYPE (\w+)/gm)) add(name, []);
  for (const [, name = '', list = ''] of page.matchAll(/^(\w+)(?:\{(.*)\})? \S+$/gm))
    add(
      name,
      [...list.matchAll(/(\w+)="/g)].map(([, label = '']) => label),
    );
  // What has no value at the moment is shown without its labels, and so is a histogram without its series.
  for (const metric of createMetrics().registry.getMetricsAsArray()) {
    const { labelNames } = z.object({ labelNames: z.array(z.string()) }).parse(metric);
    const isHistogram = (metric.type as unknown) === 'histogram';
    for (const part of isHistogram ? ['_bucket', '_sum', '_count'] : [''])
      add(`${metric.name}${part}`, labelNames);
  }
  shown = labels;
});

describe('the dashboard and the alerts', () => {
  it.each(expressions)('of %s read metrics and labels that the app shows', (_name, expr) => {
    const { metrics, grouping } = usesOf(expr);
    expect(metrics.length).toBeGreaterThan(0);
    const known = new Set(ADDED_LABELS);
    for (const { name, matchers } of metrics) {
      if (name === OF_PROMETHEUS) continue;
      const labels = shown.get(name);
      expect(labels, name).toBeDefined();
      for (const label of labels ?? []) known.add(label);
      expect(
        matchers
          .map(({ label }) => label)
          .filter((label) => !labels?.has(label) && !ADDED_LABELS.includes(label)),
      ).toEqual([]);
    }
    expect(grouping.filter((label) => !known.has(label))).toEqual([]);
  });

  it('count once what every process reads from the shared database: the most of any of them', () => {
    const read = expressions.flatMap(([of, expr]) =>
      usesOf(expr).metrics.flatMap(({ name, aggregations }) =>
        shared.includes(name) ? [{ of, name, aggregations }] : [],
      ),
    );
    expect(read.length).toBeGreaterThan(10);
    const isMost = ({ aggregations: [first, ...others] }: (typeof read)[number]) =>
      first?.operator === 'max' &&
      first.grouping.includes('instance') === first.isWithout &&
      others.length === 0;
    expect(read.filter((one) => !isMost(one))).toEqual([]);
  });

  it('choose only statuses that the app knows', () => {
    const known: Record<string, readonly string[]> = {
      countersign_runs: RUN_STATUSES,
      countersign_deliveries: DELIVERY_STATUSES,
      countersign_effects: EFFECT_STATUSES,
    };
    const chosen = expressions.flatMap(([, expr]) =>
      usesOf(expr).metrics.flatMap(({ name, matchers }) =>
        matchers.flatMap(({ label, value }) =>
          label === 'status' && known[name] ? value.split('|').map((status) => ({ name, status })) : [],
        ),
      ),
    );
    expect(new Set(chosen.map(({ name }) => name))).toEqual(new Set(Object.keys(known)));
    expect(chosen.filter(({ name, status }) => !known[name]?.includes(status))).toEqual([]);
  });
});

describe('the dashboard', () => {
  it('names in each legend only labels that its expression keeps', () => {
    const wrong = targets.filter(({ expr, legendFormat }) => {
      const { metrics, grouping } = usesOf(asSent(expr));
      const kept = expr.includes(' by (')
        ? grouping
        : [...ADDED_LABELS, ...metrics.flatMap(({ name }) => [...(shown.get(name) ?? [])])];
      const named = [...legendFormat.matchAll(/\{\{(\w+)\}\}/g)].map(([, label = '']) => label);
      return named.some((label) => !kept.includes(label));
    });
    expect(wrong).toEqual([]);
  });

  it('adds up what each process counts by itself', () => {
    const counted = targets.flatMap(({ title, expr }) =>
      usesOf(asSent(expr)).metrics.flatMap(({ name, aggregations: [first] }) =>
        !shared.includes(name) && /_(total|bucket|busy|slots|waiting_\w+)$/.test(name)
          ? [{ title, name, operator: first?.operator ?? 'none', grouping: first?.grouping ?? [] }]
          : [],
      ),
    );
    expect(counted.length).toBeGreaterThan(5);
    const isOfOne = ({ name, grouping }: (typeof counted)[number]) =>
      name.startsWith('process_') || grouping.includes('instance');
    expect(counted.filter((one) => !isOfOne(one) && one.operator !== 'sum')).toEqual([]);
  });

  it('shows each metric of the app that can change by itself', () => {
    const used = new Set(
      targets.flatMap(({ expr }) =>
        usesOf(asSent(expr)).metrics.map(({ name }) => name.replace(/_bucket$/, '')),
      ),
    );
    const unused = [...shown.keys()].filter((name) => name.startsWith('countersign_') && !used.has(name));
    expect(unused.filter((name) => !/_(bucket|sum|count)$/.test(name)).sort()).toEqual([
      // Parts of what is shown, and what only the page of metrics explains.
      'countersign_disk_size_bytes',
      'countersign_firings',
      'countersign_github_held_until_timestamp_seconds',
      'countersign_github_limited_total',
      'countersign_github_reset_timestamp_seconds',
      'countersign_github_unchanged_total',
      'countersign_skill_indexes_failing',
      'countersign_skill_updates',
      'countersign_spans_total',
    ]);
  });

  it('has panels that do not overlap, with ids of their own', () => {
    expect(new Set(dashboard.panels.map(({ id }) => id)).size).toBe(dashboard.panels.length);
    const cells = dashboard.panels.flatMap(({ gridPos: { x, y, w, h } }) => {
      expect(x + w).toBeLessThanOrEqual(24);
      return Array.from({ length: w * h }, (_, i) => `${x + (i % w)},${y + Math.floor(i / w)}`);
    });
    expect(new Set(cells).size).toBe(cells.length);
  });

  it('offers the instances of a metric that is always there', () => {
    const definition = dashboard.templating.list.find(({ name }) => name === 'instance')?.definition;
    const [, metric = ''] = /^label_values\((\w+), instance\)$/.exec(definition ?? '') ?? [];
    expect(shown.has(metric)).toBe(true);
  });
});

it('docs/metrics.md names the metrics that read the shared database', async () => {
  const changed = await readFromDatabase();
  expect([...shared].sort()).toEqual(changed.filter((name) => name !== 'countersign_database_up').sort());
});

describe('the alerts', () => {
  it('have names of their own that say what they are of', () => {
    const names = alertRules().map(({ alert }) => alert);
    expect(new Set(names).size).toBe(names.length);
    expect(names.filter((name) => !/^Countersign([A-Z][A-Za-z]+)$/.test(name))).toEqual([]);
  });

  it('name a section to read that exists', () => {
    for (const { alert, annotations } of alertRules()) {
      const [path = '', anchor] = annotations.runbook.split('#');
      const headings = [...read(path).matchAll(/^#+ (.+)$/gm)].map(([, heading = '']) =>
        heading
          .toLowerCase()
          .replaceAll(/[^\w\s-]/g, '')
          .replaceAll(/\s/g, '-'),
      );
      expect(headings, alert).toContain(anchor);
    }
  });

  it('expect the name of the scrape job that docs/metrics.md uses', () => {
    const [, job] = /job_name: (\w+)/.exec(read('docs/metrics.md')) ?? [];
    const jobs = alertRules().flatMap(({ expr }) =>
      usesOf(expr).metrics.flatMap(({ matchers }) => matchers.filter(({ label }) => label === 'job')),
    );
    expect(jobs.map(({ value }) => value)).toEqual(jobs.map(() => job));
    expect(jobs.length).toBeGreaterThan(0);
  });
});
