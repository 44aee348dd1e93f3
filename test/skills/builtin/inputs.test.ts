import { expect, test } from 'vitest';
import { ci } from '../../../src/skills/builtin/ci/ci.ts';
import { prReview } from '../../../src/skills/builtin/review/pr-review.ts';
import { stalePullRequests } from '../../../src/skills/builtin/stale/stale-pull-requests.ts';
import { stepContext } from '../../support/step-context.ts';

const HANDLERS = {
  'pr-review': prReview({ model: undefined }),
  ci,
  'stale-pull-requests': stalePullRequests,
};

// The context fails every read, so a step that read anything before it checked its inputs would fail the test.
test.each([
  ['pr-review', 'effort: most', 'its input "effort" is one of "low", "medium" and "high"'],
  ['pr-review', 'model: "no"', 'its input "model" is true or false'],
  [
    'ci',
    'scope: required',
    'its input "scope" can only be "full": every check counts, and settings say which ones to ignore',
  ],
  ['stale-pull-requests', 'days: 0', 'its input "days" is a number of days from 1 to 3650'],
  ['stale-pull-requests', 'drafts: some', 'its input "drafts" is true or false'],
  [
    'stale-pull-requests',
    'except_labels: wip',
    'its input "except_labels" is a list of at most 20 names of labels',
  ],
] as const)(
  'a step %s with { %s } fails, and says which values are allowed',
  async (name, input, summary) => {
    const context = stepContext(`skill: ${name}, with: { ${input} }`);
    expect(await HANDLERS[name].run(context)).toMatchObject({
      kind: 'failed',
      retryable: false,
      reason: { code: 'step.failed.invalid_input', summary },
    });
  },
);
