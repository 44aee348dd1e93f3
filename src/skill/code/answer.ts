import type { Json } from '../../core/canonical.ts';
import { unreachable } from '../../core/errors.ts';
import type { Ledger } from './budget.ts';
import { type CodeHost, HostRefusal } from './host.ts';
import {
  type Arguments,
  HOST_FUNCTIONS,
  type HostFunction,
  hostFunctionSchema,
  type Message,
  type Reply,
} from './protocol.ts';

type Call = Extract<Message, { kind: 'call' }>;
type Answer = { answer: Json } | { refused: string };

/** Answers one question of a template, within its budget. Never rejects. */
export async function answer(
  call: Call,
  host: CodeHost,
  ledger: Ledger,
  signal: AbortSignal,
): Promise<Reply> {
  return { id: call.id, ...(await answerTo(call, host, ledger, signal)) };
}

async function answerTo(call: Call, host: CodeHost, ledger: Ledger, signal: AbortSignal): Promise<Answer> {
  const { data: name } = hostFunctionSchema.safeParse(call.function);
  if (!name) return { refused: `there is no function of the name ${JSON.stringify(call.function)}` };
  const allowed = ledger.begin(name, sizeOf(call.arguments));
  if ('refused' in allowed) return allowed;

  const begun = performance.now();
  // Clamped: a timer of more than 2^31 ms would fire at once.
  const time = AbortSignal.timeout(Math.ceil(Math.min(allowed.withinMs, 2 ** 31 - 1)));
  const given = await ask(name, call.arguments, host, AbortSignal.any([signal, time])).catch((error) => ({
    refused: time.aborted ? ledger.outOfTime(name) : refusalOf(name, error),
  }));
  const keptBack = ledger.end(name, sizeOf(given), performance.now() - begun);
  return keptBack === undefined ? given : { refused: keptBack };
}

/** An error that was not made for the template's author may hold anything: addresses, tokens, paths of this machine. */
function refusalOf(name: string, error: unknown): string {
  return error instanceof HostRefusal ? error.message : `${name}: there is no answer at the moment`;
}

/** A host that does not heed the signal is left behind. */
async function ask(
  name: HostFunction,
  values: readonly Json[],
  host: CodeHost,
  signal: AbortSignal,
): Promise<Answer> {
  const late = new Promise<never>((_, reject) =>
    signal.addEventListener('abort', () => reject(signal.reason), { once: true }),
  );
  return { answer: await Promise.race([call(name, values, host, signal), late]) };
}

async function call(
  name: HostFunction,
  values: readonly Json[],
  host: CodeHost,
  signal: AbortSignal,
): Promise<Json> {
  switch (name) {
    case 'search': {
      const hits = await host.search(checked(name, values)[0], signal);
      return hits.map(({ path, line, text }) => ({ path, line, text }));
    }
    case 'get_file':
      return host.file(checked(name, values)[0], signal);
    case 'get_files': {
      const files: { path: string; content: string | null }[] = [];
      for (const path of checked(name, values)[0])
        files.push({ path, content: await host.file(path, signal) });
      return files;
    }
    case 'get_diff':
      checked(name, values);
      return host.diff(signal);
    case 'get_history': {
      const entries = await host.history(checked(name, values)[0], signal);
      return entries.map(({ sha, message, author }) => ({ sha, message, author }));
    }
    case 'llm_query':
      return model(name, host)(checked(name, values)[0], signal);
    case 'llm_query_batched': {
      const ask = model(name, host);
      return Promise.all(checked(name, values)[0].map((prompt) => ask(prompt, signal)));
    }
    case 'checkpoint':
      await host.checkpoint(checked(name, values)[0], signal);
      return null;
    default:
      return unreachable(name);
  }
}

function model(name: string, host: CodeHost): (prompt: string, signal: AbortSignal) => Promise<string> {
  if (!host.ask) throw new HostRefusal(`${name}: no model is configured`);
  return host.ask.bind(host);
}

function checked<Name extends HostFunction>(name: Name, values: readonly Json[]): Arguments<Name> {
  const parsed = HOST_FUNCTIONS[name].safeParse(values);
  if (parsed.success) return parsed.data as Arguments<Name>;
  const [issue] = parsed.error.issues;
  const [position, ...inside] = issue?.path ?? [];
  const where =
    typeof position === 'number'
      ? `argument ${position + 1}${inside.map((key) => `[${String(key)}]`).join('')}: `
      : '';
  throw new HostRefusal(`${name}: ${where}${issue?.message ?? 'wrong arguments'}`);
}

const sizeOf = (value: unknown) => Buffer.byteLength(JSON.stringify(value));
