import { spawn } from 'node:child_process';
import { CountersignError } from '../../core/errors.ts';
import { NO_DEMO } from '../../messages/cli/cli.ts';
import type { Context, Result } from './context.ts';

/** Runs the checkout's demo as a process of its own, with its own output and exit status. */
export async function demo({ json, tools }: Context, { keep }: { keep?: boolean }): Promise<Result> {
  const file = tools.demoFile();
  if (file === undefined) throw new CountersignError('cli.no_demo', NO_DEMO);
  const options = [...(json ? ['--json'] : []), ...(keep ? ['--keep'] : [])];
  const child = spawn(process.execPath, [file, ...options], { stdio: 'inherit' });
  // The terminal sends Ctrl-C to the demo as well, so this process only waits for it.
  const onInterrupt = () => {};
  const onTerminate = () => child.kill('SIGTERM');
  process.on('SIGINT', onInterrupt);
  process.on('SIGTERM', onTerminate);
  try {
    const code = await new Promise<number | null>((resolve, reject) => {
      child.once('error', reject);
      child.once('exit', resolve);
    });
    return { ran: true, failed: code !== 0 };
  } finally {
    process.off('SIGINT', onInterrupt);
    process.off('SIGTERM', onTerminate);
  }
}
