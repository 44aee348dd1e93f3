/*
 * Runs inside the sandbox beside the agent, and is trusted as little. It connects the agent to the proxy: it
 * listens on the loopback interface of an otherwise empty network and forwards to a Unix socket. It imports
 * none of our code, because none is visible there.
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
  /** The file to which the agent writes its answer. */
  answerFile: string;
}

const MAX_ANSWER_BYTES = 1_000_000;

const orders = JSON.parse(readFileSync(0, 'utf8')) as Orders;
const bridge = createServer((from) => {
  const to = connect(orders.socket);
  from.on('error', () => to.destroy());
  to.on('error', () => from.destroy());
  from.pipe(to).pipe(from);
});
bridge.listen(orders.port, '127.0.0.1', () => {
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
    // This process is the first of its namespace, so its end also ends everything that the agent left
    // running.
    process.exit(code ?? 1);
  });
});
