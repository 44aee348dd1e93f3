/** A program of a test: an intake thread that listens and then fails. Without the thread's failure, it would run for a minute. */
import { startQuietIntake } from './quiet-intake.ts';

setTimeout(() => process.exit(0), 60_000);
await startQuietIntake('broken-intake-thread.ts');
