import { chown, mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { AgentName } from '../../../domain/skill/agent-file.ts';
import type { AgentFault } from '../../../messages/skills/agent.ts';
import { runProcess } from '../../../sandbox/process.ts';
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
  // Whatever the agent started is of the launcher's namespace of processes, and ends with it.
  const { failure, output } = await runProcess({
    command,
    args,
    env: PROGRAMS,
    input: JSON.stringify(orders),
    stderr: 'keep',
    descriptor3: 'pipe',
    limits: { wallMs: limits.timeoutMs, memoryMb: limits.memoryMb, outputBytes: limits.outputBytes },
    signal,
  });
  const log = output(1, 2).toString();
  if (failure) return { log, fault: failure };
  return { log, answer: answerIn(agent, { answer: output(3).toString(), stdout: output(1).toString() }) };
}
