import { writeSync } from 'node:fs';
import { readLine } from './line.ts';
import { loadPython } from './python.ts';

/** The process that loads Python once and writes its memory to standard output. It never sees a program. */
const python = await loadPython(JSON.parse(readLine()) as string[], { _makeSnapshot: true });
const bytes = python.makeMemorySnapshot();
for (let written = 0; written < bytes.length; ) {
  written += writeSync(1, bytes, written, Math.min(bytes.length - written, 1 << 20));
}
