import { redactLastWords } from './core/redact/uncaught.ts';
import { serve } from './serve.ts';

redactLastWords();
const started = await serve(process.env);
if (!started.ok) {
  process.stderr.write(started.message);
  process.exitCode = 1;
}
