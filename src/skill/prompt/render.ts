import { realpathSync } from 'node:fs';
import { createRequire } from 'node:module';
import { dirname } from 'node:path';
import { fileURLToPath, pathToFileURL } from 'node:url';
import type { Json } from '../../core/canonical.ts';
import type { RenderFault } from '../../words/prompt.ts';
import { runShutIn } from './process.ts';
import { type RenderAnswer, type RenderRequest, renderAnswerSchema } from './worker/protocol.ts';

/** In bytes of UTF-8, of a rendered text. */
export const MAX_RENDERED_BYTES = 262_144;
export const TOO_LONG: RenderFault = { kind: 'too_long', limit: MAX_RENDERED_BYTES };
/** In bytes of JSON, of a template and its context together. */
const MAX_REQUEST_BYTES = 4_000_000;
/** JSON writes a control character in six bytes. */
const MAX_ANSWER_BYTES = 6 * MAX_RENDERED_BYTES + 1_000;
/** Steps of the engine: a thousand changed files with a dozen values each take a tenth of it, an endless loop uses it up in a moment. */
const FUEL = 1_000_000;
const TIMEOUT_MS = 10_000;

const MAIN = fileURLToPath(new URL(`./worker/main.${import.meta.url.slice(-2)}`, import.meta.url));

export type Rendered = { ok: true; text: string } | { ok: false; fault: RenderFault };

export interface RenderOptions {
  signal: AbortSignal;
  timeoutMs?: number;
}

/**
 * Renders a MiniJinja template in a process of its own: without environment, files, network and other templates to include, with
 * bounds on steps, time, memory and output. Nothing is escaped, since the text is for a model; a value that is missing is a
 * fault of the template. A thread was rejected: the memory of WebAssembly cannot be bounded for a thread, and running out of it
 * would take the app along.
 * @throws the signal's reason when aborted; the process is dead by then.
 */
export async function renderString(
  template: string,
  context: { [name: string]: Json },
  { signal, timeoutMs = TIMEOUT_MS }: RenderOptions,
): Promise<Rendered> {
  const engine = realpathSync(createRequire(import.meta.url).resolve('minijinja-js'));
  const request: RenderRequest = {
    engine: pathToFileURL(engine).href,
    template,
    context,
    fuel: FUEL,
    maxBytes: MAX_RENDERED_BYTES,
  };
  const input = JSON.stringify(request);
  const bytes = Buffer.byteLength(input);
  if (bytes > MAX_REQUEST_BYTES) {
    return { ok: false, fault: { kind: 'too_much_context', bytes, limit: MAX_REQUEST_BYTES } };
  }
  const end = await runShutIn(MAIN, input, {
    readable: [dirname(engine)],
    maxOutputBytes: MAX_ANSWER_BYTES,
    timeoutMs,
    signal,
  });
  const answer = end.kind === 'said' ? readAnswer(end.text) : end;
  if (answer.kind === 'text') return { ok: true, text: answer.text };
  if (answer.kind === 'too_long') return { ok: false, fault: TOO_LONG };
  return { ok: false, fault: answer.kind === 'out_of_fuel' ? { ...answer, limit: FUEL } : answer };
}

function readAnswer(text: string): RenderAnswer | Extract<RenderFault, { kind: 'crashed' }> {
  try {
    return renderAnswerSchema.parse(JSON.parse(text));
  } catch {
    return { kind: 'crashed', detail: 'it said something that is no answer' };
  }
}
