// @module-tag security
// @module-tag slow

import { expect, test } from 'vitest';
import { A_RECHECK, CI_AND_MERGE, open } from '../../scenario/support.ts';
import { REPO } from '../../support/harness.ts';
import { type RecordedApp, recordedApp, visibleSecrets } from './search.ts';
import { LONG } from './seed.ts';

/** Everything that the app must not show of itself, in the forms in which a server could return it. */
function ownSecrets({ config, credentials }: RecordedApp): { text: string; needles: string[] } {
  const keyLines = config.privateKey
    .split('\n')
    .filter((line) => line.length > 32 && !line.startsWith('-----'));
  const secrets = [config.webhookSecret, ...credentials];
  const basic = Buffer.from(`x-access-token:${secrets.at(-1)}`).toString('base64');
  const text = [
    ...secrets.map((secret) => `Authorization: token ${secret}`),
    `Basic ${basic}`,
    ...keyLines,
    encodeURIComponent(config.webhookSecret),
  ].join(' ');
  return { text, needles: [...secrets, basic, ...keyLines] };
}

const FAILING = {
  'writing is refused': { matches: /\/check-runs|\/comments$/, status: 422 },
  'reading is refused': { matches: /\/files|\/commits\/[^/]+\/(?:check-runs|status)/, status: 403 },
  'what is asked for is not there': { matches: /\/pulls\/\d+$/, status: 404 },
  'GitHub is in trouble': { matches: /\/files|\/check-runs/, status: 502 },
  'signing in is refused': { matches: /access_tokens$/, status: 401 },
} as const;

/** Two of them in the quick form: where most of GitHub's text is shown, and where the credential is another one. */
const cases = Object.entries(FAILING).filter(([name]) => LONG || /writing|signing/.test(name));

test.each(cases)(
  'when %s, nothing shows the app’s own secrets that GitHub echoes',
  async (_, { matches, status }) => {
    const harness = await recordedApp({ chain: CI_AND_MERGE });
    const { github } = harness;
    await open(harness);
    await harness.advance(A_RECHECK);
    const { text, needles } = ownSecrets(harness);
    expect(harness.credentials.size).toBeGreaterThan(0);
    const answers = [
      { message: `Witness: ${text}` },
      text,
      { message: text, errors: [{ message: text }], documentation_url: text },
    ];
    for (const [index, body] of answers.entries()) {
      const isLast = index === answers.length - 1;
      github.fail(({ path }) => matches.test(path.split('?')[0] ?? ''), { status, body }, isLast ? 1_000 : 2);
    }
    if (status === 401) await harness.restart();
    await open(harness, { branch: 'other', title: 'Another' });
    await github.comment(REPO, 1, 'mia', '/countersign why');
    await harness.advance(LONG ? 120_000 : 8_000);

    const places = await harness.cameOut();
    expect([...places.values()].join('\n')).toMatch(new RegExp(`GitHub answered ${status}`));
    expect(visibleSecrets(places, needles)).toEqual([]);
  },
);
