// @module-tag slow
import { describe, expect, test } from 'vitest';
import { openBrowser, post, said, signedIn, WITH_SIGN_IN } from '../support/browser.ts';
import { REPO } from '../support/harness.ts';
import { MERGE_ONLY, open, pushAgain, start } from './support.ts';

const studio = WITH_SIGN_IN;

/** An open question about a merge. */
async function asked(more: Parameters<typeof start>[0] = {}) {
  const harness = await start({ chain: MERGE_ONLY, studio, ...more });
  const { number, headSha } = await open(harness);
  await harness.advance(10_000);
  const [run] = await harness.app.storage.read.runs.list({ pullRequest: number });
  if (!run) throw new Error('no run began');
  const [approval] = await harness.app.storage.read.approvals.ofRun(run.id);
  if (!approval) throw new Error('nothing was asked');
  return { harness, number, headSha, run, approval };
}

type Asked = Awaited<ReturnType<typeof asked>>;

const command = ({ run, number, headSha }: Asked, fields: Record<string, string>) => ({
  repository: String(run.repositoryId),
  pull: String(number),
  head: headSha,
  to: '/runs',
  ...fields,
});

describe('countersigning in Studio', () => {
  test('is the person’s own reaction, and leads to the merge', async () => {
    const { harness, number, run, approval } = await asked();
    const browser = await signedIn(harness, 'mia');
    const answer = await post(browser, '/answers', {
      run: run.id,
      approval: approval.id,
      says: 'approve',
      to: '/runs?chain=pr-review',
    });
    expect([answer.status, answer.headers.get('location')]).toEqual([
      303,
      expect.stringMatching(/^\/runs\?chain=pr-review&asked=[\w-]{16}$/),
    ]);
    expect(await said(browser, answer)).toContain('The approval comment has a reaction of mia now.');
    await harness.advance(10_000);
    expect(harness.github.merges).toMatchObject([{ number }]);
    const audit = await harness.app.storage.read.audit.page({ after: 0, limit: 50 });
    expect(audit.find(({ kind }) => kind === 'question.countersigned')?.entry).toMatchObject({
      people: ['mia'],
    });
  });

  test('does for somebody without rights what a reaction does: nothing', async () => {
    const { harness, run, approval } = await asked();
    const browser = await signedIn(harness, 'will');
    const answer = await post(browser, '/answers', { run: run.id, approval: approval.id, says: 'approve' });
    expect(await said(browser, answer)).toContain('The approval comment has a reaction of will now.');
    await harness.advance(60_000);
    expect(harness.github.merges).toEqual([]);
    expect((await harness.app.storage.read.approvals.ofRun(run.id))[0]).toMatchObject({
      status: 'open',
      countersignedBy: [],
    });
  });

  test('rejects with the rejecting reaction', async () => {
    const { harness, run, approval } = await asked();
    const browser = await signedIn(harness, 'mia');
    await post(browser, '/answers', { run: run.id, approval: approval.id, says: 'reject' });
    await harness.advance(10_000);
    expect((await harness.app.storage.read.approvals.ofRun(run.id))[0]).toMatchObject({
      status: 'rejected',
      rejectedBy: [{ login: 'mia' }],
    });
    expect(harness.github.merges).toEqual([]);
  });

  test('is about the question that the page showed, and not about a later one', async () => {
    const { harness, run, approval } = await asked();
    const browser = await signedIn(harness, 'mia');
    await pushAgain(harness);
    await harness.advance(10_000);
    const answer = await post(browser, '/answers', { run: run.id, approval: approval.id, says: 'approve' });
    expect(await said(browser, answer)).toContain('no longer open');
    await harness.advance(60_000);
    expect(harness.github.merges).toEqual([]);
  });

  test('says what GitHub said when it refuses the reaction', async () => {
    const { harness, run, approval } = await asked();
    const browser = await signedIn(harness, 'mia');
    harness.github.fail(({ method, path }) => method === 'POST' && path.endsWith('/reactions'), {
      status: 403,
      body: { message: 'Resource <b>not</b> accessible' },
    });
    const answer = await post(browser, '/answers', { run: run.id, approval: approval.id, says: 'approve' });
    expect(await said(browser, answer)).toBe(
      'GitHub did not accept your reaction: Resource &lt;b&gt;not&lt;/b&gt; accessible',
    );
  });
});

describe('the page of a pull request', () => {
  test('has forms that work without JavaScript, and leads back to itself', async () => {
    const { harness, number } = await asked();
    const browser = await signedIn(harness, 'mia');
    const path = `/${REPO}/pull/${number}`;
    const paused = await browser.send(await browser.open(path), '/commands', { verb: 'pause' });
    expect([paused.status, new URL(paused.url).pathname]).toEqual([200, path]);
    await harness.settle();
    await browser.send(await browser.open(path), '/commands', { verb: 'resume' });
    await harness.settle();
    const answered = await browser.send(await browser.open(path), '/answers', { says: 'approve' });
    expect([new URL(answered.url).pathname, answered.text.includes('a reaction of mia now')]).toEqual([
      path,
      true,
    ]);
    await harness.advance(10_000);
    expect(harness.github.merges).toMatchObject([{ number }]);
  });

  test('has no buttons for somebody who did not sign in', async () => {
    const { harness, number } = await asked({ studio: { ...studio, isPublic: true } });
    const page = await openBrowser(harness).open(`/${REPO}/pull/${number}`);
    expect([page.status, /<form[^>]*method="post"/.test(page.text)]).toEqual([200, false]);
  });
});

describe('a button', () => {
  test('does what the command does, is recorded, and says what became of it', async () => {
    const scene = await asked();
    const { harness, run } = scene;
    const browser = await signedIn(harness, 'mia');
    const answer = await post(browser, '/commands', command(scene, { verb: 'pause' }));
    expect(await said(browser, answer)).toContain('Countersign is at work on what you asked for.');
    await harness.settle();
    expect(await said(browser, answer)).toMatch(/^Paused/);
    expect((await harness.app.storage.read.runs.get(run.id))?.paused).toBe(true);
    const audit = await harness.app.storage.read.audit.page({ after: 0, limit: 50 });
    expect(audit.find(({ kind }) => kind === 'command.carried_out')?.entry).toMatchObject({
      verb: 'pause',
      via: { kind: 'studio' },
      by: { kind: 'person', login: 'mia' },
    });
    const resumed = await post(browser, '/commands', command(scene, { verb: 'resume' }));
    await harness.settle();
    expect(await said(browser, resumed)).toBe('Going on.');
  });

  test('is refused with the reason to somebody who may not', async () => {
    const scene = await asked();
    const { harness, run } = scene;
    const browser = await signedIn(harness, 'will');
    const answer = await post(browser, '/commands', command(scene, { verb: 'pause' }));
    await harness.settle();
    expect(await said(browser, answer)).toMatch(/maintain/);
    expect((await harness.app.storage.read.runs.get(run.id))?.paused).toBe(false);
  });

  test('for an earlier head does nothing', async () => {
    const scene = await asked();
    const { harness } = scene;
    const browser = await signedIn(harness, 'mia');
    await pushAgain(harness);
    await harness.advance(10_000);
    const answer = await post(browser, '/commands', command(scene, { verb: 'cancel' }));
    await harness.settle();
    expect(await said(browser, answer)).toContain(scene.headSha.slice(0, 7));
    expect(
      await harness.app.storage.read.runs.list({ pullRequest: scene.number, active: true }),
    ).toHaveLength(1);
  });

  test('takes no other command than the page could have sent', async () => {
    const scene = await asked();
    const { harness } = scene;
    const browser = await signedIn(harness, 'mia');
    const statuses: number[] = [];
    const forms: Record<string, string>[] = [
      { verb: 'approve' },
      { verb: 'ask' },
      { verb: 'rerun', step: 'x\n/countersign cancel' },
      { verb: 'fire', chain: 'pr-review', inputs: 'a=1\n/countersign cancel' },
      { verb: 'pause', head: 'main' },
      { verb: 'pause', pull: '999' },
    ];
    for (const fields of forms)
      statuses.push((await post(browser, '/commands', command(scene, fields))).status);
    expect(statuses).toEqual([404, 404, 404, 404, 404, 404]);
  });

  test('never leads to another server', async () => {
    const scene = await asked();
    const { harness } = scene;
    const browser = await signedIn(harness, 'mia');
    const fields = command(scene, { verb: 'pause', to: '//evil.example' });
    const answer = await post(browser, '/commands', fields);
    expect(answer.headers.get('location')).toMatch(/^\/\?asked=/);
  });

  test('shows what became of it to nobody else', async () => {
    const scene = await asked();
    const { harness } = scene;
    const browser = await signedIn(harness, 'mia');
    const answer = await post(browser, '/commands', command(scene, { verb: 'pause' }));
    const other = await signedIn(harness, 'max');
    expect(await said(other, answer)).toBe('');
  });
});
