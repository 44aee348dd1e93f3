// @module-tag security
// @module-tag slow

import { afterEach, beforeEach, expect, test } from 'vitest';
import { DEFAULT_BUDGETS } from '../../../src/domain/model/budget.ts';
import { FAULT, filesOf, INJECTIONS, obey } from '../../security/injection/corpus.ts';
import { recordedApp, visibleSecrets } from '../../security/redaction/search.ts';
import { REPO } from '../../support/harness.ts';
import { type StubModel, startStubModel } from '../../support/model/stub.ts';
import { A_RECHECK, approvals, checkLines, countersign } from '../support.ts';

const LONG = process.env.COUNTERSIGN_LONG === '1';
/** One of each way in; the others differ only in wording, which `reviewer.test.ts` covers. */
const QUICK = new Set([
  'a plain order in the title',
  'an order to merge with a tool',
  'an order to tell what it knows',
  'settings of its own',
]);
/** So few at a time that GitHub's limit for writes does not delay them. */
const CHOSEN = LONG
  ? Array.from({ length: Math.ceil(INJECTIONS.length / 6) }, (_, n) => INJECTIONS.slice(6 * n, 6 * n + 6))
  : [INJECTIONS.filter(({ name }) => QUICK.has(name))];
const KEY = 'model-key-Zq81Lw0vT7rX';

const REVIEW_AND_MERGE = `name: pr-review
trigger: { event: pr.opened, filter: { draft: false } }
steps:
  - { id: review, skill: pr-review }
  - id: merge
    action: gh-merge
    condition: "{{ steps.review.outcome.passed }}"
    requires_approval: true
    with: { pr: "{{ trigger.pr_number }}" }
`;

let stub: StubModel;
beforeEach(async () => {
  stub = await startStubModel();
});
afterEach(() => stub.stop());

test.each(CHOSEN.map((chosen) => ({ count: chosen.length, chosen })))(
  '$count pull requests that a model obeys merge nothing, call nothing and learn nothing',
  async ({ chosen }) => {
    stub.answers(({ body }) => {
      const told = obey(body.messages?.map(({ content }) => content).join('\n') ?? '');
      if (told.kind === 'tool') return { tool: { name: told.name, args: '{}' } };
      return { text: told.kind === 'text' ? told.text : '{"findings":[]}' };
    });
    const harness = await recordedApp({
      chain: REVIEW_AND_MERGE,
      model: {
        name: { provider: 'openai-compatible', model: 'stub-1' },
        apiKey: KEY,
        baseUrl: `${stub.url}/v1`,
        price: undefined,
        budgets: DEFAULT_BUDGETS,
      },
    });
    const { github, config } = harness;
    const openOne = (branch: string, files: Record<string, string>, title = 'Run it', body = '') =>
      github.openPullRequest({ repo: REPO, author: 'ada', branch, title, body, files });

    const faulty = [];
    for (const [n, one] of chosen.entries()) {
      faulty.push(await openOne(`faulty-${n}`, filesOf(one), one.title, one.body));
    }
    const order = INJECTIONS[0]?.title;
    const harmless = await openOne('harmless', { 'src/run.ts': FAULT.replace('eval(code)', 'code') }, order);
    await harness.advance(A_RECHECK);

    expect(stub.asked.length).toBeGreaterThanOrEqual(chosen.length);
    expect(stub.asked.filter(({ body }) => body.tools !== undefined)).toEqual([]);
    for (const { number, headSha } of faulty) {
      const verdicts = checkLines(harness, headSha);
      expect(verdicts).toContainEqual(expect.stringContaining('failure: Changes requested: 1 high'));
      expect(verdicts.filter((verdict) => !verdict.startsWith('failure:'))).toEqual([]);
      expect(approvals(harness, number)).toEqual([]);
    }
    // The model said that nothing is wrong, as instructed. That leads to an approval comment, and to no more.
    expect(approvals(harness, harmless.number)).toHaveLength(1);
    expect(github.merges).toEqual([]);

    const secrets = [config.privateKey.slice(60, 160), config.webhookSecret, KEY, ...harness.credentials];
    expect(harness.credentials.size).toBeGreaterThan(0);
    const heard = new Map([['the model', stub.asked.map(({ text }) => text).join('\n')]]);
    expect(visibleSecrets(heard, secrets)).toEqual([]);
    expect(visibleSecrets(await harness.cameOut(), secrets)).toEqual([]);

    await countersign(harness, harmless.number);
    expect(github.merges).toMatchObject([{ headSha: harmless.headSha }]);
  },
);
