import { describe } from 'vitest';
import type { OpenDatabase } from '../support/database.ts';
import { artifactSearchContract } from './artifact-search.contract.ts';
import { auditContract } from './audit.contract.ts';
import { deliveriesContract } from './deliveries.contract.ts';
import { dryRunsContract } from './dry-runs.contract.ts';
import { effectsContract } from './effects.contract.ts';
import { jobsContract } from './jobs.contract.ts';
import { modelCallsContract } from './model-calls.contract.ts';
import { recoveryContract } from './recovery.contract.ts';
import { repositoryStatesContract } from './repository-states.contract.ts';
import { runsContract } from './runs.contract.ts';
import { sessionLogsContract } from './session-logs.contract.ts';
import { skillTracesContract } from './skill-traces.contract.ts';
import { skillsContract } from './skills.contract.ts';
import { transactionsContract } from './transactions.contract.ts';

const PARTS = [
  transactionsContract,
  deliveriesContract,
  runsContract,
  artifactSearchContract,
  effectsContract,
  recoveryContract,
  modelCallsContract,
  skillsContract,
  skillTracesContract,
  sessionLogsContract,
  repositoryStatesContract,
  auditContract,
  dryRunsContract,
];

/** What every storage adapter does, whatever its database is. */
export function storageContract(open: OpenDatabase): void {
  // A block for each, because each opens a database for every test in its block.
  for (const part of PARTS) describe('storage', () => part(open));
  describe('jobs', () => jobsContract(open));
}
