import { afterEach, beforeEach } from 'vitest';
import type { Storage } from '../../src/ports/storage.ts';
import { ManualClock } from './clock.ts';
import { at } from './rows.ts';

/** A database for one test. */
export interface TestDatabase {
  storage: Storage;
  remove(): Promise<void>;
}

export type OpenDatabase = (clock: ManualClock) => Promise<TestDatabase>;

/** A fresh database for each test, and a clock that stays at `at(0)` until a test moves it. */
export function useDatabase(open: OpenDatabase): Omit<TestDatabase, 'remove'> & { clock: ManualClock } {
  let clock: ManualClock;
  let database: TestDatabase;
  beforeEach(async () => {
    clock = new ManualClock(at(0).toISOString());
    database = await open(clock);
  });
  afterEach(() => database.remove());
  return {
    get storage() {
      return database.storage;
    },
    get clock() {
      return clock;
    },
  };
}
