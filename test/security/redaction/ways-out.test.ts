// @module-tag security

import { execFile } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { expect, onTestFinished, test } from 'vitest';
import { createTools } from '../../../src/cli-tools.ts';
import { openBlobs } from '../../../src/composition/blobs.ts';
import { systemClock } from '../../../src/core/clock.ts';
import { CountersignError, messageOf } from '../../../src/core/errors.ts';
import { type Log, redactedLog } from '../../../src/core/log.ts';
import { createLog } from '../../../src/core/log-lines.ts';
import { criterion } from '../../../src/domain/explanation/explanation.ts';
import { reason } from '../../../src/domain/explanation/reason.ts';
import { redactedEffect } from '../../../src/engine/effects/redacted-effect.ts';
import { runCli } from '../../../src/entrypoints/cli/command-line.ts';
import { inline } from '../../../src/messages/text/markdown.ts';
import { GitHubError } from '../../../src/ports/github.ts';
import { PLANTED, type Planted } from './planted.ts';

const [TOKEN] = PLANTED as readonly [Planted];
const ADDRESS = PLANTED.find(({ kind }) => kind === 'password in an address') ?? TOKEN;

/** An error as libraries throw them: the request in a member, more in its causes. */
function telling(): Error {
  const cause = new AggregateError([new Error(`cannot reach ${ADDRESS.text}`)], 'all failed');
  return Object.assign(new Error(`401 with ${TOKEN.text}`, { cause }), {
    request: {
      url: ADDRESS.text,
      headers: { authorization: `token ${TOKEN.text}` },
      body: Buffer.from(TOKEN.text),
    },
  });
}

function fields(): object {
  const around: Record<string, unknown> = {
    err: telling(),
    list: [{ deep: new Map([[TOKEN.text, new Set([TOKEN.text])]]) }],
  };
  around.itself = around;
  return {
    ...around,
    url: new URL(ADDRESS.text),
    password: 'hunter2pass',
    big: 5n,
    at: new Date(0),
    say() {},
  };
}

test('a line of the log has no secret in its message, fields, keys, errors, members or causes', () => {
  const lines: string[] = [];
  const log = createLog('info', 'json', { write: (line) => void lines.push(line) });
  log.error(fields(), `failed with ${TOKEN.text}`);
  log.debug(fields(), 'not written');
  expect(lines).toHaveLength(1);
  const [line = ''] = lines;
  for (const needle of [TOKEN.needle, ADDRESS.needle, 'hunter2pass']) expect(line).not.toContain(needle);
  expect(JSON.parse(line)).toMatchObject({
    msg: 'failed with [redacted: GitHub token]',
    password: '[redacted]',
    big: '5',
    at: '1970-01-01T00:00:00.000Z',
    itself: { itself: '(contains itself)' },
    err: {
      type: 'Error',
      message: '401 with [redacted: GitHub token]',
      stack: expect.stringContaining('ways-out.test.ts'),
      request: { headers: { authorization: 'token [redacted: GitHub token]' }, body: '(40 bytes)' },
      cause: { errors: [{ message: 'cannot reach postgres://app:[redacted: password]@db.internal/x' }] },
    },
  });
});

test('a pretty line of the log has no secret either, and its stack has only frames', () => {
  const lines: string[] = [];
  const log = createLog('info', 'pretty', { write: (line) => void lines.push(line) });
  log.error(fields(), `failed with ${TOKEN.text}`);
  const text = lines.join('');
  for (const needle of [TOKEN.needle, ADDRESS.needle, 'hunter2pass']) expect(text).not.toContain(needle);
  expect(text).toMatch(/^\d{2}:\d{2}:\d{2} ERROR failed with \[redacted: GitHub token\] /);
  expect(
    text
      .split('\n')
      .slice(1, -1)
      .every((line) => line.startsWith('    at ')),
  ).toBe(true);
});

test('a field of megabytes is cut, and a line stays a line', () => {
  const lines: string[] = [];
  createLog('info', 'json', { write: (line) => void lines.push(line) }).info(
    { text: 'many words '.repeat(200_000) },
    'long',
  );
  expect(lines[0]?.length).toBeLessThan(20_000);
});

test('any log that the app is given is redacted', () => {
  const seen: unknown[] = [];
  const keep = (...line: unknown[]) => void seen.push(line);
  const log: Log = redactedLog({ debug: keep, info: keep, warn: keep, error: keep });
  for (const level of ['debug', 'info', 'warn', 'error'] as const) log[level](fields(), TOKEN.text);
  expect(seen).toHaveLength(4);
  expect(JSON.stringify(seen)).not.toContain(TOKEN.needle);
  expect(JSON.stringify(seen)).not.toContain(ADDRESS.needle);
});

test.each([
  ['ours', new CountersignError('x', `no: ${TOKEN.text}`)],
  ['GitHub’s client', new GitHubError('invalid', 422, `no: ${TOKEN.text}`)],
])('the message and the stack of an error of %s have no secret from the start', (_, error) => {
  expect([error.message, messageOf(error)]).toEqual([
    'no: [redacted: GitHub token]',
    'no: [redacted: GitHub token]',
  ]);
  expect(error.stack).not.toContain(TOKEN.needle);
});

test('reasons have no secret from the start, before they are cut or encoded', () => {
  const evidence = [{ kind: 'url', id: ADDRESS.text, label: TOKEN.text }] as const;
  const said = [
    reason('step.failed.error', TOKEN.text, [...evidence]),
    criterion('unmet', TOKEN.text, [], [ADDRESS.text]),
  ];
  expect(said).toMatchObject([
    { summary: '[redacted: GitHub token]' },
    { summary: '[redacted: GitHub token]' },
  ]);
  expect(JSON.stringify(said)).not.toContain(ADDRESS.needle);
});

test('the message of any other error has no secret when it is read', () => {
  expect(messageOf(telling())).toBe('401 with [redacted: GitHub token]');
});

test('a blob is stored without secrets, as text and as bytes, and other bytes stay unchanged', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'countersign-redaction-'));
  onTestFinished(() => rmSync(folder, { recursive: true }));
  const blobs = openBlobs(`file:${folder}`);
  const binary = Buffer.from(Array.from({ length: 256 }, (_, byte) => byte));
  await blobs.put('a.log', `é ${TOKEN.text}`);
  await blobs.put('b.bin', Buffer.concat([binary, Buffer.from(TOKEN.text), binary]));
  expect(readFileSync(join(folder, 'a.log'), 'utf8')).toBe('é [redacted: GitHub token]');
  expect(readFileSync(join(folder, 'b.bin'))).toEqual(
    Buffer.concat([binary, Buffer.from('[redacted: GitHub token]'), binary]),
  );
});

const PLACE = { installation_id: 1, owner: 'octo', repo: 'app' };

test('every text of a check run is stored without secrets, encoded or not; its commit and id stay', () => {
  const content = {
    name: 'countersign / x',
    head_sha: 'a'.repeat(40),
    external_id: 'run_1',
    state: { status: 'in_progress', started_at: '2026-03-02T09:00:00.000Z' },
    title: TOKEN.text,
    summary: `**Because:** ${inline(TOKEN.text)}`,
    text: `\`${TOKEN.text}\``,
    annotations: [
      {
        path: `a/${TOKEN.text}.ts`,
        start_line: 1,
        end_line: 1,
        level: 'notice',
        title: TOKEN.text,
        message: TOKEN.text,
      },
    ],
    actions: [],
  } as const;
  const effect = redactedEffect({
    kind: 'check_run',
    ...PLACE,
    content: { ...content, annotations: [...content.annotations], actions: [] },
  });
  expect(JSON.stringify(effect)).not.toContain(TOKEN.needle);
  expect(effect).toMatchObject({
    content: {
      head_sha: content.head_sha,
      external_id: 'run_1',
      summary: '**Because:** [redacted: GitHub token]',
    },
  });
});

test('a comment keeps the marker by which it is found again, even one that looks like a secret', () => {
  const marker = `<!-- countersign:approval base=${TOKEN.text} -->`;
  const effect = redactedEffect({
    kind: 'comment',
    ...PLACE,
    issue: 7,
    marker,
    body: `${marker}\n${inline(TOKEN.text)}`,
  });
  if (effect.kind !== 'comment') throw new Error('not a comment any more');
  expect(effect.body).toBe(`${effect.marker}\n[redacted: GitHub token]`);
  expect(effect.body).not.toContain(TOKEN.needle);
});

test('labels are stored without secrets', () => {
  expect(redactedEffect({ kind: 'label', ...PLACE, issue: 7, labels: ['bug', TOKEN.text] })).toMatchObject({
    labels: ['bug', '[redacted: GitHub token]'],
  });
});

test.each([
  ['a bad option', ['run', 'list', `--${TOKEN.text}`]],
  ['a bad address', ['run', 'list', '--database', ADDRESS.text]],
  ['a file that does not exist', ['run', 'list', '--database', `sqlite:/nowhere/${TOKEN.text}.db`]],
  ['a path that does not exist', ['chain', 'lint', `/nowhere/${TOKEN.text}`]],
])('the command line does not repeat a secret: %s', async (_, argv) => {
  for (const args of [argv, [...argv, '--json']]) {
    let said = '';
    const say = (text: string) => {
      said += text;
    };
    const code = await runCli(args, {
      cwd: '/',
      clock: systemClock,
      tools: createTools({}),
      out: say,
      err: say,
    });
    expect(code).not.toBe(0);
    expect(said).not.toBe('');
    expect(said).not.toContain(TOKEN.needle);
    expect(said).not.toContain(ADDRESS.needle);
  }
});

test('what Node prints about an uncaught error is redacted too, and the process ends with 1', async () => {
  const module = fileURLToPath(new URL('../../../src/core/redact/uncaught.ts', import.meta.url));
  const script = `
    const { redactLastWords } = await import(${JSON.stringify(module)});
    redactLastWords();
    await Promise.reject(Object.assign(new Error('401 with ' + process.argv[1]), { cause: new Error(process.argv[2]) }));`;
  const ended = await new Promise<{ code: unknown; stderr: string }>((resolve) => {
    execFile(
      process.execPath,
      ['--input-type=module', '--eval', script, TOKEN.text, ADDRESS.text],
      (error, _stdout, stderr) => resolve({ code: error?.code, stderr }),
    );
  });
  expect(ended.code).toBe(1);
  expect(ended.stderr).toContain('401 with [redacted: GitHub token]');
  expect(ended.stderr).not.toContain(TOKEN.needle);
  expect(ended.stderr).not.toContain(ADDRESS.needle);
});
