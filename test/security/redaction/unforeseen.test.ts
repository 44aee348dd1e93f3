// @module-tag security
// @module-tag slow

import { inspect } from 'node:util';
import { expect, test } from 'vitest';
import { startApp } from '../../../src/app.ts';
import { WEBHOOK_PATH } from '../../../src/config/webhook-path.ts';
import type { Log } from '../../../src/core/log.ts';
import { start } from '../../scenario/support.ts';
import { REPO } from '../../support/harness.ts';
import { PLANTED } from './planted.ts';
import { UNCUT } from './search.ts';

test('an unexpected error is logged without the secrets in it', async () => {
  const { app: usual, config, github, clock } = await start();
  await usual.stop();
  const lines: string[] = [];
  const keep = (fields: object, message: string) => void lines.push(`${inspect(fields, UNCUT)} ${message}`);
  const log: Log = { debug: keep, info: keep, warn: keep, error: keep };
  const ids = {
    next(): never {
      throw new TypeError(`Witness: ${PLANTED.map(({ text }) => text).join('\n')}`);
    },
  };
  const app = await startApp(config, log, { intake: 'here', clock, ids, random: () => 0 });
  github.setWebhookUrl(`${app.url}${WEBHOOK_PATH}`);
  await github.openPullRequest({
    repo: REPO,
    author: 'ada',
    branch: 'any',
    title: 'Any',
    files: { 'a.txt': 'a\n' },
  });
  await app.queue.idle();
  await app.stop();

  const said = lines.join('\n');
  expect(said).toContain('Witness');
  expect(PLANTED.filter(({ needle }) => said.includes(needle)).map(({ kind }) => kind)).toEqual([]);
});
