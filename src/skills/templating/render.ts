import { realpathSync } from 'node:fs';
import { createRequire } from 'node:module';
import { dirname } from 'node:path';
import { fileURLToPath, pathToFileURL } from 'node:url';
import type { Json } from '../../core/canonical.ts';
import { OWN_EXTENSION } from '../../core/package-root.ts';
import type { RenderFault } from '../../messages/skills/prompt.ts';
import { type AnsweringProcess, commandFor, type NoAnswer, startAnswering } from './process.ts';
import { type RenderAnswer, type RenderRequest, renderAnswerSchema } from './worker/protocol.ts';

/** In bytes of UTF-8, for a rendered text. */
export const MAX_RENDERED_BYTES = 262_144;
export const TOO_LONG: RenderFault = { kind: 'too_long', limit: MAX_RENDERED_BYTES };
/** In bytes of JSON, for a template with its context. */
const MAX_REQUEST_BYTES = 4_000_000;
/** JSON writes a control character in six bytes. */
const MAX_ANSWER_BYTES = 6 * MAX_RENDERED_BYTES + 1_000;
/**
 * Steps of the engine. A thousand changed files with a dozen values each take a tenth of it; an endless loop
 * consumes it at once.
 */
const FUEL = 1_000_000;
const TIMEOUT_MS = 10_000;

const MAIN = fileURLToPath(new URL(`./worker/main.${OWN_EXTENSION}`, import.meta.url));

type Rendered = { ok: true; text: string } | { ok: false; fault: RenderFault };

interface RenderOptions {
  signal: AbortSignal;
  timeoutMs?: number;
}

/**
 * Renders a MiniJinja template in a process without environment, files, network or other templates to
 * include, with limits on steps, time, memory and output. Nothing is escaped, because the text is for a
 * model. A missing value is an error in the template. Rejected: a thread, because WebAssembly's memory cannot
 * be limited per thread and exhausting it would crash the app.
 * @throws the signal's reason if aborted; the process is dead by then
 */
export type Render = (
  template: string,
  context: { [name: string]: Json },
  options: RenderOptions,
) => Promise<Rendered>;

/** Renders one template in a process of its own. */
export const renderString: Render = (template, context, options) =>
  withRenderer((render) => render(template, context, options));

/**
 * Gives the work one process for everything that it renders, in sequence, because starting Node and the
 * engine takes far longer than rendering. The process starts with the first rendering, is replaced after a
 * failed one, whose state is unknown, and is killed at the end of the work. Rejected: a pool for the whole
 * app, because a template that escapes the engine could read everything that its process receives later. So
 * the work must belong to one package in one step, whose prompts give the same model the same pull request
 * anyway.
 */
export async function withRenderer<T>(work: (render: Render) => Promise<T>): Promise<T> {
  const engine = realpathSync(createRequire(import.meta.url).resolve('minijinja-js'));
  const over = new AbortController();
  let renderer: AnsweringProcess | undefined;
  let turn: Promise<unknown> = Promise.resolve();

  async function renderNow(input: string, { signal, timeoutMs = TIMEOUT_MS }: RenderOptions) {
    const command = await commandFor(MAIN, [dirname(engine)]);
    const until = AbortSignal.any([signal, over.signal]);
    until.throwIfAborted();
    if (!renderer || renderer.over.aborted) renderer = startAnswering(command, MAX_ANSWER_BYTES);
    const reply = await renderer.ask(input, { timeoutMs, signal: until });
    const answer = reply.kind === 'answer' ? readAnswer(reply.text) : reply;
    if (answer.kind !== 'text') await end(renderer);
    return renderedOf(answer);
  }

  try {
    return await work(async (template, context, options) => {
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
      const rendered = turn.then(() => renderNow(input, options));
      turn = rendered.catch(() => {});
      return rendered;
    });
  } finally {
    // After a failure, another part of the work may still be running. It must not start a process that would
    // never end.
    over.abort(new Error('what it was rendered for has ended'));
    if (renderer) await end(renderer);
  }
}

async function end(renderer: AnsweringProcess): Promise<void> {
  renderer.stop();
  await renderer.ended;
}

function renderedOf(answer: RenderAnswer | NoAnswer): Rendered {
  switch (answer.kind) {
    case 'text':
      return { ok: true, text: answer.text };
    case 'too_long':
      return { ok: false, fault: TOO_LONG };
    case 'out_of_fuel':
      return { ok: false, fault: { ...answer, limit: FUEL } };
    default:
      return { ok: false, fault: answer };
  }
}

function readAnswer(text: string): RenderAnswer | NoAnswer {
  try {
    return renderAnswerSchema.parse(JSON.parse(text));
  } catch {
    return { kind: 'crashed', detail: 'it said something that is no answer' };
  }
}
