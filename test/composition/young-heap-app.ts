/** A program of a test: starts an intake thread that measures its heap, and prints what it says. */
import { startQuietIntake } from './quiet-intake.ts';

const { url } = await startQuietIntake('young-heap-thread.ts');
process.stdout.write(new URL(url).hash.slice(1));
process.exit();
