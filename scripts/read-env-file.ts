/**
 * Reads the checkout's `.env`, if there is one, before a script of package.json begins. Node's own `--env-file-if-exists` does the same,
 * and says on standard error at every start when there is none. In a script and not in the sources: a command run in somebody's
 * repository must not take its settings from that repository's `.env`.
 */
import { existsSync } from 'node:fs';

if (existsSync('.env')) process.loadEnvFile('.env');
