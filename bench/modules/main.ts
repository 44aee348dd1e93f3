import { spawn } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { cpus, loadavg } from 'node:os';
import { parseArgs } from 'node:util';
import { systemClock } from '../../src/core/clock.ts';
import { parseModule } from '../../src/domain/skill/module.ts';
import { programOf } from '../../src/skills/kinds/module/program.ts';
import { createSidecar, type Sidecar, type Task } from '../../src/skills/kinds/module/sidecar.ts';

/**
 * The cost of the sidecar for modules: the time from the first task to its answer with the process start, the
 * same without it, and the memory of all its processes. The model answers at once, so only this app and the
 * module engine are measured. The reference is a Node process that does nothing.
 */
const { values: options } = parseArgs({ options: { rounds: { type: 'string', default: '10' } } });
const rounds = Number(options.rounds);
const WARM = 200;

const module = parseModule(
  JSON.stringify({
    template: 'chain_of_thought',
    signature: {
      instruction: 'Judge the change.',
      inputs: { diff: { type: 'string' } },
      outputs: { summary: { type: 'string' }, passed: { type: 'boolean' }, criteria: { type: 'json' } },
    },
    fallback_artifact: 'prompts/ask.md',
  }),
);
const ANSWER = { reasoning: 'r', summary: 's', passed: true, criteria: [] };
const task: Task = {
  ask: { service: 'execute', program: programOf(module, 'gate_verdict', []), inputs: { diff: '+x' } },
  host: async () => ({ value: ANSWER }),
  timeoutMs: 60_000,
  signal: new AbortController().signal,
};

async function timed(work: () => Promise<unknown>): Promise<number> {
  const begun = performance.now();
  await work();
  return performance.now() - begun;
}

async function execute(sidecar: Sidecar): Promise<void> {
  const end = await sidecar.perform(task);
  if (end.kind !== 'done') throw new Error(`the sidecar ended with ${end.kind}`);
}

function emptyProcess(): Promise<unknown> {
  const child = spawn(process.execPath, ['-e', '0'], { env: {}, stdio: 'ignore' });
  return new Promise((resolve) => child.on('close', resolve));
}

/** In MB, for a process and all its children. */
function residentMb(pid: number): number {
  const [, kb = '0'] = /^VmRSS:\s+(\d+)/m.exec(readFileSync(`/proc/${pid}/status`, 'utf8')) ?? [];
  const children = readFileSync(`/proc/${pid}/task/${pid}/children`, 'utf8').split(' ').filter(Boolean);
  return children.reduce((sum, child) => sum + residentMb(Number(child)), Number(kb) / 1_000);
}

const median = (values: number[]) => values.toSorted((a, b) => a - b)[Math.floor(values.length / 2)] ?? 0;
const floor: number[] = [];
const cold: number[] = [];
const warm: number[] = [];
const fresh: number[] = [];
const used: number[] = [];
for (let round = 0; round < rounds; round++) {
  floor.push(await timed(emptyProcess));
  const sidecar = createSidecar({ clock: systemClock });
  cold.push(await timed(() => execute(sidecar)));
  fresh.push(residentMb(sidecar.pid() ?? 0));
  for (let index = 0; index < WARM; index++) warm.push(await timed(() => execute(sidecar)));
  used.push(residentMb(sidecar.pid() ?? 0));
  await sidecar.stop();
}

console.log(
  `${cpus().length} CPUs, load ${loadavg()[0]?.toFixed(1)}, Node ${process.version}, ${rounds} rounds`,
);
console.table({
  'floor: a process of Node, ms': median(floor),
  'a task, with the start of the process, ms': median(cold),
  'a task, ms': median(warm),
  'memory after the first task, MB': median(fresh),
  [`memory after ${WARM} tasks more, MB`]: median(used),
});
