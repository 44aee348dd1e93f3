/*
 * Runs inside of the walls, beside the agent, and is believed as little. It holds the way to the proxy: a port on the loopback
 * of a network that has nothing else in it, led to a socket that can be seen in here. It imports nothing of ours, since nothing of ours
 * is here.
 */
import { spawn } from 'node:child_process';
import { existsSync, readFileSync, statSync, writeSync } from 'node:fs';
import { connect, createServer } from 'node:net';

interface Orders {
  port: number;
  socket: string;
  command: string;
  args: string[];
  env: Record<string, string>;
  cwd: string;
  prompt: string;
  /** Where the agent leaves its answer. */
  answerFile: string;
}

const MAX_ANSWER_BYTES = 1_000_000;

const orders = JSON.parse(readFileSync(0, 'utf8')) as Orders;
const way = createServer((from) => {
  const to = connect(orders.socket);
  from.on('error', () => to.destroy());
  to.on('error', () => from.destroy());
  from.pipe(to).pipe(from);
});
way.listen(orders.port, '127.0.0.1', () => {
  const { command, args, env, cwd, prompt, answerFile } = orders;
  const agent = spawn(command, args, { cwd, env, stdio: ['pipe', 'inherit', 'inherit'] });
  agent.stdin.on('error', () => {});
  agent.stdin.end(prompt);
  agent.on('error', (error) => {
    process.stderr.write(`${error.message}\n`);
    process.exit(127);
  });
  agent.on('exit', (code) => {
    if (existsSync(answerFile) && statSync(answerFile).size <= MAX_ANSWER_BYTES) {
      const answer = readFileSync(answerFile);
      for (let at = 0; at < answer.length; ) at += writeSync(3, answer, at);
    }
    // What the agent left running ends with this process, which is the first of its namespace.
    process.exit(code ?? 1);
  });
});
