import type { Json } from '../../../core/canonical.ts';
import { unreachable } from '../../../core/errors.ts';
import { describeRefused, type Refused } from '../../../messages/skills/code.ts';
import { NO_MODEL } from '../../../messages/skills/model.ts';
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
type Answer = { answer: Json } | { refused: Refused };

/** Answers one call of a program, within its budget. Never rejects. */
export async function answer(
  call: Call,
  host: CodeHost,
  ledger: Ledger,
  signal: AbortSignal,
): Promise<Reply> {
  const { id, function: name } = call;
  const given = await answerTo(call, host, ledger, signal);
  return 'answer' in given ? { id, ...given } : { id, refused: describeRefused(name, given.refused) };
}

async function answerTo(call: Call, host: CodeHost, ledger: Ledger, signal: AbortSignal): Promise<Answer> {
  const { data: name } = hostFunctionSchema.safeParse(call.function);
  if (!name) return { refused: { kind: 'unknown' } };
  const allowed = ledger.begin(name, sizeOf(call.arguments));
  if ('refused' in allowed) return allowed;

  const begun = performance.now();
  // Clamped, because a timer of more than 2^31 ms would fire at once.
  const time = AbortSignal.timeout(Math.ceil(Math.min(allowed.withinMs, 2 ** 31 - 1)));
  const given = await ask(name, call.arguments, host, AbortSignal.any([signal, time])).catch((error) => ({
    refused: time.aborted ? ledger.outOfTime(name) : refusalOf(error),
  }));
  const withheld = ledger.end(name, sizeOf(given), performance.now() - begun);
  return withheld === undefined ? given : { refused: withheld };
}

/** Any other error could reveal addresses, tokens or paths of this machine, so its text is not passed on. */
function refusalOf(error: unknown): Refused {
  return error instanceof HostRefusal ? error.refused : { kind: 'no_answer' };
}

/** Does not wait for a host that ignores the signal. */
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
      return model(host)(checked(name, values)[0], signal);
    case 'llm_query_batched': {
      const ask = model(host);
      return Promise.all(checked(name, values)[0].map((prompt) => ask(prompt, signal)));
    }
    case 'checkpoint':
      await host.checkpoint(checked(name, values)[0], signal);
      return null;
    case 'get_ci_files':
      if (!host.ciFiles) throw new HostRefusal({ kind: 'unknown' });
      return host.ciFiles(checked(name, values)[0], signal);
    case 'render_prompt':
      if (!host.renderPrompt) throw new HostRefusal({ kind: 'unknown' });
      return host.renderPrompt(...checked(name, values), signal);
    case 'run_skill':
      if (!host.runSkill) throw new HostRefusal({ kind: 'unknown' });
      return host.runSkill(...checked(name, values), signal);
    case 'write_artifact': {
      const [path, text] = checked(name, values);
      if (!host.leave) throw new HostRefusal({ kind: 'unknown' });
      await host.leave(path, text);
      return null;
    }
    default:
      return unreachable(name);
  }
}

function model({ ask }: CodeHost): NonNullable<CodeHost['ask']> {
  if (!ask) throw new HostRefusal({ kind: 'by_model', detail: NO_MODEL });
  return ask;
}

function checked<Name extends HostFunction>(name: Name, values: readonly Json[]): Arguments<Name> {
  const parsed = HOST_FUNCTIONS[name].safeParse(values);
  if (parsed.success) return parsed.data as Arguments<Name>;
  const [issue] = parsed.error.issues;
  const [position, ...inside] = issue?.path ?? [];
  const message = issue?.message ?? '';
  throw new HostRefusal({
    kind: 'wrong_argument',
    position: typeof position === 'number' ? position + 1 : null,
    detail: inside.length > 0 ? `${inside.map(String).join('.')}: ${message}` : message,
  });
}

const sizeOf = (value: unknown) => Buffer.byteLength(JSON.stringify(value));
