/** A program of a test: takes memory, drops it, rests, and prints the megabytes of its heap before and once it has shrunk. */
import { getHeapStatistics } from 'node:v8';
import { collectAtRest } from '../../src/composition/heap-at-rest.ts';

const heapMb = () => Math.round(getHeapStatistics().total_heap_size / 1_048_576);
let kept: object[] = Array.from({ length: 600_000 }, (_, index) => ({ index, text: `text ${index}` }));
const before = heapMb();
collectAtRest();
kept = kept.slice(0, 1);
const check = setInterval(() => {
  if (heapMb() > before / 2) return;
  clearInterval(check);
  process.stdout.write(JSON.stringify({ before, after: heapMb(), kept: kept.length }));
}, 100);
