import type { Json } from '../../../../core/canonical.ts';
import { type FromSidecar, type ToSidecar, type Turn, toSidecarSchema, type Wanted } from './protocol.ts';

type Reply = Extract<ToSidecar, { kind: 'answer' | 'refusal' }>;
type Work = Exclude<ToSidecar, Reply>;

let last = 0;
const waiting = new Map<number, (reply: Reply) => void>();

/** Reads from the app until it is gone, then exits. */
export function listen(begin: (work: Work) => void): void {
  let rest = '';
  process.stdin.setEncoding('utf8').on('data', (text: string) => {
    const lines = (rest + text).split('\n');
    rest = lines.pop() ?? '';
    for (const line of lines) hear(toSidecarSchema.parse(JSON.parse(line)), begin);
  });
  process.stdin.on('end', () => process.exit(0));
}

function hear(message: ToSidecar, begin: (work: Work) => void): void {
  if (message.kind === 'answer' || message.kind === 'refusal') {
    waiting.get(message.id)?.(message);
    waiting.delete(message.id);
  } else {
    begin(message);
  }
}

export function say(message: FromSidecar): void {
  process.stdout.write(`${JSON.stringify(message)}\n`);
}

/** @throws Error if the app does not answer; the app reports the reason itself */
export function askModel(task: number, turns: Turn[]): Promise<Json> {
  return want({ kind: 'ask', task, turns });
}

/** @throws Error with a message for the model if the tool could not be used */
export function callTool(task: number, tool: string, values: Json): Promise<Json> {
  return want({ kind: 'call', task, tool, arguments: values });
}

type Unnumbered<T> = T extends unknown ? Omit<T, 'id'> : never;

function want(wanted: Unnumbered<Wanted>): Promise<Json> {
  last += 1;
  const id = last;
  say({ ...wanted, id });
  return new Promise((resolve, reject) => {
    waiting.set(id, (reply) =>
      reply.kind === 'answer' ? resolve(reply.value) : reject(new Error(reply.because)),
    );
  });
}
