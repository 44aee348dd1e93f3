import { describe } from 'vitest';
import { sqliteTestDatabase } from '../support/temp.ts';
import { storageContract } from './storage.contract.ts';

describe('SQLite', () => storageContract(sqliteTestDatabase));
