import { spawn } from 'node:child_process';
import { cpus, loadavg } from 'node:os';
import { parseArgs } from 'node:util';
import { sandbox } from '../../src/sandbox/sandbox.ts';
import { codeTemplate } from '../../src/skills/kinds/code/code-template.ts';
import type { CodeHost } from '../../src/skills/kinds/code/host.ts';
import { DEFAULT_LIMITS } from '../../src/skills/kinds/code/limits.ts';

/**
 * The time of a code template from request to result, including the start and end of its process. Cold: the
 * first after the app's start, which detects the machine's sandbox features and, for Python, makes the
 * snapshot. Warm: all others, still with a process each. The reference is a Node process that does nothing. A
 * call is a request to the app with an answer of 1 KB.
 */
const { values: options } = parseArgs({
  options: { rounds: { type: 'string', default: '10' }, json: { type: 'boolean', default: false } },
});
const rounds = Number(options.rounds);
const CALLS = 2_000;

const refuse = () => Promise.reject(new Error('the bench asks for files only'));
const text = 'x'.repeat(1_000);
const host: CodeHost = {
  search: refuse,
  file: async () => text,
  diff: refuse,
  history: refuse,
  checkpoint: refuse,
};
const budgets = { ...DEFAULT_LIMITS.budgets, get_file: { calls: CALLS, bytes: 1e9, ms: 60_000 } };

async function run(name: string, content: string): Promise<number> {
  const begun = performance.now();
  const output = await codeTemplate.execute(
    { kind: 'code_template', name, ordinal: 0, content, modelVariant: null, metadata: {} },
    { input: null, host, signal: new AbortController().signal, limits: { budgets } },
  );
  if (output.kind === 'failed') throw new Error(output.because);
  return performance.now() - begun;
}

async function emptyProcess(): Promise<number> {
  const begun = performance.now();
  const child = spawn(process.execPath, ['-e', '0'], { env: {}, stdio: 'ignore' });
  await new Promise((resolve) => child.on('close', resolve));
  return performance.now() - begun;
}

async function figures(measure: () => Promise<number>): Promise<{ median: number; max: number }> {
  const values: number[] = [];
  for (let round = 0; round < rounds; round++) values.push(await measure());
  const sorted = values.sort((a, b) => a - b);
  const at = (index: number) => Number((sorted[index] ?? 0).toFixed(1));
  return { median: at(Math.floor(sorted.length / 2)), max: at(sorted.length - 1) };
}

const once = (ms: number) => ({ median: Number(ms.toFixed(2)), max: Number(ms.toFixed(2)) });
const SUBMIT = 'submit(1)';
const calls = {
  'template.js': `for (let i = 0; i < ${CALLS}; i++) get_file('a');\n${SUBMIT}`,
  'template.py': `for _ in range(${CALLS}): get_file('a')\n${SUBMIT}`,
};

const { network, alone } = await sandbox();
const languages = network === 'cut' ? (['template.js', 'template.py'] as const) : (['template.js'] as const);
const rows: Record<string, { median: number; max: number }> = {
  'floor: a process of Node': await figures(emptyProcess),
};
for (const name of languages) {
  rows[`${name}, cold (once)`] = once(await run(name, SUBMIT));
  const warm = await figures(() => run(name, SUBMIT));
  rows[`${name}, warm`] = warm;
  const all = await run(name, calls[name]);
  rows[`${name}, a call`] = once((all - warm.median) / CALLS);
}

if (options.json) {
  const setting = {
    rounds,
    node: process.version,
    cpus: cpus().length,
    load: loadavg()[0],
    network,
    alone: alone.length > 0,
  };
  console.log(JSON.stringify({ ...setting, ms: rows }));
} else {
  console.log(`Milliseconds, ${rounds} rounds:`);
  console.table(rows);
}
process.exit();
