import { createHash } from 'node:crypto';
import { type Browser, signedIn, WITH_SIGN_IN } from '../browser.ts';
import { type Harness, startHarness } from '../harness.ts';
import { type HostilePlace, storeEverywhere } from './world.ts';

/** An app with Studio, and an operator who is signed in and sees what is stored. */
export interface WithHostileTexts {
  harness: Harness;
  browser: Browser;
  /** Stores the text at a place of its own. */
  store(text: string): Promise<HostilePlace>;
}

export async function startWithHostileTexts(): Promise<WithHostileTexts> {
  const harness = await startHarness({ studio: { ...WITH_SIGN_IN, operators: ['mia'] } });
  await harness.github.openPullRequest({
    repo: 'octo/app',
    author: 'ada',
    branch: 'two',
    title: 'Two',
    files: { 'src/two.ts': 'export const two = 2;\n' },
  });
  await harness.settle();
  const browser = await signedIn(harness, 'mia');
  const { read } = harness.app.storage;
  const [run] = await read.runs.list({ limit: 1 });
  const hash = createHash('sha256')
    .update(browser.cookies.get('countersign') ?? '')
    .digest('hex');
  const session = await read.studioSessions.find(hash, harness.clock.now());
  if (!run || !session) throw new Error('there is no run, or nobody is signed in');
  const { repositoryId: id, installationId } = run;
  const { personId } = session;
  let places = 0;
  return {
    harness,
    browser,
    store: (text) => storeEverywhere(harness, { id, installationId, personId }, text, ++places),
  };
}
