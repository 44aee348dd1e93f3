import { chown, mkdir, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { z } from 'zod';
import { type LeftFile, LeftFiles } from '../../../domain/artifact/left-files.ts';
import type { AgentName } from '../../../domain/skill/agent-file.ts';
import type { AgentFault } from '../../../messages/skills/agent.ts';
import { fileRefused } from '../../../messages/skills/left-files.ts';
import { type ProcessSpec, runProcess } from '../../../sandbox/process.ts';
import { temporaryFolder } from '../../../sandbox/temporary-folder.ts';
import {
  type AgentEffort,
  ANSWER_FILE,
  answerIn,
  argumentsOf,
  type Endpoint,
  environmentOf,
} from './command.ts';
import { commandInside, filesOfProgram, INSIDE, isRoot, NOBODY, PROGRAMS } from './sandbox.ts';

export interface AgentLimits {
  timeoutMs: number;
  memoryMb: number;
  /** For everything that it writes. */
  outputBytes: number;
}

export const DEFAULT_AGENT_LIMITS = {
  memoryMb: 2_048,
  outputBytes: 16_000_000,
} satisfies Partial<AgentLimits>;

export interface AgentTask {
  agent: AgentName;
  /** The operator's own program. */
  program: string;
  /** The head's files, which the agent can only read. */
  work: string;
  /** The socket of the proxy. */
  socket: string;
  endpoint: Endpoint;
  prompt: string;
  /** JSON Schema of the answer. */
  schema: object;
  /** By default, the agent chooses. */
  effort?: AgentEffort | undefined;
  limits: AgentLimits;
  /** Called with what it writes, as it comes; not redacted. */
  onOutput?: (part: Uint8Array) => void;
  signal: AbortSignal;
}

export type AgentEnd = { log: string } & (
  | { answer: string; files: readonly LeftFile[] }
  | { fault: AgentFault }
);

/** The port inside the sandbox, whose network is otherwise empty. */
export const PORT = 8_377;

/** Creates a folder that no other user can enter, for one run of an agent. */
export async function withScratch<T>(work: (folder: string) => Promise<T>): Promise<T> {
  const folder = await temporaryFolder('agent');
  try {
    return await work(folder);
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}

/**
 * Runs an agent in its sandbox until it ends or is killed.
 * @returns its answer as text, or why there is none, with everything that it wrote
 * @throws the signal's reason if aborted; every process is dead by then
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
    args: argumentsOf(agent, task.endpoint, JSON.stringify(task.schema), task.effort),
    env: environmentOf(agent, task.endpoint),
    cwd: INSIDE.work,
    prompt: task.prompt,
    answerFile: ANSWER_FILE,
    artifacts: INSIDE.artifacts,
  };
  // Everything that the agent started belongs to the launcher's process namespace and ends with it.
  const spec: ProcessSpec = {
    command,
    args,
    env: PROGRAMS,
    input: JSON.stringify(orders),
    stderr: 'keep',
    descriptor3: 'pipe',
    limits: { wallMs: limits.timeoutMs, memoryMb: limits.memoryMb, outputBytes: limits.outputBytes },
    signal,
  };
  const { failure, output } = await runProcess(spec, task.onOutput);
  const log = output(1, 2).toString();
  if (failure) return { log, fault: failure };
  const { answer, files, refused } = sentIn(output(3).toString());
  return {
    log: [log, ...refused].join('\n'),
    answer: answerIn(agent, { answer, stdout: output(1).toString() }),
    files,
  };
}

const sentSchema = z.union([
  z.strictObject({ answer: z.string() }),
  z.strictObject({ path: z.string(), content: z.base64() }),
]);

/** What the sandbox sent, as lines of JSON. A line that is none of these is as good as nothing. */
export function sentIn(text: string): { answer: string; files: LeftFile[]; refused: string[] } {
  const left = new LeftFiles();
  const refused: string[] = [];
  let answer = '';
  for (const line of text.split('\n').filter(Boolean)) {
    const { data: sent } = sentSchema.safeParse(jsonOr(line));
    if (sent && 'answer' in sent) answer = sent.answer;
    else if (sent) {
      const because = left.add(sent.path, Buffer.from(sent.content, 'base64'));
      if (because !== undefined) refused.push(fileRefused(sent.path, because));
    }
  }
  return { answer, files: left.all(), refused };
}

function jsonOr(line: string): unknown {
  try {
    return JSON.parse(line);
  } catch {
    return undefined;
  }
}
