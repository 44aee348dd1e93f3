import { readFileSync, writeSync } from 'node:fs';

/** Run in the place of the render worker: never ends, and keeps talking when it was asked to. */
const talks = readFileSync(0, 'utf8') === 'talk';
for (;;) if (talks) writeSync(1, 'more and more\n');
