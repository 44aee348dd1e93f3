import { missingName } from './missing-name.ts';
import type { RenderAnswer, RenderRequest } from './protocol.ts';

/**
 * The worker process: renders one template after the other, each in an environment of its own, so that nothing of one is there for
 * the next. Whoever started it kills it when one takes too long, and is gone when standard input ends.
 */
let request = '';
for await (const text of process.stdin.setEncoding('utf8')) {
  request += text;
  // JSON has no line breaks, and nothing more is asked before this is answered.
  if (!text.endsWith('\n')) continue;
  const answer = await render(JSON.parse(request) as RenderRequest);
  request = '';
  process.stdout.write(`${JSON.stringify(answer)}\n`);
}

async function render({ engine, template, context, fuel, maxBytes }: RenderRequest): Promise<RenderAnswer> {
  const { Environment } = (await import(engine)) as typeof import('minijinja-js');
  const environment = new Environment();
  environment.fuel = fuel;
  // A name that is written wrong would otherwise leave a hole in the prompt, and nobody would know.
  environment.undefinedBehavior = 'strict';
  environment.keepTrailingNewline = true;
  try {
    const text = environment.renderStr(template, context);
    return Buffer.byteLength(text) > maxBytes ? { kind: 'too_long' } : { kind: 'text', text };
  } catch (error) {
    // Not an error of the engine's own but of WebAssembly: it asked for more memory than there is, or for more stack.
    const { name, message } = error instanceof Error ? error : new Error(String(error));
    return name === 'RuntimeError' || name === 'RangeError'
      ? { kind: 'out_of_memory' }
      : templateDiagnostic(message, template, context);
  }
}

/** `syntax error: unexpected end of block (in <string>:2)`, and below it a picture of the lines around. */
function templateDiagnostic(message: string, template: string, context: object): RenderAnswer {
  const [first = ''] = message.split('\n');
  const [, words = first, line] = /^(.*?) \(in <string>:(\d+)\)/.exec(first) ?? [];
  const at = line === undefined ? null : Number(line);
  if (words.startsWith('engine ran out of fuel')) return { kind: 'out_of_fuel', line: at };
  const fault = { kind: 'template', line: at, message: words.slice(0, 1_000) } as const;
  const missing = at !== null && words === 'undefined value' ? missingName(template, at, context) : undefined;
  return { ...fault, ...(missing && { missing }) };
}
