import { serve } from './serve.ts';

const started = await serve(process.env);
if (!started.ok) {
  process.stderr.write(started.message);
  process.exitCode = 1;
}
