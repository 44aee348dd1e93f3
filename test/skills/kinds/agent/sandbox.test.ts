import { spawn } from 'node:child_process';
import { chownSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:net';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { commandInside, isSandboxAvailable, NOBODY } from '../../../../src/skills/kinds/agent/sandbox.ts';
import { eachFirstQuick } from '../../../support/each-first-quick.ts';
import { message, startStubResponses } from '../../../support/model/responses.ts';
import { fakeAgents, KEY } from './support.ts';

const agents = fakeAgents();
let stub: Awaited<ReturnType<typeof startStubResponses>>;
beforeAll(async () => {
  stub = await startStubResponses();
  stub.answers(message('hello'));
});
afterAll(() => stub.stop());

const ANSWER = `
import fs from 'node:fs';
import net from 'node:net';
import { execFileSync } from 'node:child_process';
const answer = (value) => fs.writeFileSync('/tmp/answer.json', JSON.stringify(value));
const tried = async (work) => { try { return String(await work()); } catch (error) { return 'no: ' + (error.code ?? error.status ?? error.message); } };
`;

async function answered(script: string, modelUrl = stub.url): Promise<Record<string, string | number>> {
  const end = await agents.run(agents.program(ANSWER + script), modelUrl);
  if ('fault' in end) throw new Error(`${JSON.stringify(end.fault)}\n${end.log}`);
  return JSON.parse(end.answer);
}

describe.skipIf(!(await isSandboxAvailable()))('an agent inside its sandbox', () => {
  it('sees the head, its prompt and what it needs, and nothing else of this machine', {
    tags: 'slow',
  }, async () => {
    const secret = join(agents.folder(), 'database.db');
    writeFileSync(secret, 'SECRET');
    const seen = await answered(`
      answer({
        work: fs.readdirSync('/work').join() + ' ' + fs.readFileSync('/work/a.txt', 'utf8'),
        prompt: fs.readFileSync(0, 'utf8'),
        environment: Object.keys(process.env).sort().join(),
        secret: await tried(() => fs.readFileSync(${JSON.stringify(secret)})),
        project: await tried(() => fs.readdirSync(${JSON.stringify(process.cwd())})),
        etc: fs.readdirSync('/etc').sort().join(),
        inside: fs.readdirSync('/inside').sort().join(),
        old: await tried(() => fs.readdirSync('/old')),
        home: await tried(() => fs.readdirSync('/root')),
        temporary: fs.readdirSync('/tmp').length,
      });`);
    expect(seen).toEqual({
      work: 'a.txt of the head',
      prompt: 'Judge it.',
      environment: 'AGENT_TOKEN,HOME,LANG,PATH,TMPDIR',
      secret: 'no: ENOENT',
      project: 'no: ENOENT',
      etc: 'hosts,passwd',
      inside: expect.stringMatching(/^main\.m(ts|js),proxy\.sock,schema\.json$/),
      old: 'no: ENOENT',
      home: 'no: ENOENT',
      // The folder of its own program.
      temporary: 1,
    });
  });

  it('changes nothing: neither the head, nor its own program, nor its sandbox', {
    tags: 'slow',
  }, async () => {
    const program = agents.program(`${ANSWER}
      answer({
        head: await tried(() => fs.writeFileSync('/work/a.txt', 'x')),
        mode: await tried(() => fs.chmodSync('/work/a.txt', 0o777)),
        program: await tried(() => fs.writeFileSync(process.argv[1], 'x')),
        system: await tried(() => fs.writeFileSync('/usr/bin/evil', 'x')),
        mount: await tried(() => execFileSync('mount', ['-o', 'remount,bind,rw', '/work'], { stdio: 'ignore' })),
        capabilities: /CapEff:\\s*(\\S+)/.exec(fs.readFileSync('/proc/self/status', 'utf8'))[1],
        sysctl: await tried(() => fs.openSync('/proc/sys/kernel/core_pattern', 'r+')),
        device: await tried(() => fs.utimesSync('/dev/null', 1, 1)),
        process: await tried(() => fs.openSync('/proc/self/oom_score_adj', 'r+')),
        unshare: await tried(() => execFileSync('unshare', ['--user', '--map-root-user', '--mount', 'mount', '-o', 'remount,bind,rw', '/work'], { stdio: 'ignore' })),
      });`);
    const before = readFileSync(program, 'utf8');
    const end = await agents.run(program, stub.url);
    const seen = 'answer' in end ? JSON.parse(end.answer) : end;
    expect(seen).toEqual({
      head: 'no: EROFS',
      mode: 'no: EROFS',
      program: 'no: EROFS',
      system: 'no: EROFS',
      mount: expect.stringMatching(/^no: /),
      capabilities: '0000000000000000',
      sysctl: 'no: ENOENT',
      device: 'no: EROFS',
      process: 'no: EROFS',
      unshare: expect.stringMatching(/^no: /),
    });
    expect(readFileSync(program, 'utf8')).toBe(before);
  });

  it('sees only its own processes, and so neither the key nor anybody’s environment', {
    tags: 'slow',
  }, async () => {
    const seen = await answered(`
      const pids = fs.readdirSync('/proc').filter((name) => /^\\d+$/.test(name));
      const all = pids.map((pid) => ['environ', 'cmdline'].map((file) => { try { return fs.readFileSync('/proc/' + pid + '/' + file, 'latin1'); } catch { return ''; } }).join()).join();
      answer({ count: String(pids.length), key: String(all.includes(${JSON.stringify(KEY)})), parent: await tried(() => process.kill(${process.pid}, 0)) });`);
    expect(Number(seen.count)).toBeLessThan(8);
    expect(seen).toMatchObject({ key: 'false', parent: 'no: ESRCH' });
  });

  it('reaches its model through the proxy, without the key, and nothing else', { tags: 'slow' }, async () => {
    const other = createServer((socket) => socket.end('hello')).listen(0, '127.0.0.1');
    await new Promise((resolve) => other.once('listening', resolve));
    const { port } = other.address() as { port: number };
    const url = `process.argv.find((one) => one.includes('base_url')).match(/base_url="([^"]+)"/)[1]`;
    const seen = await answered(`
      const base = ${url};
      const ask = (path, token, init) => fetch(base + path, { method: 'POST', headers: { authorization: 'Bearer ' + token }, body: JSON.stringify({ model: 'gpt-5-pro', input: 'hi' }), ...init });
      const good = await ask('/responses', process.env.AGENT_TOKEN);
      answer({
        good: good.status + ' ' + (await good.text()).includes('hello'),
        forged: (await ask('/responses', 'guessed')).status,
        files: (await ask('/files', process.env.AGENT_TOKEN)).status,
        models: (await fetch(base + '/models', { headers: { authorization: 'Bearer ' + process.env.AGENT_TOKEN } })).status,
        service: await tried(() => new Promise((resolve, reject) => net.connect(${port}, '127.0.0.1', () => resolve('connected')).on('error', reject))),
        web: await tried(() => new Promise((resolve, reject) => net.connect(443, '140.82.112.3', () => resolve('connected')).on('error', reject))),
        names: await tried(() => import('node:dns/promises').then((dns) => dns.lookup('github.com'))),
      });`);
    other.close();
    expect(seen).toEqual({
      good: '200 true',
      forged: 403,
      files: 404,
      models: 404,
      service: 'no: ECONNREFUSED',
      web: 'no: ENETUNREACH',
      names: expect.stringMatching(/^no: /),
    });
    expect(stub.asked.at(-1)).toMatchObject({
      path: '/v1/responses',
      authorization: `Bearer ${KEY}`,
      body: { model: 'gpt-5-mini' },
    });
  });
});

describe.skipIf(!(await isSandboxAvailable()))('an agent that does not end', () => {
  const started = () =>
    readdirSync('/proc').filter((pid) => {
      try {
        return (
          /^\d+$/.test(pid) && readFileSync(`/proc/${pid}/cmdline`, 'latin1').includes('left-behind-7f3a')
        );
      } catch {
        return false;
      }
    });
  const LEAVE = `import { spawn } from 'node:child_process';
    spawn('sh', ['-c', 'trap "" TERM HUP; while :; do sleep 1; done', 'left-behind-7f3a'], { detached: true, stdio: 'ignore' }).unref();`;

  eachFirstQuick([
    ['takes too long', `${LEAVE} setInterval(() => {}, 1000);`, { timeoutMs: 700 }, 'timed_out'],
    [
      'takes too much memory',
      'const all = []; setInterval(() => all.push(Buffer.alloc(4e7, 1)), 1);',
      { memoryMb: 300 },
      'too_much_memory',
    ],
    ['writes too much', `setInterval(() => console.log('x'.repeat(10_000)), 1);`, {}, 'too_much_output'],
    ['fails', `${LEAVE} console.error('broken'); process.exit(3);`, {}, 'died'],
  ])('is ended with all that it started because it %s', async (_, script, limits, kind) => {
    const end = await agents.run(agents.program(script), stub.url, limits);
    expect(end).toMatchObject({ fault: { kind } });
    await expect.poll(started).toEqual([]);
  });

  it('ends with what it started when its run is over', { tags: 'slow' }, async () => {
    const controller = new AbortController();
    const program = agents.program(`${LEAVE} setInterval(() => {}, 1000);`);
    const running = agents.run(program, stub.url, {}, controller.signal);
    setTimeout(() => controller.abort(new Error('superseded')), 500);
    await expect(running).rejects.toThrow('superseded');
    await expect.poll(started).toEqual([]);
  });

  it('ends with what it started when the app dies', { tags: 'slow' }, async () => {
    const folder = agents.folder();
    const { command, args } = commandInside(
      { root: folder, readable: [[folder, '/work']], cpuSeconds: 9 },
      '-e',
    );
    if (process.getuid?.() === 0) chownSync(folder, NOBODY, NOBODY);
    const script = `console.log('left-behind-7f3a'); setInterval(() => {}, 1000);`;
    const app = spawn(process.execPath, [
      '-e',
      `require('node:child_process').spawn(${JSON.stringify(command)}, ${JSON.stringify([...args, script])}, { detached: true, stdio: ['ignore', 'inherit', 'inherit'] });`,
    ]);
    await new Promise((resolve) => app.stdout.once('data', resolve));
    expect(started()).not.toEqual([]);
    app.kill('SIGKILL');
    await expect.poll(started).toEqual([]);
  });

  it('still has its answer read, whatever it puts in the answer’s place', { tags: 'slow' }, async () => {
    const link = agents.program(
      `import fs from 'node:fs'; fs.symlinkSync('/etc/passwd', '/tmp/answer.json'); console.log('said');`,
    );
    expect(await agents.run(link, stub.url)).toMatchObject({
      log: 'said\n',
      answer: expect.stringContaining('agent:x:'),
    });
    const nothing = agents.program('');
    expect(await agents.run(nothing, stub.url)).toMatchObject({ answer: '' });
  });
});
