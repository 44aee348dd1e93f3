import { spawnSync } from 'node:child_process';
import { describe, expect, it } from 'vitest';
import { bareEnvironment } from '../support/app-environment.ts';
import { inTerminal, quoted, WITHOUT_TERMINAL } from '../support/pseudo-terminal.ts';

const LOG = new URL('../../src/core/log-lines.ts', import.meta.url).href;
const script = (format: string) =>
  `import { createLog } from '${LOG}'; createLog('info'${format}).info({ delivery: 7 }, 'recorded');`;
const args = (format = '') => ['--input-type=module', '-e', script(format)];

function inPipe(format?: string): string {
  const { stderr } = spawnSync(process.execPath, args(format), { env: bareEnvironment(), encoding: 'utf8' });
  return stderr;
}

async function onTerminal(format?: string, env: Record<string, string> = {}): Promise<string> {
  const command = [process.execPath, ...args(format)].map(quoted).join(' ');
  return (await inTerminal(command, { columns: 120, env })).shown;
}

describe('the log of a process', () => {
  it('is JSON where standard error is a file or a pipe, unless it is to be pretty', () => {
    expect(JSON.parse(inPipe())).toMatchObject({ level: 30, delivery: 7, msg: 'recorded' });
    expect(inPipe(", 'pretty'")).toMatch(/^\d\d:\d\d:\d\d INFO {2}recorded delivery=7\n$/);
  });

  it.skipIf(WITHOUT_TERMINAL)('is pretty and coloured on a terminal', async () => {
    expect(await onTerminal()).toMatch(/^\d\d:\d\d:\d\d \S+INFO \S* recorded .*delivery=\S*7\n$/);
    expect(await onTerminal()).toContain('\u001B[32m');
  });

  it.skipIf(WITHOUT_TERMINAL)('has no colours for NO_COLOR, and is JSON if it is to be', async () => {
    expect(await onTerminal('', { NO_COLOR: '1' })).toMatch(/^\S+ INFO {2}recorded delivery=7\n$/);
    expect(JSON.parse(await onTerminal(", 'json'"))).toMatchObject({ msg: 'recorded' });
  });
});
