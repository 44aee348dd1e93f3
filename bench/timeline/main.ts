import { readFileSync } from 'node:fs';
import { createServer, request } from 'node:http';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { gzipSync } from 'node:zlib';
import { html, raw } from 'hono/html';
import { rolldown } from 'rolldown';
import {
  position,
  type SegmentKind,
  type Timeline,
  timelineOf,
  totals,
} from '../../src/domain/run/timeline.ts';
import { type Html, page } from '../../src/messages/studio/layout.ts';
import { timelineFigure } from '../../src/messages/studio/timeline.ts';
import { SCENES } from '../../test/messages/scenes.ts';
import { openBrowser } from '../../test/support/chromium.ts';

/**
 * The timeline of a run as Studio makes it, on the server, and as the runner-up would, by preact and htm in the browser: what is sent, when the first byte comes,
 * when the last bar stands, and how many lines the view has. Both are the same page around the same drawing. Figures: ADR 58.
 */
const { values: options } = parseArgs({
  options: { requests: { type: 'string', default: '300' }, visits: { type: 'string', default: '15' } },
});
/** A middling phone against the machine that runs this: https://developer.chrome.com/docs/devtools/performance */
const PHONE = 4;

const SERVER_VIEW = 'src/messages/studio/timeline.ts';
const BROWSER_VIEW = 'bench/timeline/view.js';
const root = join(import.meta.dirname, '../..');
const script = await bundled();

const variants = {
  server: (timeline: Timeline) =>
    framed(
      timelineFigure(timeline, {
        address: (step) => `?step=${encodeURIComponent(step)}`,
        selected: undefined,
      }),
    ),
  browser: (timeline: Timeline) =>
    framed(
      html`<div id="timeline"></div><script type="application/json" id="data">${raw(asData(timeline))}</script><script type="module" src="/view.js"></script>`,
    ),
};

console.log(
  [
    'steps',
    'view',
    'KB of the page',
    'KB of its scripts',
    'first byte ms',
    'drawn ms',
    'drawn on a phone ms',
    'lines',
  ].join('\t'),
);
for (const steps of [4, 40]) {
  const timeline = timelineWith(steps);
  for (const [name, make] of Object.entries(variants)) {
    const server = createServer((asked, answer) => {
      const isScript = asked.url === '/view.js';
      const type = isScript ? 'text/javascript' : 'text/html; charset=utf-8';
      answer.setHeader('content-type', type).setHeader('content-encoding', 'gzip');
      if (isScript) answer.end(gzipSync(script, { level: 9 }));
      else Promise.resolve(make(timeline)).then((made) => answer.end(gzipSync(String(made))));
    });
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    const address = server.address();
    if (address === null || typeof address === 'string') throw new Error('the server has no port');
    const url = `http://127.0.0.1:${address.port}/`;
    const got = [];
    for (let one = 0; one < Number(options.requests); one++) got.push(await timedGet(url));
    const own = name === 'browser' ? gzipSync(script, { level: 9 }).length : 0;
    const row = [
      steps,
      name,
      ((got[0]?.bytes ?? 0) / 1_000).toFixed(1),
      (own / 1_000).toFixed(1),
      median(got.map(({ ms }) => ms)).toFixed(1),
      (await drawn(url, 1)).toFixed(0),
      (await drawn(url, PHONE)).toFixed(0),
      linesOf(name === 'server' ? SERVER_VIEW : BROWSER_VIEW),
    ];
    console.log(row.join('\t'));
    server.closeAllConnections();
    server.close();
  }
}

function framed(main: Html): Html {
  return page({
    title: 'A run',
    viewer: { kind: 'machine' },
    path: '/runs/run_1',
    assets: { style: '/none.css', scripts: [] },
    nonce: 'none',
    main,
  });
}

/** What the server sends: `domain/run/timeline.ts` loads what a browser does not have, so the server computes places and sums. */
interface ShownTimeline {
  ms: number;
  bars: {
    name: string;
    sums: Record<SegmentKind, number>;
    /** `at` and `width` are shares of the axis. */
    segments: { kind: SegmentKind; at: number; width: number }[];
  }[];
  shortened: { at: number; width: number; ms: number }[];
}

/** A run whose steps each worked, waited, and waited for a person for days. */
function timelineWith(steps: number): Timeline {
  const state = SCENES.merged?.state;
  const [example] = state?.invocations ?? [];
  if (!state || !example) throw new Error('the scene of a merged run is gone');
  const start = state.run.createdAt.getTime();
  const at = (minutes: number) => new Date(start + minutes * 60_000);
  const invocations = Array.from({ length: steps }, (_, index) => ({
    ...example,
    id: `inv_${index}`,
    stepId: `step-${index}`,
    startedAt: at(index * 30),
    finishedAt: at(index * 30 + 29),
  }));
  const past = invocations.flatMap(({ id }, index) =>
    (['running', 'waiting_ci', 'running', 'waiting_approval', 'succeeded'] as const).map((to, nth, all) => ({
      subject: { kind: 'invocation' as const, id },
      from: nth === 0 ? 'pending' : (all[nth - 1] ?? 'pending'),
      to,
      reason: null,
      at: at(index * 30 + nth * 6),
      sequence: index * 5 + nth,
    })),
  );
  const run = { createdAt: at(0), finishedAt: at(steps * 30) };
  return timelineOf(
    { run, invocations },
    past as unknown as Parameters<typeof timelineOf>[1],
    at(steps * 30),
  );
}

/** What the browser needs of a timeline, safe inside a script element. */
function asData({ bars, axis, from, to }: Timeline): string {
  const shown: ShownTimeline = {
    ms: to - from,
    bars: bars.map((bar) => ({
      name: bar.step.stepId,
      sums: totals(bar),
      segments: bar.segments.map((segment) => {
        const at = position(axis, segment.from);
        return { kind: segment.kind, at, width: position(axis, segment.to) - at };
      }),
    })),
    shortened: axis.flatMap(({ compressed, at, width, ...stretch }) =>
      compressed ? [{ at, width, ms: stretch.to - stretch.from }] : [],
    ),
  };
  return JSON.stringify(shown).replaceAll('<', '\\u003c');
}

async function bundled(): Promise<string> {
  const bundle = await rolldown({ input: join(root, BROWSER_VIEW), platform: 'browser' });
  const { output } = await bundle.generate({ minify: true, format: 'esm' });
  await bundle.close();
  return output[0].code;
}

function timedGet(url: string): Promise<{ ms: number; bytes: number }> {
  const begun = performance.now();
  return new Promise((resolve, reject) => {
    const asking = request(url, { headers: { 'accept-encoding': 'gzip' } }, (answer) => {
      let ms = 0;
      let bytes = 0;
      answer.on('data', (piece: Buffer) => {
        if (bytes === 0) ms = performance.now() - begun;
        bytes += piece.length;
      });
      answer.on('end', () => resolve({ ms, bytes }));
    });
    asking.on('error', reject);
    asking.end();
  });
}

/** Milliseconds from the navigation to the frame with the last bar, with an empty cache; the median. */
async function drawn(url: string, slower: number): Promise<number> {
  const browser = await openBrowser();
  try {
    const times: number[] = [];
    for (let visit = 0; visit < Number(options.visits); visit++) {
      const context = await browser.newContext();
      const tab = await context.newPage();
      const session = await context.newCDPSession(tab);
      await session.send('Emulation.setCPUThrottlingRate', { rate: slower });
      // As a text, because it runs in the browser, whose globals this program does not have.
      await tab.addInitScript(`
        const watch = new MutationObserver(() => {
          if (!document.querySelector('svg.timeline ~ *, .legend')) return;
          watch.disconnect();
          requestAnimationFrame(() => { window.drawnAt = performance.now(); });
        });
        watch.observe(document, { childList: true, subtree: true });
      `);
      await tab.goto(url);
      await tab.waitForFunction('window.drawnAt !== undefined');
      times.push(await tab.evaluate<number>('window.drawnAt'));
      await context.close();
    }
    return median(times);
  } finally {
    await browser.close();
  }
}

/** Lines with code on them. */
function linesOf(file: string): number {
  const lines = readFileSync(join(root, file), 'utf8').split('\n');
  return lines.filter((line) => line.trim() !== '' && !/^\s*(\/\/|\/?\*)/.test(line)).length;
}

function median(values: readonly number[]): number {
  return values.toSorted((a, b) => a - b)[Math.floor(values.length / 2)] ?? 0;
}
