import { missingName } from './missing-name.ts';
import type { RenderAnswer, RenderRequest } from './protocol.ts';

/**
 * The worker process: renders templates in sequence, each in a new environment, so that nothing carries over.
 * Its parent kills it if one takes too long. It ends when standard input ends.
 */
let request = '';
for await (const text of process.stdin.setEncoding('utf8')) {
  request += text;
  // JSON has no line breaks, and the next request comes only after this answer.
  if (!text.endsWith('\n')) continue;
  const answer = await render(JSON.parse(request) as RenderRequest);
  request = '';
  process.stdout.write(`${JSON.stringify(answer)}\n`);
}

async function render({ engine, template, context, fuel, maxBytes }: RenderRequest): Promise<RenderAnswer> {
  const { Environment } = (await import(engine)) as typeof import('minijinja-js');
  const environment = new Environment();
  environment.fuel = fuel;
  // Otherwise a misspelled name would leave an unnoticed gap in the prompt.
  environment.undefinedBehavior = 'strict';
  environment.keepTrailingNewline = true;
  try {
    const text = environment.renderStr(template, context);
    return Buffer.byteLength(text) > maxBytes ? { kind: 'too_long' } : { kind: 'text', text };
  } catch (error) {
    // An error of WebAssembly, not of the engine: out of memory or stack.
    const { name, message } = error instanceof Error ? error : new Error(String(error));
    return name === 'RuntimeError' || name === 'RangeError'
      ? { kind: 'out_of_memory' }
      : templateDiagnostic(message, template, context);
  }
}

/**
 * The format is `syntax error: unexpected end of block (in <string>:2)`, followed by an excerpt of the
 * template.
 */
function templateDiagnostic(message: string, template: string, context: object): RenderAnswer {
  const [first = ''] = message.split('\n');
  const [, words = first, line] = /^(.*?) \(in <string>:(\d+)\)/.exec(first) ?? [];
  const at = line === undefined ? null : Number(line);
  if (words.startsWith('engine ran out of fuel')) return { kind: 'out_of_fuel', line: at };
  const fault = { kind: 'template', line: at, message: words.slice(0, 1_000) } as const;
  const missing = at !== null && words === 'undefined value' ? missingName(template, at, context) : undefined;
  return { ...fault, ...(missing && { missing }) };
}
