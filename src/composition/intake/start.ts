import { openInbox, readInbox } from '../../adapters/sqlite/inbox.ts';
import type { BaseConfig } from '../../config/config.ts';
import type { OutagePolicy } from '../../engine/jobs/outage-policy.ts';
import { createDrain, type Drain, takenFrom } from '../../entrypoints/webhook/delivery/drain.ts';
import { recordIn } from '../../entrypoints/webhook/delivery/intake.ts';
import { failedChecks, publicNames } from '../../entrypoints/webhook/readiness.ts';
import { MERGING_IS_OFF, signInWaits } from '../../entrypoints/webhook/refusals.ts';
import type { EngineReports } from '../../entrypoints/webhook/server.ts';
import type { Platform } from '../platform.ts';
import { inboxOf } from '../storage.ts';
import { type IntakeSettings, type Listening, listenForRequests } from './listen.ts';
import { type IntakeThreadOptions, startIntakeThread } from './thread.ts';

/**
 * Where requests are answered: in a thread of its own, or in the engine's thread with its clock and database,
 * for tests.
 */
export type IntakePlace = 'here' | Pick<IntakeThreadOptions, 'program' | 'engineNiceness'>;

/**
 * Starts to answer requests.
 * @param secrets the app's secrets by name
 * @throws CountersignError if a port that the operator chose is taken; then nothing listens
 */
export async function startIntake(
  platform: Platform,
  outagePolicy: OutagePolicy,
  {
    config,
    secrets,
    place = {},
  }: {
    config: IntakeSettings & Pick<BaseConfig, 'databaseUrl' | 'logLevel'>;
    secrets: Readonly<Record<string, string>>;
    place?: IntakePlace | undefined;
  },
): Promise<Listening> {
  const { storage, queue, clock, log } = platform;
  const engine = engineReports(platform, outagePolicy);
  const inboxPath = inboxOf(config.databaseUrl);
  // Two threads cannot share a database that each of them creates.
  if (place === 'here' || inboxPath === undefined) {
    return listenForRequests(config, {
      recorder: recordIn(storage, queue),
      check: () => storage.check(),
      engine: { ...engine, silentMs: () => 0 },
      clock,
      log,
    });
  }
  await readyInbox(inboxPath, storage);
  let drain: Drain | undefined;
  const thread = await startIntakeThread(config, {
    ...place,
    secrets,
    inboxPath,
    engine,
    onRecorded: () => drain?.wake(),
    log,
  });
  const inbox = readInbox(inboxPath);
  const opened = createDrain({
    inbox,
    storage,
    queue,
    onTaken: (last) => thread.taken(last),
    clock,
    log,
  });
  try {
    // What the previous process accepted must be known before missed deliveries are asked for.
    await opened.drain();
  } catch (error) {
    await Promise.all([thread.close(), opened.stop()]);
    throw error;
  }
  drain = opened;
  drain.wake();
  return {
    ...thread,
    async close() {
      await thread.close();
      await opened.stop();
    },
  };
}

/** Before anything is recorded: the file may be an older one than the database. */
async function readyInbox(path: string, storage: Platform['storage']): Promise<void> {
  const inbox = openInbox(path);
  try {
    inbox.startAfter(await takenFrom(inbox, storage));
  } finally {
    inbox.close();
  }
}

export function engineReports(
  { config, storage, github, queue, metrics, clock, log }: Platform,
  outagePolicy: OutagePolicy,
): Omit<EngineReports, 'silentMs'> {
  const isOff = config.merging === 'off';
  return {
    async metrics() {
      await metrics.collect({
        storage,
        clock,
        log,
        rateLimits: github.rateLimits,
        signedOut: github.signedOut,
        waitingForGitHub: outagePolicy.waiting,
        slots: () => queue.slots(),
      });
      return metrics.registry.metrics();
    },
    async readiness() {
      const failures = await failedChecks({ database: () => storage.check() }, log);
      return {
        failures: publicNames(failures),
        warnings: [...(isOff ? [MERGING_IS_OFF] : []), ...github.signedOut().map(signInWaits)],
      };
    },
  };
}
