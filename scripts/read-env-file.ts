/**
 * Reads the checkout's `.env`, if there is one, before a script of package.json starts. Node's own
 * `--env-file-if-exists` does the same, but writes a message to standard error if there is none. This is a
 * script and not part of the sources, because a command that runs in a user's repository must not take its
 * settings from that repository's `.env`.
 */
import { existsSync } from 'node:fs';

if (existsSync('.env')) process.loadEnvFile('.env');
