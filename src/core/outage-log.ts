import type { Clock } from './clock.ts';
import { CountersignError } from './errors.ts';
import type { Log } from './log.ts';

const EVERY_MS = 60_000;

/**
 * Logs the errors of an outage once a minute instead of once per webhook, probe and job. An outage is one of
 * the storage, or any that a line names in its field `outage`. `repeats` counts the suppressed lines. All
 * other lines pass.
 *
 * This wraps the whole log because every module meets the same full disk, each at its own rate.
 */
export function withoutRepeats(log: Log, clock: Clock): Log {
  const last = new Map<string, { at: number; repeats: number }>();

  function throttled(level: 'warn' | 'error'): Log['warn'] {
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
    warn: throttled('warn'),
    error: throttled('error'),
  };
}

function isOutage(fields: object): boolean {
  if ('outage' in fields) return true;
  return (
    'err' in fields && fields.err instanceof CountersignError && fields.err.code === 'storage.unavailable'
  );
}
