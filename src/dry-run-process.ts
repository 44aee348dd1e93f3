import { runDryRun } from './composition/studio/dry-run-inside.ts';

await runDryRun(process.stdin, process.stdout);
// A connection to GitHub would keep it alive for some seconds.
process.exit();
