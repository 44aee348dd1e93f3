import { spawn } from 'node:child_process';
import { chown, mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Readable } from 'node:stream';
import { messageOf } from '../../../core/errors.ts';
import type { AgentName } from '../../../domain/skill/agent-file.ts';
import type { AgentFault } from '../../../messages/agent.ts';
import { killGroup } from '../../../sandbox/kill-group.ts';
import { watchMemory } from '../../../sandbox/memory.ts';
import { ANSWER_FILE, answerIn, argumentsOf, type Endpoint, environmentOf } from './command.ts';
import { commandInside, filesOfProgram, INSIDE, isRoot, NOBODY, PROGRAMS } from './walls.ts';

export interface AgentLimits {
  timeoutMs: number;
  memoryMb: number;
  /** Of all that it writes. */
  outputBytes: number;
}

export const DEFAULT_AGENT_LIMITS = {
  memoryMb: 2_048,
  outputBytes: 8_000_000,
} satisfies Partial<AgentLimits>;

export interface AgentTask {
  agent: AgentName;
  /** The operator's own program. */
  program: string;
  /** The head's files; the agent can only read them. */
  work: string;
  /** Where the proxy listens. */
  socket: string;
  endpoint: Endpoint;
  prompt: string;
  /** JSON Schema of the answer. */
  schema: object;
  limits: AgentLimits;
  signal: AbortSignal;
}

export type AgentEnd = { log: string } & ({ answer: string } | { fault: AgentFault });

/** The port inside, where the network holds nothing else. */
export const PORT = 8_377;

/** A folder that nobody else can enter, with what one run of an agent needs. */
export async function withScratch<T>(work: (folder: string) => Promise<T>): Promise<T> {
  const folder = await mkdtemp(join(tmpdir(), 'countersign-agent-'));
  try {
    return await work(folder);
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}

/**
 * Runs an agent inside of its walls until it ends or has to be ended.
 * @returns its answer as text, or why there is none, with all that it wrote.
 * @throws the signal's reason when aborted; every process is dead by then.
 */
export async function runAgent(folder: string, task: AgentTask): Promise<AgentEnd> {
  const { agent, program, limits, signal } = task;
  const root = join(folder, 'root');
  const schema = join(folder, 'schema.json');
  await mkdir(root);
  await writeFile(schema, JSON.stringify(task.schema));
  if (isRoot()) for (const path of [folder, root, task.socket]) await chown(path, NOBODY, NOBODY);
  const seen = filesOfProgram(program);
  const { command, args } = commandInside({
    root,
    readable: [
      [task.work, INSIDE.work],
      [seen, seen],
      [task.socket, INSIDE.socket],
      [schema, INSIDE.schema],
    ],
    cpuSeconds: limits.timeoutMs / 1_000,
  });
  const orders = {
    port: PORT,
    socket: INSIDE.socket,
    command: program,
    args: argumentsOf(agent, task.endpoint, JSON.stringify(task.schema)),
    env: environmentOf(agent, task.endpoint),
    cwd: INSIDE.work,
    prompt: task.prompt,
    answerFile: ANSWER_FILE,
  };
  signal.throwIfAborted();

  return new Promise((resolve, reject) => {
    const child = spawn(command, args, {
      cwd: '/',
      env: PROGRAMS,
      stdio: ['pipe', 'pipe', 'pipe', 'pipe'],
      detached: true,
    });
    let fault: AgentFault | undefined;
    const stop = (because?: AgentFault) => {
      fault ??= because;
      // Whatever the agent started is of the launcher's namespace of processes, and ends with it.
      killGroup(child.pid);
    };
    const onAbort = () => stop();
    const timer = setTimeout(() => stop({ kind: 'timed_out', ms: limits.timeoutMs }), limits.timeoutMs);
    signal.addEventListener('abort', onAbort, { once: true });
    const endWatch = child.pid
      ? watchMemory(child.pid, limits.memoryMb, () => stop({ kind: 'too_much_memory', mb: limits.memoryMb }))
      : () => {};

    let bytes = 0;
    const texts = { stdout: [] as Buffer[], all: [] as Buffer[], answer: [] as Buffer[] };
    const hear = (stream: Readable, ...into: Buffer[][]) =>
      stream.on('data', (part: Buffer) => {
        bytes += part.length;
        if (bytes > limits.outputBytes) return stop({ kind: 'said_too_much', limit: limits.outputBytes });
        for (const list of into) list.push(part);
      });
    hear(child.stdout, texts.stdout, texts.all);
    hear(child.stderr, texts.all);
    hear(child.stdio[3] as Readable, texts.answer);
    child.on('error', (error) => stop({ kind: 'not_started', detail: messageOf(error) }));
    child.on('close', (code, killedBy) => {
      clearTimeout(timer);
      endWatch();
      signal.removeEventListener('abort', onAbort);
      if (signal.aborted) return reject(signal.reason);
      const text = (parts: Buffer[]) => Buffer.concat(parts).toString('utf8');
      const log = text(texts.all);
      if (code !== 0)
        fault ??= { kind: 'ended', detail: killedBy ?? `exit code ${code}`, refused: undefined };
      resolve(
        fault
          ? { log, fault }
          : { log, answer: answerIn(agent, { answer: text(texts.answer), stdout: text(texts.stdout) }) },
      );
    });
    child.stdin.on('error', () => {});
    child.stdin.end(JSON.stringify(orders));
  });
}
