import type { Clock } from './clock.ts';
import { CountersignError } from './errors.ts';
import type { Log } from './log.ts';

const EVERY_MS = 60_000;

/**
 * Says what goes wrong during an outage of the storage, or of what a line calls `outage`, once a minute instead of once for each webhook,
 * probe and job it befalls; `repeats` counts those left out. Lines about anything else pass. Done here, in front of all rooms,
 * because each of them meets the same full disk at its own pace.
 */
export function withoutRepeats(log: Log, clock: Clock): Log {
  const last = new Map<string, { at: number; repeats: number }>();

  function saying(level: 'warn' | 'error'): Log['warn'] {
    return (fields, message) => {
      if (!isOutage(fields)) return log[level](fields, message);
      const now = clock.now().getTime();
      const before = last.get(message);
      if (before && now - before.at < EVERY_MS) {
        before.repeats += 1;
        return;
      }
      last.set(message, { at: now, repeats: 0 });
      log[level](before ? { ...fields, repeats: before.repeats } : fields, message);
    };
  }

  return {
    debug: (fields, message) => log.debug(fields, message),
    info: (fields, message) => log.info(fields, message),
    warn: saying('warn'),
    error: saying('error'),
  };
}

function isOutage(fields: object): boolean {
  if ('outage' in fields) return true;
  return (
    'err' in fields && fields.err instanceof CountersignError && fields.err.code === 'storage.unavailable'
  );
}
