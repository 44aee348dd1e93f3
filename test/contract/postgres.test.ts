// @module-tag slow
import { afterAll, describe } from 'vitest';
import { postgresPrograms, postgresTestDatabases, WITHOUT_POSTGRES } from '../support/postgres.ts';
import { storageContract } from './storage.contract.ts';

const databases = postgresTestDatabases();
afterAll(() => databases.remove());

describe.skipIf(postgresPrograms === undefined)(`PostgreSQL${WITHOUT_POSTGRES}`, () =>
  storageContract(databases.open),
);
