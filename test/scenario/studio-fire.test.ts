import { describe, expect, test } from 'vitest';
import { type Browser, openBrowser, post, signedIn, WITH_SIGN_IN } from '../support/browser.ts';
import { eachFirstQuick } from '../support/each-first-quick.ts';
import { type Harness, REPO } from '../support/harness.ts';
import { textOf } from '../support/studio.ts';
import { open, start } from './support.ts';

const FIRED = '/chains/fired';

const DEPLOY = `name: deploy
trigger: { event: manual.fired }
inputs:
  environment: { required: true, choices: [staging, production], description: Where to. }
  replicas: { type: number, default: 2 }
  note: {}
  loud: { type: boolean }
steps:
  - skill: ci
  - action: gh-comment
    condition: "{{ trigger.pr_number is not none and inputs.loud }}"
    with: { body: "Deploying to {{ inputs.environment }} with {{ inputs.replicas }}: {{ inputs.note | default('') }}" }
`;
const GREET = `name: greet
trigger: { event: manual.fired }
inputs: { note: { required: true } }
steps:
  - id: say
    action: gh-comment
    with: { pr: "{{ trigger.pr_number }}", body: "Note: {{ inputs.note }}" }
`;

/** Chains that have run once, so that Studio knows them. */
async function scene() {
  const harness = await start({
    studio: WITH_SIGN_IN,
    settings: 'chains: [deploy, greet]\n',
    files: {
      '.github/countersign/chains/deploy.yaml': DEPLOY,
      '.github/countersign/chains/greet.yaml': GREET,
    },
  });
  const { number } = await open(harness);
  await harness.settle();
  await harness.github.comment(REPO, number, 'mia', '/countersign fire deploy environment=staging');
  await harness.github.comment(REPO, number, 'mia', '/countersign fire greet note=first');
  await harness.advance(10_000);
  return { harness, number, on: `${REPO}#${number}` };
}

/** What the form says, by field. */
function wrongIn(html: string): Record<string, string> {
  return Object.fromEntries(
    [...html.matchAll(/id="([\w.]+)-wrong"[^>]*>(.*?)</g)].map(([, name = '', text = '']) => [name, text]),
  );
}

async function fire(browser: Browser, fields: Record<string, string>) {
  const answer = await post(browser, FIRED, fields);
  return { status: answer.status, to: answer.headers.get('location') ?? '', html: await answer.text() };
}

const runsOf = ({ app }: Harness, chain: string) => app.storage.read.runs.list({ chain });

describe('a chain that people fire', () => {
  test('has a form with its typed inputs, which leads to the run', { tags: 'slow' }, async () => {
    const { harness, number, on } = await scene();
    const browser = await signedIn(harness, 'mia');
    const page = (await browser.open('/chains/deploy')).text;
    expect(page).toMatch(/<select id="input.environment"[^>]*>\s*<option value="" selected>Choose …/);
    expect(page).toMatch(/<input id="input.replicas"[^>]* value="2"/);
    expect(page).toMatch(/<select id="input.loud"[^>]*>\s*<option value="" selected>none/);
    expect(textOf(page)).toContain('Where to. · one of staging, production; required');
    const { status, to } = await fire(browser, {
      chain: 'deploy',
      on,
      'input.environment': 'production',
      'input.replicas': '3',
      'input.note': 'say "hi" \\ now',
    });
    expect([status, to]).toEqual([303, expect.stringMatching(/^\/chains\/fired\/run_\w+$/)]);
    expect(textOf((await browser.open(to)).text)).toContain('Countersign reads your role and the chain.');
    await harness.advance(10_000);
    const id = to.split('/').at(-1);
    const run = await browser.open(to);
    expect(run.url).toBe(`${harness.app.url}/runs/${id}?asked=${id}`);
    expect(textOf(run.text)).toContain('Fired deploy.');
    expect(await harness.app.storage.read.runs.get(id ?? '')).toMatchObject({
      chain: 'deploy',
      pullRequest: number,
      event: { kind: 'manual.fired', actor: 'mia' },
      facts: { inputs: { environment: 'production', replicas: 3, note: 'say "hi" \\ now' } },
    });
    const audit = await harness.app.storage.read.audit.page({ after: 0, limit: 100 });
    expect(audit.findLast(({ kind }) => kind === 'command.carried_out')?.entry).toMatchObject({
      verb: 'fire',
      via: { kind: 'studio' },
      by: { kind: 'person', login: 'mia' },
    });
  });

  test('runs without a pull request where it needs none', { tags: 'slow' }, async () => {
    const { harness } = await scene();
    const browser = await signedIn(harness, 'mia');
    const { to } = await fire(browser, { chain: 'deploy', on: REPO, 'input.environment': 'staging' });
    await harness.advance(10_000);
    const id = to.split('/').at(-1) ?? '';
    expect(await harness.app.storage.read.runs.get(id)).toMatchObject({
      chain: 'deploy',
      pullRequest: null,
      event: { actor: 'mia' },
      facts: { inputs: { environment: 'staging', replicas: 2 } },
    });
    expect((await browser.open(to)).url).toContain(`/runs/${id}`);
    const audit = await harness.app.storage.read.audit.page({ after: 0, limit: 100 });
    expect(audit.findLast(({ kind }) => kind === 'command.carried_out')?.entry).toMatchObject({
      verb: 'fire',
      via: { kind: 'studio' },
      run_id: id,
    });
  });

  eachFirstQuick([`${REPO}#1`, REPO])('is fired by maintainers only, as by the command: %s', async (on) => {
    const { harness } = await scene();
    const before = (await runsOf(harness, 'deploy')).length;
    const browser = await signedIn(harness, 'will');
    const { to } = await fire(browser, { chain: 'deploy', on, 'input.environment': 'staging' });
    await harness.advance(10_000);
    const page = await browser.open(to);
    expect([page.url, textOf(page.text)]).toEqual([
      `${harness.app.url}${to}`,
      expect.stringMatching(/maintain/),
    ]);
    expect(await runsOf(harness, 'deploy')).toHaveLength(before);
  });

  test('says at each field what is allowed, and keeps what was given', { tags: 'slow' }, async () => {
    const { harness, on } = await scene();
    const browser = await signedIn(harness, 'mia');
    const bad = await fire(browser, {
      chain: 'deploy',
      on: 'nonsense',
      'input.environment': 'moon',
      'input.replicas': 'two',
      'input.note': 'a “quoted” word',
      'input.loud': 'maybe',
    });
    expect([bad.status, wrongIn(bad.html)]).toEqual([
      422,
      {
        on: expect.stringContaining('owner/name#12'),
        'input.environment': 'Give one of staging, production.',
        'input.replicas': 'Give a number.',
        'input.note': 'Use straight quotes, as in a comment.',
        'input.loud': 'Give true or false.',
      },
    ]);
    expect(bad.html).toMatch(/id="input.replicas"[^>]* value="two"/);
    const key = ['AKIA', 'Z7QX', 'M3PL', 'D5RT', 'W2KV'].join('');
    const secret = await fire(browser, { chain: 'deploy', on, 'input.note': key });
    expect(wrongIn(secret.html)).toMatchObject({
      'input.environment': 'This is required.',
      'input.note': expect.stringContaining('looks like a secret'),
    });
    expect(secret.html).not.toContain(key);
    const without = await fire(browser, { chain: 'greet', on: REPO, 'input.note': 'x' });
    expect(wrongIn(without.html)).toEqual({
      on: 'Name a pull request: the step &quot;say&quot; cannot run: gh-comment needs a pull request or an issue.',
    });
    expect(
      wrongIn((await fire(browser, { chain: 'greet', on: `${REPO}#999`, 'input.note': 'x' })).html),
    ).toEqual({
      on: 'Countersign has not seen pull request 999 there.',
    });
  });

  test('takes no second line in an input, and nothing invisible', { tags: 'slow' }, async () => {
    const { harness, on } = await scene();
    const browser = await signedIn(harness, 'mia');
    for (const end of ['\n', '\r', '\u2028', '\u0085', '\t', '\u0000', '\u200b', '\u202e']) {
      const note = `x${end}/countersign cancel`;
      const { status, html } = await fire(browser, { chain: 'greet', on, 'input.note': note });
      expect([note, status, wrongIn(html)['input.note']]).toEqual([
        note,
        422,
        expect.stringContaining('one line of text'),
      ]);
    }
  });

  test('tells who asked, and only them, why it does not begin after all', { tags: 'slow' }, async () => {
    const { harness, number, on } = await scene();
    const browser = await signedIn(harness, 'mia');
    const fields = { chain: 'deploy', on, 'input.environment': 'staging' };
    const before = harness.github.comments(REPO, number).length;
    // Between the command and the beginning of its run.
    const change = { repo: REPO, branch: 'greet', author: 'ada', files: { 'src/greet.ts': '2' } };
    const pushed = Promise.withResolvers<void>();
    let reads = 0;
    harness.github.fail(
      ({ path }) => {
        if (path !== `/repos/${REPO}/pulls/${number}`) return false;
        reads += 1;
        if (reads === 2) void harness.github.push(change).then(() => pushed.resolve());
        return reads === 2;
      },
      { until: pushed.promise },
    );
    const first = await fire(browser, fields);
    await harness.settle();
    const page = textOf((await browser.open(first.to)).text);
    expect(page).toMatch(/Fired by hand deploy did not start, b/);
    expect(harness.github.comments(REPO, number)).toHaveLength(before);
    const max = await signedIn(harness, 'max');
    expect((await max.open(first.to)).status).toBe(404);
    expect((await max.request(`${first.to}/events`)).status).toBe(404);
    expect((await openBrowser(harness).open(first.to)).status).toBe(401);

    await harness.github.closePullRequest(REPO, number, 'ada');
    const closed = await fire(browser, fields);
    await harness.settle();
    expect(textOf((await browser.open(closed.to)).text)).toContain('closed');
  });

  test('is not fired without a form of the person, for a hidden repository, or if nobody fires it', {
    tags: 'slow',
  }, async () => {
    const { harness, on } = await scene();
    const browser = await signedIn(harness, 'mia');
    const fields = { chain: 'deploy', on, 'input.environment': 'staging' };
    expect((await fire(browser, { ...fields, csrf: 'other' })).status).toBe(403);
    expect((await fire(browser, { ...fields, chain: 'pr-review' })).status).toBe(404);
    harness.github.setPrivate(REPO, true);
    const otto = await signedIn(harness, 'otto');
    expect((await fire(otto, fields)).status).toBe(404);
  });
});
