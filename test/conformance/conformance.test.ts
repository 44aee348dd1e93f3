import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { Assertion } from './assertion.ts';
import { api } from './assertions/api.ts';
import { checks } from './assertions/checks.ts';
import { contents } from './assertions/contents.ts';
import { conversation } from './assertions/conversation.ts';
import { pulls } from './assertions/pulls.ts';
import { requiredChecks } from './assertions/required-checks.ts';
import { writes } from './assertions/writes.ts';
import { Scratch } from './scratch.ts';
import { readSettings } from './settings.ts';
import { Unavailable } from './target.ts';
import { leftoversOf, type Opened, openReal, openStandIn } from './targets.ts';

const ALL: readonly Assertion[] = [
  ...pulls,
  ...conversation,
  ...contents,
  ...checks,
  ...requiredChecks,
  ...writes,
  ...api,
];

/** GitHub is slow, and gets many requests. */
const REAL_TIMEOUT_MS = 180_000;

function conformance(name: string, open: () => Promise<Opened>, timeout?: number): void {
  describe(`${name} does what this app relies on:`, () => {
    let opened: Opened | undefined;
    let scratch: Scratch;

    beforeAll(async () => {
      opened = await open();
      scratch = new Scratch(opened.target);
    }, timeout);

    // Whatever the result of the assertions, the suite removes what they created and verifies that it is gone.
    afterAll(async () => {
      if (!opened) return;
      const { target, close } = opened;
      try {
        expect(await scratch.leave(), 'what could not be taken away').toEqual([]);
        await scratch.eventually(async () => expect(await leftoversOf(target)).toEqual([]));
      } finally {
        await close();
      }
    }, timeout);

    for (const assertion of ALL)
      it(assertion.claim, { ...(timeout === undefined ? {} : { timeout }) }, async ({ skip }) => {
        if (!opened) throw new Error('There is nothing to ask.');
        try {
          await assertion.check({ ...opened.target, scratch });
        } catch (error) {
          // The stand-in allows everything.
          if (!(error instanceof Unavailable) || timeout === undefined) throw error;
          skip(error.message);
        }
      });
  });
}

conformance('the stand-in', openStandIn);

const settings = readSettings(process.env);
if (settings) conformance(`${settings.owner}/${settings.repo}`, () => openReal(settings), REAL_TIMEOUT_MS);

it('every assertion has its own sentence', () => {
  const sentences = ALL.map(({ claim }) => claim);
  expect(new Set(sentences).size).toBe(sentences.length);
});
