/*
 * Runs inside the sandbox beside the agent or command, and is trusted as little. It connects the agent to the proxy: it
 * listens on the loopback interface of an otherwise empty network and forwards to a Unix socket. It imports
 * none of our code, because none is visible there.
 */
import { spawn } from 'node:child_process';
import {
  existsSync,
  globSync,
  lstatSync,
  readdirSync,
  readFileSync,
  realpathSync,
  statSync,
  writeSync,
} from 'node:fs';
import { connect, createServer } from 'node:net';

interface Orders {
  /** Left out for a command, which has no proxy. */
  port?: number;
  socket?: string;
  command: string;
  args: string[];
  env: Record<string, string>;
  cwd: string;
  prompt: string;
  /** The file to which the agent writes its answer. */
  answerFile: string;
  /** The folder of the files that it leaves. */
  artifacts: string;
  /** Only the files in it that match one of them; all if left out. */
  globs?: string[];
}

const MAX_ANSWER_BYTES = 1_000_000;
/** The app has limits of its own. These keep what is sent to it small. */
const MAX_FILES = 30;
const MAX_FILE_BYTES = 1_100_000;
const MAX_DEPTH = 8;
const MAX_BYTES = 6_000_000;

const orders = JSON.parse(readFileSync(0, 'utf8')) as Orders;
const { socket, port } = orders;
if (socket === undefined) start();
else {
  const bridge = createServer((from) => {
    const to = connect(socket);
    from.on('error', () => to.destroy());
    to.on('error', () => from.destroy());
    from.pipe(to).pipe(from);
  });
  bridge.listen(port, '127.0.0.1', start);
}

function start(): void {
  const { command, args, env, cwd, prompt, answerFile } = orders;
  const agent = spawn(command, args, { cwd, env, stdio: ['pipe', 'inherit', 'inherit'] });
  agent.stdin.on('error', () => {});
  agent.stdin.end(prompt);
  agent.on('error', (error) => {
    process.stderr.write(`${error.message}\n`);
    process.exit(127);
  });
  agent.on('exit', (code) => {
    const hasAnswer = existsSync(answerFile) && statSync(answerFile).size <= MAX_ANSWER_BYTES;
    send({ answer: hasAnswer ? readFileSync(answerFile, 'utf8') : '' });
    const { artifacts, globs } = orders;
    for (const file of globs ? filesMatching(artifacts, globs) : filesIn(artifacts)) send(file);
    // This process is the first of its namespace, so its end also ends everything that the agent left
    // running.
    process.exit(code ?? 1);
  });
}

/** One line of JSON to the app: the answer first, then each file. */
function send(message: { answer: string } | { path: string; content: string }): void {
  const line = Buffer.from(`${JSON.stringify(message)}\n`);
  for (let at = 0; at < line.length; ) at += writeSync(3, line, at);
}

/** Regular files only: a link or a device is not followed. The first ones by name, if there are too many. */
function* filesIn(folder: string): Generator<{ path: string; content: string }> {
  let left = MAX_FILES;
  const folders: { place: string; path: string; depth: number }[] = [{ place: folder, path: '', depth: 0 }];
  for (let next = folders.shift(); next; next = folders.shift()) {
    const entries = readdirSync(next.place, { withFileTypes: true });
    for (const entry of entries.sort((a, b) => (a.name < b.name ? -1 : 1))) {
      const place = `${next.place}/${entry.name}`;
      const path = next.path === '' ? entry.name : `${next.path}/${entry.name}`;
      if (entry.isDirectory() && next.depth < MAX_DEPTH) folders.push({ place, path, depth: next.depth + 1 });
      if (!entry.isFile()) continue;
      if (left === 0) return;
      left -= 1;
      if (statSync(place).size > MAX_FILE_BYTES) continue;
      yield { path, content: readFileSync(place).toString('base64') };
    }
  }
}

/** Regular files that lie in the folder itself: a link that leads elsewhere would show a file of the sandbox. */
function* filesMatching(folder: string, globs: string[]): Generator<{ path: string; content: string }> {
  const home = `${realpathSync(folder)}/`;
  let [left, bytes] = [MAX_FILES, MAX_BYTES];
  for (const path of [...new Set(globSync(globs, { cwd: folder }))].sort()) {
    const place = `${folder}/${path}`;
    const found = lstatSync(place, { throwIfNoEntry: false });
    if (!found?.isFile() || found.size > MAX_FILE_BYTES || !realpathSync(place).startsWith(home)) continue;
    left -= 1;
    bytes -= found.size;
    if (left < 0 || bytes < 0) return;
    yield { path, content: readFileSync(place).toString('base64') };
  }
}
