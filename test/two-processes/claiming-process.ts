// Claims a database, says so, and lives until it gets a signal to end. Argument: the database's path.
import { claimToServe } from '../../src/adapters/sqlite/serving.ts';

const claim = claimToServe(process.argv[2] ?? '', new Date());
process.stdout.write(claim.ok ? 'claimed\n' : 'denied\n');
if (claim.ok) setInterval(() => undefined, 60_000);
