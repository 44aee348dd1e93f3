import { html } from 'hono/html';
import { expect, test } from 'vitest';
import type { ChainInputs } from '../../../src/domain/chain/chain-inputs.ts';
import { criterion } from '../../../src/domain/explanation/explanation.ts';
import { chainForm, dryRunRefused, firedPage, WRONG_INPUT } from '../../../src/messages/studio/chain-form.ts';
import { type DryRunView, dryRunPage } from '../../../src/messages/studio/dry-run.ts';
import type { Html } from '../../../src/messages/studio/layout.ts';
import type { DryRunFailure, ShownStep } from '../../../src/ports/dry-runs.ts';

const HOSTILE = '<img src=x onerror=alert(1)> \u202e';

const STEPS: ShownStep[] = [
  {
    id: 'review',
    depth: 0,
    mark: '✅',
    words: 'done',
    state: 'completed',
    reason: 'No findings.',
    dependsOn: [],
  },
  {
    id: 'sub',
    depth: 0,
    mark: '❌',
    words: 'not passed',
    state: 'undone',
    reason: HOSTILE,
    dependsOn: ['review'],
  },
  { id: 'say', depth: 1, mark: '⏭️', words: 'skipped', state: 'skipped', reason: null, dependsOn: [] },
];

const view: DryRunView = {
  id: 'id',
  chain: 'deploy',
  isPasted: false,
  repository: 'acme/shop',
  pullRequest: 12,
  steps: STEPS.slice(0, 1),
  end: null,
};
const page = (more: Partial<DryRunView>) =>
  dryRunPage({ ...view, ...more }, { githubUrl: 'https://github.com', csrf: 'csrf' });
const failed = (because: DryRunFailure) => page({ steps: [], end: { kind: 'failed', because } });

const FAILURES: DryRunFailure[] = [
  'hidden',
  'token_refused',
  'rate_limited',
  'github_refuses',
  'no_answer',
  'timed_out',
  'too_much_memory',
  'stopped',
  'lost',
  'broken',
];

const inputs: ChainInputs = {
  environment: { required: true, choices: ['staging', 'production'], description: HOSTILE },
  replicas: { type: 'number', default: 2 },
  note: {},
  loud: { type: 'boolean' },
};

const PAGES: Record<string, Html> = {
  'dry run that is under way': page({}),
  'dry run that has ended': page({
    isPasted: true,
    end: {
      kind: 'done',
      shown: {
        pullRequest: { title: HOSTILE, headSha: 'a'.repeat(40), baseRef: HOSTILE },
        notes: ['It is merged, and is judged as if it were open, with today’s checks.'],
        result: 'asked',
        because: `not merging yet: ${HOSTILE}`,
        steps: STEPS,
        moreSteps: 3,
        courses: [
          {
            path: [],
            chain: 'deploy',
            why: criterion('pending', 'merge waits for a countersign', [criterion('met', HOSTILE)]),
            writes: [
              { head: `Comment on #12 ${HOSTILE}`, body: `### Approve this merge?\n${HOSTILE}`, parts: [] },
              {
                head: 'Review of #12',
                body: null,
                parts: [{ line: 'at src/a.ts:2', body: HOSTILE }],
              },
            ],
            moreWrites: 1,
          },
          { path: ['sub'], chain: 'other', why: criterion('met', 'done'), writes: [], moreWrites: 0 },
        ],
        whyNot: null,
      },
    },
  }),
  'dry run that began no run': page({
    pullRequest: null,
    end: {
      kind: 'done',
      shown: {
        pullRequest: null,
        notes: [],
        result: 'not_run',
        because: 'the base is "main", and not "release"',
        steps: [],
        moreSteps: 0,
        courses: [],
        whyNot: criterion('unmet', 'deploy is not for it: the base is "main", and not "release"'),
      },
    },
  }),
  'dry runs without a result': html`${FAILURES.map(failed)}`,
  'dry runs that do not begin': html`${dryRunRefused('own', 'id')}${dryRunRefused('busy', undefined)}${dryRunRefused('too_often', undefined)}`,
  'form of a chain that people fire': chainForm('deploy', 'csrf', {
    given: { on: { value: 'acme/shop#12' }, inputs: {} },
    inputs,
    fires: true,
  }),
  'form with what is wrong': chainForm('deploy', 'csrf', {
    given: {
      on: { value: '"><img src=x>', wrong: 'Write a pull request as owner/name#12.' },
      inputs: {
        environment: { value: '', wrong: WRONG_INPUT.missing },
        replicas: { value: '"><img src=x>', wrong: WRONG_INPUT.not('a number') },
        note: { value: '', wrong: WRONG_INPUT.secret },
        loud: { value: 'true', wrong: WRONG_INPUT.quotes },
      },
    },
    inputs,
    fires: true,
  }),
  'form of a chain that nobody fires': chainForm('pr-review', 'csrf', {
    given: { on: { value: '' }, inputs: {} },
    inputs: {},
    fires: false,
  }),
  'chain that somebody fired': html`${firedPage('run_1', null, false)}
${firedPage('run_1', { ok: true, text: 'Fired.' }, false)}
${firedPage('run_1', { ok: false, text: `\`deploy\` is not fired: ${HOSTILE}` }, false)}
${firedPage('run_1', { ok: true, text: 'Fired.' }, true)}`,
};

test.each(Object.entries(PAGES))(
  'what people see of chains in Studio is unchanged: %s',
  async (name, shown) => {
    const text = String(await shown);
    expect(text).not.toContain('<img');
    expect(text).not.toContain('\u202e');
    await expect(text).toMatchFileSnapshot(`snapshots/page-${name.replaceAll(/[^A-Za-z]+/g, '-')}.txt`);
  },
);
