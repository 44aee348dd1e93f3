import { describe } from 'vitest';
import { storageContract } from './storage.contract.ts';
import { sqliteTestDatabase } from './temp.ts';

describe('SQLite', () => storageContract(sqliteTestDatabase));
