import { writeSync } from 'node:fs';

/** Run in the place of the render worker: repeats what it is asked, unless that is the name of something that it must not do. */
process.stdin.on('data', (data) => {
  const [asked = ''] = data.toString().split('\n');
  if (asked === 'endless') for (;;);
  if (asked === 'talk') for (;;) writeSync(1, 'more and more ');
  if (asked === 'die') process.exit(3);
  writeSync(1, asked === 'twice' ? 'one\ntwo\n' : `${asked}\n`);
});
