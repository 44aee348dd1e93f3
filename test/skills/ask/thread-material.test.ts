// @module-tag slow

import { describe, expect, test } from 'vitest';
import { type AnalyzerPool, createAnalyzerPool } from '../../../src/analyzers/pool.ts';
import type { OwnThread } from '../../../src/ports/github.ts';
import { threadMaterial } from '../../../src/skills/ask/thread-material.ts';
import { fake } from '../../analyzers/support.ts';

const PASSWORD = fake('Tr0ub4', 'dor&3x');
const BODY = 'MIIEpAIBAAKCAQEA7bq9MIIEpAIBAAKCAQEA7bq9MIIEpAIBAAKCAQEA7bq9MIIE';
const KEY = fake('-----BEGIN RSA ', `PRIVATE KEY-----\n${BODY}\n${BODY}\n-----END RSA `, 'PRIVATE KEY-----');
const PATH = 'deploy/settings.yml';
const HEAD = 'a'.repeat(40);
const EARLIER = 'b'.repeat(40);

interface Case {
  /** The file by commit. */
  at?: Record<string, string>;
  hunk?: string;
  reply?: string;
  pool?: AnalyzerPool;
  line?: number;
}

/** What is shown of a question below a finding on a line of the file. */
function shown({ at = {}, hunk = '@@ -1 +1 @@\n+a: 1', reply = 'Why?', line = 1, pool }: Case) {
  const asked = { id: 2, login: 'mia', body: reply };
  const thread: OwnThread = {
    path: PATH,
    line,
    hunk,
    commitSha: EARLIER,
    comments: [{ id: 1, login: 'countersign[bot]', body: '<!-- marker -->\nThe finding.' }, asked],
  };
  return threadMaterial(
    {
      file: async (_, path, ref) => (ref in at ? { sha: ref, path, type: 'file', size: 1 } : undefined),
      blob: async (_, sha) => Buffer.from(at[sha] ?? ''),
    },
    { owner: 'octo', name: 'app' },
    { headSha: HEAD, thread, asked },
    { pool: pool ?? createAnalyzerPool({ spares: false }), signal: new AbortController().signal },
  );
}

describe('of a conversation below a finding, a model is shown', () => {
  test('the finding, the hunk, the code and the question', async () => {
    const text = 'a: 1\nb: 2\n';
    const material = await shown({ at: { [HEAD]: text, [EARLIER]: text } });
    expect(material?.values).toEqual({
      finding: 'The finding.',
      hunk: '@@ -1 +1 @@\n+a: 1',
      code: `${PATH}\n1: a: 1\n2: b: 2\n3: `,
      conversation: [],
      question: 'mia: Why?',
    });
  });

  test('no secret of the file, wherever it stands', async () => {
    const text = `password: ${PASSWORD}\n# ${PASSWORD} is for tests\n`;
    const material = await shown({
      at: { [HEAD]: text, [EARLIER]: text },
      hunk: `@@ -0,0 +1,2 @@\n+# ${PASSWORD} is for tests`,
      reply: `Is ${PASSWORD} still in use?`,
    });
    expect(material?.values.code).toContain('is for tests');
    expect(material?.values.hunk).toContain('is for tests');
    expect(JSON.stringify(material?.values)).not.toContain(PASSWORD);
    expect(material?.mask(`It is ${PASSWORD}.`)).not.toContain(PASSWORD);
  });

  test('no middle of a key that the head does not have any more', async () => {
    const material = await shown({
      at: { [HEAD]: 'a: 1\n', [EARLIER]: `a: 1\n${KEY}\n` },
      hunk: `@@ -10,0 +3,2 @@\n+${BODY}`,
    });
    expect(material?.values.hunk).toMatch(/^@@ -10,0 \+3,2 @@\n\+/);
    expect(material?.values.hunk).not.toContain(BODY.slice(8));
  });

  test('no code of a file in which a secret spans lines', async () => {
    const material = await shown({ at: { [HEAD]: `a: 1\n${KEY}\n`, [EARLIER]: 'a: 1\n' } });
    expect(material?.values.code).toBe(`${PATH}\n(not shown: a secret spans these lines)`);
  });

  test('no hunk of a commit that cannot be read', async () => {
    const material = await shown({ at: { [HEAD]: 'a: 1\n' } });
    expect(material?.values).toMatchObject({ hunk: '(not shown: it was not searched for secrets)' });
  });

  test('no code of a file that is no text', async () => {
    const material = await shown({ at: { [HEAD]: 'a: 1\0', [EARLIER]: 'a: 1\n' } });
    expect(material?.values.code).toBe(`${PATH}\n(not shown: it was not searched for secrets)`);
  });

  test('nothing if the search for secrets fails', async () => {
    const pool: AnalyzerPool = {
      run: async ({ jobs }) =>
        jobs.map(({ analyzer }) => ({
          analyzer,
          status: 'crashed',
          message: 'out of memory',
          durationMs: 1,
        })),
      stop: async () => {},
    };
    expect(await shown({ at: { [HEAD]: 'a: 1\n', [EARLIER]: 'a: 1\n' }, pool })).toBeUndefined();
  });
});
