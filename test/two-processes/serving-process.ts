// Serves as `npm start` does, but waits for another process only as long as the argument says, in ms.
import { serve } from '../../src/serve.ts';

const started = await serve(process.env, Number(process.argv[2]));
if (!started.ok) {
  process.stderr.write(started.message);
  process.exitCode = 1;
}
