// @module-tag security
// @module-tag slow

import { expect, test } from 'vitest';
import { countersign, MERGE_ONLY, open } from '../../scenario/support.ts';
import { recordedApp, visibleSecrets } from './search.ts';

test('when a merge is refused, the stored refusal has no own secret that GitHub echoes', async () => {
  const harness = await recordedApp({ chain: MERGE_ONLY });
  const { github, config } = harness;
  const { number } = await open(harness);
  const secrets = [config.webhookSecret, ...harness.credentials];
  const message = `Witness: ${secrets.join(' ')}`;
  github.fail(({ path }) => path.endsWith('/merge'), { status: 403, body: { message } });
  await countersign(harness, number);

  const places = await harness.cameOut();
  expect(places.get('table effects')).toContain('Witness');
  expect(visibleSecrets(places, secrets)).toEqual([]);
});
