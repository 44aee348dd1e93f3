// @module-tag security
import { existsSync, mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import type { ShellEnd, ShellTask } from '../../../src/ports/shell.ts';
import { isSandboxAvailable } from '../../../src/skills/kinds/agent/sandbox.ts';
import { createShell } from '../../../src/skills/shell/shell.ts';

const here = await isSandboxAvailable();
const run = { installationId: 1, repositoryId: 1, repository: 'octo/app', headSha: 'a'.repeat(40) };

/** A shell on a head with a few files. */
const shell = createShell({
  allowed: true,
  gitAccess: async () => ({ url: 'https://git.example/octo/app.git', token: 'ghs_x' }),
  async head(folder) {
    mkdirSync(join(folder, 'src'));
    writeFileSync(join(folder, 'src', 'a.txt'), 'of the head\n');
    return ['AGENTS.md'];
  },
});

function runs(command: string, more: Partial<ShellTask> = {}): Promise<ShellEnd> {
  const { signal } = new AbortController();
  return shell.run({
    run,
    command,
    env: {},
    timeoutMs: 60_000,
    artifacts: [],
    onOutput: () => {},
    signal,
    ...more,
  });
}

test.skipIf(!here)(
  'a command reads and changes a copy of the head, and its exit code and output are known',
  async () => {
    expect(
      await runs('cat src/a.txt; echo new > src/b.txt && ls src; echo "$TITLE" >&2; exit 3', {
        env: { TITLE: '$(id)' },
      }),
    ).toEqual({
      kind: 'exited',
      code: 3,
      files: [],
      log: 'of the head\na.txt\nb.txt\n$(id)\n\nFiles of the head that are missing: AGENTS.md',
    });
  },
);

test.skipIf(!here)('a command has no network, no secrets, and none of this machine’s files', async () => {
  process.env.COUNTERSIGN_TEST_SECRET = 'of the app';
  try {
    const seen = await runs(
      `env; cat /proc/*/environ 2>/dev/null | tr '\\0' '\\n'; ls /; ls ${process.cwd()}; node -e "require('net').connect(443, '1.1.1.1').on('error', (e) => console.log(e.code))"`,
    );
    expect(seen).toMatchObject({ kind: 'exited', code: 0 });
    expect(seen.log).not.toContain('of the app');
    expect(seen.log).toContain('ENETUNREACH');
    expect(seen.log).toMatch(/No such file/);
  } finally {
    delete process.env.COUNTERSIGN_TEST_SECRET;
  }
});

test.skipIf(!here)(
  'a command leaves the files that match its globs, and no link that leads out of its folder',
  { tags: 'slow' },
  async () => {
    const left = await runs(
      'mkdir -p out/deep; echo 1 > out/a.json; echo 2 > out/deep/b.json; echo 3 > other.json; ln -s /etc/passwd out/link.json; ln -s /etc out/etc; ln -s nowhere out/gone.json',
      { artifacts: ['out/**/*.json', 'out/etc/*', '../../*'] },
    );
    expect(left.kind === 'exited' ? left.files.map(({ path }) => path) : left).toEqual([
      'out/a.json',
      'out/deep/b.json',
    ]);
  },
);

test.skipIf(!here)('a command cannot raise its limit of processes, which stops a fork bomb', async () => {
  const seen = await runs('grep "Max processes" /proc/self/limits; prlimit --pid $$ --nproc=unlimited');
  expect(seen).toMatchObject({
    kind: 'exited',
    code: 1,
    log: expect.stringMatching(/^Max processes +2048 +2048 /),
  });
});

const ENDINGS: [string, object, string][] = [
  ['sleep 60', { timeoutMs: 1_500 }, 'the command took longer than 1.5 s and was ended'],
  ['yes', {}, 'the command wrote more than 16000000 bytes and was ended'],
  ['kill -9 $PPID', {}, 'the sandbox of the command ended with exit code 1'],
];
const endsWithASentence = async (command: string, more: object, because: string) => {
  expect(await runs(command, more)).toMatchObject({ kind: 'failed', because });
};
test.skipIf(!here).each(ENDINGS.slice(0, 1))('%s ends with a sentence', endsWithASentence);
test.skipIf(!here).each(ENDINGS.slice(1))('%s ends with a sentence', { tags: 'slow' }, endsWithASentence);

test.skipIf(!here)('a command cannot fill the disk of this machine', { tags: 'slow' }, async () => {
  const filled = await runs('dd if=/dev/zero of=big bs=1M count=1000 2>&1 | tail -1; ls -s /tmp /home/agent');
  expect(filled).toMatchObject({ kind: 'exited' });
  expect(existsSync('/home/agent/work')).toBe(false);
  const again = await runs('dd if=/dev/zero of=big bs=1M count=1000 2>/dev/null');
  expect(again).toMatchObject({ kind: 'exited', code: 1 });
});

test('without the operator’s consent, or without a sandbox, no command runs', async () => {
  const gitAccess = async () => ({ url: '', token: '' });
  const off = createShell({ allowed: false, gitAccess });
  expect(await off.unusable()).toContain('COUNTERSIGN_SHELL=allow');
  const bare = createShell({ allowed: true, gitAccess, sandboxAvailable: async () => false });
  expect(await bare.unusable()).toContain('does not allow the namespaces');
});
