import { execFileSync } from 'node:child_process';
import { cpus } from 'node:os';
import { join } from 'node:path';

/**
 * The figures of docs/performance.md that depend on the machine, on one page. Takes about ten minutes. Each
 * row names the bench that it comes from; run that one alone for more. Exits with 1 if a target is missed.
 *
 * The peer that npm can install is plain Probot. policy-bot and bulldozer are programs of their own; see
 * docs/performance.md for how to measure them beside this page.
 */
interface Row {
  what: string;
  value: number;
  unit: string;
  target: string;
  met: boolean;
  bench: string;
}

const intake = run('intake');
const work = run('work');
const commands = run('command-line');

const rows: Row[] = [
  ...intake.loads.flatMap(
    (one: { connections: number; ratio: number; target: number; p99_ms: number; countersign: number }) => [
      row('intake', `deliveries accepted at ${one.connections} connections`, one.countersign, 'a second'),
      atLeast('intake', '… against Probot with one row', one.ratio, 'times', one.target),
      atMost('intake', '… 99th percentile of the answer', one.p99_ms, 'ms', 50),
    ],
  ),
  ...Object.entries<{ p99_ms: number }>(intake.probes).map(([path, { p99_ms }]) =>
    atMost('intake', `${path} meanwhile, 99th percentile`, p99_ms, 'ms', 20),
  ),
  atMost('intake', 'accepted deliveries missing after SIGKILL', intake.missing, '', 0),
  atMost('work', 'opened → asked, median', work.asked_ms_median, 'ms', 250),
  atMost('work', 'CPU of the app a pull request, until asked', work.cpu_app_ms, 'ms', 60),
  atMost('work', 'CPU of its children a pull request', work.cpu_children_ms, 'ms', 150),
  atMost('work', `${work.at_once} opened at once, until all are asked`, work.all_asked_s, 's', 120),
  row('work', '… from the reactions until all are merged', work.all_merged_s, 's'),
  atMost('work', 'resident memory while idle', work.idle_mb, 'MB', 120),
  atMost('work', '… after all of them', work.after_mb, 'MB', 250),
  atMost('work', 'database a finished run', work.kb_a_run, 'KB', 8),
  row('command-line', 'bare Node', commands.bare_ms, 'ms'),
  ...commands.results.map((one: { command: string; times: number; most: number }) =>
    atMost('command-line', `\`${one.command}\` against bare Node`, one.times, 'times', one.most),
  ),
];
console.log(`Node ${process.version}, ${cpus().length} cores\n`);
console.table(rows.map(({ met, ...one }) => ({ ...one, met: met ? 'yes' : 'NO' })));
process.exitCode = rows.every(({ met }) => met) ? 0 : 1;

// biome-ignore lint/suspicious/noExplicitAny: each bench prints what its own file describes.
function run(bench: string): any {
  console.error(`bench/${bench} …`);
  const program = join(import.meta.dirname, bench, 'main.ts');
  // A bench that misses its target exits with 1, and has printed its figures.
  try {
    return JSON.parse(execFileSync(process.execPath, [program, '--json'], { encoding: 'utf8' }));
  } catch (error) {
    const { stdout } = error as { stdout?: string };
    if (!stdout) throw error;
    return JSON.parse(stdout);
  }
}

function row(bench: string, what: string, value: number, unit: string): Row {
  return { what, value, unit, target: '', met: true, bench };
}

function atLeast(bench: string, what: string, value: number, unit: string, target: number): Row {
  return { what, value, unit, target: `≥ ${target}`, met: value >= target, bench };
}

function atMost(bench: string, what: string, value: number, unit: string, target: number): Row {
  return { what, value, unit, target: `≤ ${target}`, met: value <= target, bench };
}
