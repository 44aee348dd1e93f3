// @module-tag slow

import { execFile } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { expect, test } from 'vitest';
import { postgresPrograms, WITHOUT_POSTGRES } from '../support/postgres.ts';

const MAIN = fileURLToPath(new URL('../../demo/main.ts', import.meta.url));

test.skipIf(postgresPrograms === undefined)(
  `the demo on PostgreSQL reads back every state that it expects${WITHOUT_POSTGRES}`,
  async () => {
    const { stdout } = await promisify(execFile)(process.execPath, [
      MAIN,
      '--json',
      '--database',
      'postgres',
    ]);
    const said = stdout
      .trim()
      .split('\n')
      .map((line): { database?: string; diagnostics?: string[] } => JSON.parse(line).details ?? {});
    expect(said.find(({ database }) => database?.startsWith('postgres://'))).toBeDefined();
    expect(said.flatMap(({ diagnostics }) => (diagnostics ? [diagnostics] : []))).toEqual([[], [], [], []]);
  },
);

test('the demo refuses a database that it does not know', async () => {
  const refused = promisify(execFile)(process.execPath, [MAIN, '--database', 'oracle']);
  await expect(refused).rejects.toMatchObject({
    code: 2,
    stderr: '--database must be sqlite or postgres, not "oracle".\n',
  });
});
