/**
 * The app as `npm start` runs it, composed with a database and a store that know where they are to die, and a clock that may be
 * ahead. Only this program reads COUNTERSIGN_FAULT_POINT: nothing under src does. It writes each fault point to
 * standard output when it is reached, so that an undisturbed run lists them all.
 */
import { writeSync } from 'node:fs';
import { startApp } from '../../src/app.ts';
import { readConfig } from '../../src/config/config.ts';
import { createLog } from '../../src/core/log-lines.ts';
import { type Watch, watchedBlobs, watchedStorage } from './durable-writes.ts';
import { counter, faultPoint, isDeadly } from './kill-point.ts';

const STDOUT = 1;
const deadly = process.env.COUNTERSIGN_FAULT_POINT;
const aheadMs = Number(process.env.COUNTERSIGN_CLOCK_AHEAD_MS ?? 0);
const count = counter();

const watch: Watch = (name) => {
  const nth = count(name);
  const nths = new Map(name.split('+').map((write) => [write, count(`*${write}`)]));
  return (when) => {
    const point = { when, name, nth };
    writeSync(STDOUT, `${faultPoint(point)}\n`);
    // To itself, so that not one more instruction of this program follows.
    if (isDeadly(deadly, point, (write) => nths.get(write) ?? 0)) process.kill(process.pid, 'SIGKILL');
  };
};

const read = readConfig(process.env);
if (!read.ok || read.config.kind !== 'app')
  throw new Error('the crash tests start the app with faulty settings');
const log = createLog(read.config.logLevel);
const app = await startApp(read.config, log, {
  clock: { now: () => new Date(Date.now() + aheadMs) },
  storage: (real) => watchedStorage(real, watch),
  blobs: (real) => watchedBlobs(real, watch),
});
log.info({ url: app.url }, 'listening');
process.once('SIGTERM', () => void app.stop());
