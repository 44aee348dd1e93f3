/** A program of a test: starts an intake thread that only listens, and prints the niceness of its own thread. */
import { getPriority } from 'node:os';
import { startQuietIntake } from './quiet-intake.ts';

await startQuietIntake('listening-intake-thread.ts', { engineNiceness: 10 });
process.stdout.write(String(getPriority()));
process.exit();
