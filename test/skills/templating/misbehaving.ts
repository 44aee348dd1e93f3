import { writeSync } from 'node:fs';

/** Replaces the render worker: repeats its input, unless that is the name of something that a worker must not do. */
process.stdin.on('data', (data) => {
  const [asked = ''] = data.toString().split('\n');
  if (asked === 'endless') for (;;);
  if (asked === 'talk') for (;;) writeSync(1, 'more and more ');
  if (asked === 'die') process.exit(3);
  writeSync(1, asked === 'twice' ? 'one\ntwo\n' : `${asked}\n`);
});
