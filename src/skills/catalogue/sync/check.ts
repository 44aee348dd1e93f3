import { z } from 'zod';
import type { Clock } from '../../../core/clock.ts';
import type { Log } from '../../../core/log.ts';
import type { JobRunner, NewJob } from '../../../ports/jobs.ts';
import type { AdoptedSkill, Storage, Tx } from '../../../ports/storage.ts';
import { compareVersions } from './admit.ts';
import { download } from './download.ts';
import { MAX_INDEX_BYTES, readIndex } from './skill-index.ts';

/** What is known of an index, so that a restart neither asks again nor tells again. */
const positionSchema = z.object({
  /** When it was last asked, whether it answered or not. */
  asked: z.iso.datetime(),
  /** Failures in a row. */
  failures: z.int().nonnegative(),
  etag: z.string().nullable(),
  /** The version that it lists of each package. */
  versions: z.record(z.string(), z.string()),
});
type Position = z.infer<typeof positionSchema>;

/** The pause after a first failure. It doubles, up to the usual interval. */
const RETRY_MS = 15 * 60_000;

const cursorOf = (index: string) => `skill_index_check:${index}`;

async function positionOf({ cursors }: Pick<Tx, 'cursors'>, index: string): Promise<Position | undefined> {
  return positionSchema.safeParse(await cursors.get(cursorOf(index))).data;
}

/** A newer version of an installed package. */
interface NewerVersion {
  name: string;
  installed: string | null;
  available: string;
}

function newerThan(adopted: readonly AdoptedSkill[], index: string, { versions }: Position): NewerVersion[] {
  return adopted.flatMap(({ name, version: installed, marketplaceId }) => {
    const available = marketplaceId === index ? versions[name] : undefined;
    return available !== undefined && compareVersions(available, installed ?? '0.0.0') > 0
      ? [{ name, installed, available }]
      : [];
  });
}

/** The newer version of each installed package, by name, as of the last check of its index. */
export async function availableVersions(
  read: Pick<Tx, 'cursors'>,
  adopted: readonly AdoptedSkill[],
): Promise<ReadonlyMap<string, string>> {
  const available = new Map<string, string>();
  for (const index of new Set(adopted.map(({ marketplaceId }) => marketplaceId))) {
    const position = await positionOf(read, index);
    for (const { name, available: version } of position ? newerThan(adopted, index, position) : [])
      available.set(name, version);
  }
  return available;
}

/** What the metrics say of the indexes that are checked. */
export async function indexStatus(
  read: Pick<Tx, 'cursors' | 'skills'>,
  indexes: readonly URL[],
): Promise<{ newer: number; failing: number }> {
  const adopted = await read.skills.adopted();
  const status = { newer: 0, failing: 0 };
  for (const { href } of indexes) {
    const position = await positionOf(read, href);
    if (!position) continue;
    status.newer += newerThan(adopted, href, position).length;
    if (position.failures > 0) status.failing += 1;
  }
  return status;
}

/** The check at the start of the app. Each then schedules the next. */
export function indexCheckJob(now: Date): NewJob {
  return {
    kind: 'skill_indexes',
    installationId: null,
    key: 'skill-indexes',
    payload: {},
    runAt: now,
    coalesce: true,
  };
}

/**
 * Asks the operator's indexes for new versions and tells the operator. It reads only the indexes: no package is
 * downloaded or installed. An index that fails is asked less and less often, down to the usual interval.
 */
export function indexCheckJobs({
  storage,
  clock,
  log,
  indexes,
  everyMs,
}: {
  storage: Storage;
  clock: Clock;
  log: Log;
  indexes: readonly URL[];
  everyMs: number;
}): JobRunner<'skill_indexes'> {
  const dueAt = ({ asked, failures }: Position) =>
    Date.parse(asked) + (failures === 0 ? everyMs : Math.min(everyMs, RETRY_MS * 2 ** (failures - 1)));

  async function ask(index: URL, before: Position | undefined, signal: AbortSignal): Promise<Position> {
    const { href } = index;
    const etag = before?.etag ?? undefined;
    const got = await download(index, { maxBytes: MAX_INDEX_BYTES, signal, etag });
    // A stop of the app is no failure of the index.
    signal.throwIfAborted();
    const asked = clock.now().toISOString();
    if (got.kind === 'unchanged' && before) return { ...before, asked, failures: 0 };
    const read =
      got.kind === 'body'
        ? readIndex(new TextDecoder().decode(got.bytes), index)
        : { because: got.kind === 'failed' ? got.because : 'it did not come' };
    if ('because' in read) {
      const after = {
        asked,
        failures: (before?.failures ?? 0) + 1,
        etag: before?.etag ?? null,
        versions: before?.versions ?? {},
      };
      log.warn(
        { index: href, because: read.because, failures: after.failures, again: new Date(dueAt(after)) },
        'an index of skills cannot be checked for new versions; it is asked again later',
      );
      return after;
    }
    const versions = Object.fromEntries(read.entries.map(({ name, version }) => [name, version]));
    return { asked, failures: 0, etag: got.kind === 'body' ? got.etag : null, versions };
  }

  async function check(index: URL, before: Position | undefined, signal: AbortSignal): Promise<Position> {
    const { href } = index;
    const after = await ask(index, before, signal);
    const adopted = await storage.transaction(async (tx) => {
      await tx.cursors.set(cursorOf(href), after, clock.now());
      return tx.skills.adopted();
    });
    for (const { name, installed, available } of newerThan(adopted, href, after)) {
      if (before?.versions[name] === available) continue;
      log.info(
        { skill: name, installed, available, index: href },
        'a newer version of a skill is available; install it with "countersign skill sync"',
      );
    }
    return after;
  }

  return {
    async run(_, signal) {
      let next = Number.POSITIVE_INFINITY;
      for (const index of indexes) {
        const before = await positionOf(storage.read, index.href);
        const isDue = !before || dueAt(before) <= clock.now().getTime();
        next = Math.min(next, dueAt(isDue ? await check(index, before, signal) : before));
      }
      return indexes.length === 0 ? { kind: 'done' } : { kind: 'reschedule', at: new Date(next) };
    },
    async onRetriesExhausted(_, err) {
      log.error(
        { job: 'skill_indexes', err },
        'gave up on checking the indexes of skills until the next start',
      );
    },
  };
}
