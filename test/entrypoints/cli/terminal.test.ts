// @module-tag slow
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { describe, expect, it } from 'vitest';
import { inTerminal, quoted, WITHOUT_TERMINAL } from '../../support/pseudo-terminal.ts';
import { at, runState } from '../../support/rows.ts';
import { temporaryFolders } from '../../support/temp.ts';
import { countersignProcess, seed } from './support.ts';

const newFolder = temporaryFolders();
const MAIN = fileURLToPath(new URL('../../../src/cli.ts', import.meta.url));
const ESCAPE = '\u001B';

async function withRuns() {
  const path = join(newFolder(), 'countersign.db');
  await seed(path, (storage) =>
    storage.transaction(({ runs }) =>
      runs.insert(
        runState('run_01k2x7m9q0zzzzzzzzzzzzzzz', {
          createdAt: at(1),
          status: 'failed',
          repository: 'a-long-organisation/and-a-longer-repository',
        }),
      ),
    ),
  );
  const env = { DATABASE_URL: `sqlite:${path}` };
  return {
    backupOnTerminal: () =>
      inTerminal(`${quoted(process.execPath)} ${quoted(MAIN)} db backup copy.db`, {
        env,
        cwd: dirname(path),
      }),
    onTerminal: (columns: number, more: Record<string, string> = {}) =>
      inTerminal(`${quoted(process.execPath)} ${quoted(MAIN)} run list`, {
        columns,
        env: { ...env, ...more },
      }),
    backupInPipe: () => countersignProcess(['db', 'backup', 'copy.db'], { env, cwd: dirname(path) }),
    inPipe: (more: Record<string, string> = {}) =>
      countersignProcess(['run', 'list'], { env: { ...env, ...more } }),
  };
}

const widest = (text: string) =>
  Math.max(
    ...text
      .trimEnd()
      .split('\n')
      .map((line) => line.length),
  );

describe.skipIf(WITHOUT_TERMINAL)('a command on a terminal', () => {
  it('shows tables that fit the terminal, with ids whole, and without colours for NO_COLOR', async () => {
    const { onTerminal } = await withRuns();
    const { code, shown } = await onTerminal(70, { NO_COLOR: '1' });
    expect(code).toBe(0);
    expect(shown).not.toContain(ESCAPE);
    expect(shown).toContain('run_01k2x7m9q0zzzzzzzzzzzzzzz  ');
    expect(widest(shown)).toBeLessThanOrEqual(70);
  });

  it('shows more on a wider terminal, in colours', async () => {
    const { onTerminal } = await withRuns();
    const { shown } = await onTerminal(160);
    expect(shown).toContain('a-long-organisation/and-a-longer-repository#3');
    expect(shown).toContain(`${ESCAPE}[1mRUN${ESCAPE}[22m`);
    expect(shown).toContain(`${ESCAPE}[31mfailed${ESCAPE}[39m`);
  });
});

describe.skipIf(WITHOUT_TERMINAL)('long work on a terminal', () => {
  it('says on one line how far it is, and removes that line at its end', async () => {
    const { backupOnTerminal } = await withRuns();
    const { code, shown } = await backupOnTerminal();
    expect(code).toBe(0);
    const [before, ...rest] = shown.split(`\r${ESCAPE}[K`);
    expect(before).toBe('');
    expect(rest.slice(0, -1)).toContain('Copied 0 % …');
    expect(rest.at(-1)).toMatch(/^Backed up .+ to copy\.db\.\n$/);
  });
});

describe('a command in a pipe', () => {
  it('says nothing about its progress on the last line, because there is none', async () => {
    const { stderr } = await (await withRuns()).backupInPipe();
    expect(stderr).toBe('');
  });

  it('clips nothing and shows no colours, unless COLUMNS and FORCE_COLOR ask for that', async () => {
    const { inPipe } = await withRuns();
    const [plain, forced] = await Promise.all([inPipe(), inPipe({ FORCE_COLOR: '1', COLUMNS: '70' })]);
    expect(plain.stdout).not.toContain(ESCAPE);
    expect(plain.stdout).toContain('a-long-organisation/and-a-longer-repository#3');
    expect(forced.stdout).toContain(`${ESCAPE}[31mfailed${ESCAPE}[39m`);
    expect(forced.stdout).not.toContain('a-long-organisation/');
  });
});
