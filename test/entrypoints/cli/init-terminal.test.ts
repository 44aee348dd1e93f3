// @module-tag slow
import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { describe, expect, it } from 'vitest';
import { parse } from 'yaml';
import { inTerminal, quoted, WITHOUT_TERMINAL } from '../../support/pseudo-terminal.ts';
import { temporaryFolders } from '../../support/temp.ts';
import { countersignProcess } from './support.ts';

const newFolder = temporaryFolders();
const MAIN = fileURLToPath(new URL('../../../src/cli.ts', import.meta.url));
const SETTINGS = '.github/countersign.yml';
/** Without GitHub: nothing listens on the discard port. */
const env = { GITHUB_API_URL: 'http://127.0.0.1:9' };

function newCheckout(): string {
  const folder = newFolder();
  mkdirSync(join(folder, '.git'));
  writeFileSync(join(folder, '.git/config'), '[remote "origin"]\n\turl = http://127.0.0.1:9/octo/app.git\n');
  return folder;
}

/** A person at the keyboard: what they type when the question ends so. */
function answering(folder: string, typed: readonly { after: string; type: string }[], more = '') {
  const command = `${quoted(process.execPath)} ${quoted(MAIN)} init${more}`;
  return inTerminal(command, { cwd: folder, columns: 200, env, typed });
}

const WHO = 'by their logins [maintainers] ';
const COUNT = '1 to 10? [1] ';
const METHOD = 'rebase? [squash] ';
const CHECKS = '[none] ';

describe.skipIf(WITHOUT_TERMINAL)('countersign init at a terminal', () => {
  it('asks four questions, asks again what it does not understand, and takes Enter for the proposed answer', async () => {
    const folder = newCheckout();
    const { code, shown } = await answering(folder, [
      { after: WHO, type: 'octo/core\r' },
      { after: COUNT, type: 'many\r' },
      { after: COUNT, type: '2\r' },
      { after: METHOD, type: '\r' },
      { after: CHECKS, type: '\r' },
    ]);
    expect(code).toBe(0);
    expect(shown).toContain('Not understood: a whole number from 1 to 10');
    expect(parse(readFileSync(join(folder, SETTINGS), 'utf8'))).toMatchObject({
      countersign: { teams: ['octo/core'], count: 2 },
      merge: { method: 'squash' },
    });
  });

  it('lets people correct a line before they press Enter', async () => {
    const folder = newCheckout();
    const { code } = await answering(
      folder,
      [{ after: WHO, type: 'octo/cote\u007F\u007Fre\r' }],
      ' --count 1 --method merge --no-checks',
    );
    expect(code).toBe(0);
    expect(readFileSync(join(folder, SETTINGS), 'utf8')).toContain('octo/core');
  });

  it('writes nothing after three answers that it does not understand', async () => {
    const folder = newCheckout();
    const { code, shown } = await answering(folder, [
      { after: WHO, type: '?\r' },
      { after: WHO, type: '!\r' },
      { after: WHO, type: '!\r' },
    ]);
    expect([code, shown]).toEqual([2, expect.stringContaining('That was no answer three times.')]);
    expect(existsSync(join(folder, SETTINGS))).toBe(false);
  });

  it.each([
    ['Ctrl-D', '\u0004'],
    ['Ctrl-C', '\u0003'],
  ])('writes nothing after %s', async (_, key) => {
    const folder = newCheckout();
    const { code, shown } = await answering(folder, [{ after: WHO, type: key }]);
    expect(code).not.toBe(0);
    expect(shown).toContain('The input ended before all questions were answered. Nothing was written.');
    expect(existsSync(join(folder, SETTINGS))).toBe(false);
  });
});

it('countersign init without a terminal says that nobody can be asked', async () => {
  const folder = newCheckout();
  const { code, stderr } = await countersignProcess(['init'], { cwd: folder, env });
  expect([code, stderr]).toEqual([2, expect.stringMatching(/^There is no terminal to ask at/)]);
});
