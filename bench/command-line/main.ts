import { execFileSync, spawnSync } from 'node:child_process';
import { existsSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { openStorage } from '../../src/composition/storage.ts';

/**
 * How long commands take, against Node itself that evaluates `0`: medians, in turns. Needs `npm run build`,
 * because the package ships compiled code. `--source` measures the sources instead. Exits with 1 if a command
 * takes more than its share of Node's time.
 */
const { values: options } = parseArgs({
  options: {
    rounds: { type: 'string', default: '15' },
    source: { type: 'boolean', default: false },
    json: { type: 'boolean', default: false },
  },
});
const root = join(import.meta.dirname, '../..');
const program = join(root, options.source ? 'src/cli.ts' : 'dist/cli.js');
if (!existsSync(program)) execFileSync('npm', ['run', 'build'], { cwd: root, stdio: 'inherit' });

const folder = mkdtempSync(join(tmpdir(), 'countersign-bench-'));
const databaseUrl = `sqlite:${join(folder, 'countersign.db')}`;
await (await openStorage(databaseUrl)).close();

/** The most that a command may take, in times of bare Node. */
const COMMANDS: readonly { args: readonly string[]; most: number }[] = [
  { args: ['--version'], most: 3 },
  { args: ['--help'], most: 3 },
  { args: ['run', 'list'], most: 6 },
  { args: ['delivery', 'list'], most: 6 },
  { args: ['chain', 'lint', join(root, 'chains')], most: 6 },
];

const times = new Map<string, number[]>();
for (let round = 0; round <= Number(options.rounds); round++) {
  for (const args of [['-e', '0'], ...COMMANDS.map((command) => [program, ...command.args])]) {
    const ms = run(args);
    // The first round fills the compile cache.
    if (round > 0) times.set(args.join(' '), [...(times.get(args.join(' ')) ?? []), ms]);
  }
}
rmSync(folder, { recursive: true, force: true });

const bare = medianOf(['-e', '0']);
const results = COMMANDS.map(({ args, most }) => {
  const ms = medianOf([program, ...args]);
  return {
    command: args.slice(0, 2).join(' '),
    ms: Math.round(ms),
    times: Number((ms / bare).toFixed(1)),
    most,
  };
});
process.exitCode = results.every((one) => one.times < one.most) ? 0 : 1;
if (options.json) console.log(JSON.stringify({ bare_ms: Math.round(bare), results }));
else {
  console.log(`Bare Node takes ${Math.round(bare)} ms.`);
  console.table(Object.fromEntries(results.map(({ command, ...rest }) => [command, rest])));
}

function run(args: readonly string[]): number {
  const begun = performance.now();
  const { status, stderr } = spawnSync(process.execPath, args, {
    env: { ...process.env, DATABASE_URL: databaseUrl },
    encoding: 'utf8',
  });
  if (status !== 0) throw new Error(`${args.join(' ')} ended with ${status}: ${stderr}`);
  return performance.now() - begun;
}

function medianOf(args: readonly string[]): number {
  const sorted = (times.get(args.join(' ')) ?? []).toSorted((a, b) => a - b);
  return sorted[Math.floor(sorted.length / 2)] ?? 0;
}
