import { spawn } from 'node:child_process';
import { CountersignError } from '../../core/errors.ts';
import { NO_DEMO } from '../../messages/cli.ts';
import type { Answer, Context } from './context.ts';

/** Runs the checkout's demo as a process of its own, which answers in its own words, and ends as it does. */
export async function demo({ json, tools }: Context, { keep }: { keep?: boolean }): Promise<Answer> {
  const file = tools.demoFile();
  if (file === undefined) throw new CountersignError('cli.no_demo', NO_DEMO);
  const options = [...(json ? ['--json'] : []), ...(keep ? ['--keep'] : [])];
  const child = spawn(process.execPath, [file, ...options], { stdio: 'inherit' });
  // Ctrl-C reaches the demo by itself, as one of the terminal's group; this process only waits for its end.
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
