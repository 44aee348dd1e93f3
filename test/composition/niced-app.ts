/** A program of a test: starts an intake thread that only listens, and prints the niceness of its own thread and of V8's helpers. */
import { readdirSync, readFileSync } from 'node:fs';
import { getPriority } from 'node:os';
import { startQuietIntake } from './quiet-intake.ts';

/** Above that of the tests themselves (vitest.config.ts). */
const ENGINE_NICENESS = 17;

await startQuietIntake('listening-intake-thread.ts', { engineNiceness: ENGINE_NICENESS });
const threads = readdirSync('/proc/self/task').map((id) => ({
  name: readFileSync(`/proc/self/task/${id}/comm`, 'utf8').trim(),
  niceness: getPriority(Number(id)),
}));
const helpers = threads.filter(({ name }) => name === 'V8Worker').map(({ niceness }) => niceness);
const intake = threads.find(({ name }) => name === 'intake')?.niceness;
process.stdout.write(JSON.stringify({ engine: getPriority(), helpers: [...new Set(helpers)], intake }));
process.exit();
