import { afterEach, describe, expect, test } from 'vitest';
import { openBrowser, signedIn, WITH_SIGN_IN } from '../support/browser.ts';
import { eachFirstQuick } from '../support/each-first-quick.ts';
import { type Harness, startHarness } from '../support/harness.ts';
import { rowsOf } from '../support/rows-of.ts';

const MINUTE = 60_000;
const HOUR = 60 * MINUTE;

let harness: Harness;
afterEach(() => harness.stop());

const start = async (studio: Partial<typeof WITH_SIGN_IN> = {}, publicUrl?: string) => {
  harness = await startHarness({
    studio: { ...WITH_SIGN_IN, ...studio },
    ...(publicUrl === undefined ? {} : { publicUrl }),
  });
};

/** Only the requests about people. */
const asked = () =>
  harness.github.requests
    .map(({ method, path }) => `${method} ${path.split('?')[0]}`)
    .filter((one) => /\/user|login/.test(one));

describe('signing in', () => {
  test('leads through GitHub back to the page that was asked for', async () => {
    await start();
    harness.github.signInAs('mia');
    const browser = openBrowser(harness);
    const first = await browser.open('/runs?chain=review');
    expect(first.status).toBe(401);
    const [, link = ''] = /href="(\/sign-in[^"]*)"/.exec(first.text) ?? [];
    const page = await browser.open(link.replaceAll('&amp;', '&'));
    expect([page.status, page.url]).toEqual([200, `${harness.app.url}/runs?chain=review`]);
    expect(page.text).toContain('<a href="/account">mia</a>');
    expect(harness.faultyRequests).toEqual([]);
  });

  test('keeps only a hash of the token and nothing readable of the tokens for GitHub', async () => {
    await start();
    const browser = await signedIn(harness, 'mia');
    const [token = ''] = [...browser.cookies.values()];
    const { tables } = { tables: JSON.stringify(await rows()) };
    expect(tables).toContain('"mia"');
    expect(tables).not.toContain(token);
    expect(tables).not.toMatch(/gh[ur]_/);
  });

  test('sets a cookie that scripts cannot read, for this host and HTTPS only where the address is HTTPS', async () => {
    await start({}, 'https://countersign.example');
    const answer = await openBrowser(harness).request('/sign-in');
    expect(answer.headers.getSetCookie()).toEqual([
      expect.stringMatching(/^__Host-countersign-sign-in=.*HttpOnly; Secure; SameSite=Lax$/),
    ]);
    expect(new URL(answer.headers.get('location') ?? '').searchParams.get('redirect_uri')).toBe(
      'https://countersign.example/sign-in/callback',
    );
  });

  test('that the person refuses on GitHub says so and signs nobody in', async () => {
    await start();
    harness.github.signInAs(undefined);
    const browser = openBrowser(harness);
    const page = await browser.open('/sign-in');
    expect([page.status, page.text.includes('You did not let Countersign act for you')]).toEqual([403, true]);
    expect(await rows()).toEqual([]);
  });

  test('with the link of another browser signs nobody in', async () => {
    await start();
    harness.github.signInAs('otto');
    const attacker = openBrowser(harness);
    const toGitHub = await attacker.request('/sign-in');
    const back = await attacker.request(toGitHub.headers.get('location') ?? '');
    const victim = openBrowser(harness);
    const without = await victim.open(back.headers.get('location') ?? '');
    await victim.request('/sign-in');
    const withOther = await victim.open(back.headers.get('location') ?? '');
    expect([without.status, withOther.status, await rows()]).toEqual([400, 400, []]);
  });

  test('needs the secret of the browser that asked, even with the right state', async () => {
    await start();
    harness.github.signInAs('mia');
    const browser = openBrowser(harness);
    const toGitHub = new URL((await browser.request('/sign-in')).headers.get('location') ?? '');
    toGitHub.searchParams.set('code_challenge', 'x'.repeat(43));
    const page = await browser.open(toGitHub.href);
    expect([page.status, await rows()]).toEqual([400, []]);
  });

  test('counts once: the same answer of GitHub signs nobody in again', async () => {
    await start();
    harness.github.signInAs('mia');
    const browser = openBrowser(harness);
    const toGitHub = await browser.request('/sign-in');
    const begun = new Map(browser.cookies);
    const answer =
      (await browser.request(toGitHub.headers.get('location') ?? '')).headers.get('location') ?? '';
    expect((await browser.open(answer)).status).toBe(200);
    expect((await browser.open(answer)).status).toBe(400);
    // Also for somebody who has kept the cookie of the beginning: GitHub gives one token for a code.
    const other = openBrowser(harness);
    for (const [name, value] of begun) other.cookies.set(name, value);
    expect((await other.open(answer)).status).toBe(400);
    expect(await rows()).toHaveLength(1);
  });

  eachFirstQuick([
    ['without a state', (answer: URL) => answer.searchParams.delete('state')],
    ['with another state', (answer: URL) => answer.searchParams.set('state', 'x'.repeat(43))],
    ['with two states', (answer: URL) => answer.searchParams.append('state', 'x'.repeat(43))],
    ['with two codes', (answer: URL) => answer.searchParams.append('code', 'x')],
    ['without a code', (answer: URL) => answer.searchParams.delete('code')],
    ['with an error', (answer: URL) => answer.searchParams.set('error', '<script>')],
  ])('is refused for an answer %s', async (_, change) => {
    await start();
    harness.github.signInAs('mia');
    const browser = openBrowser(harness);
    const toGitHub = await browser.request('/sign-in');
    const answer = new URL(
      (await browser.request(toGitHub.headers.get('location') ?? '')).headers.get('location') ?? '',
    );
    change(answer);
    const page = await browser.open(answer.href);
    expect([page.status, page.text.includes('<script>'), await rows()]).toEqual([400, false, []]);
  });

  test('is refused for the code of somebody else in the own answer', async () => {
    await start();
    const begin = async (login: string) => {
      harness.github.signInAs(login);
      const browser = openBrowser(harness);
      const toGitHub = await browser.request('/sign-in');
      const back = await browser.request(toGitHub.headers.get('location') ?? '');
      return { browser, answer: new URL(back.headers.get('location') ?? '') };
    };
    const [attacker, victim] = [await begin('otto'), await begin('mia')];
    victim.answer.searchParams.set('code', attacker.answer.searchParams.get('code') ?? '');
    expect((await victim.browser.open(victim.answer.href)).status).toBe(400);
    expect(await rows()).toEqual([]);
  });

  test('asks only the GitHub of the settings, whatever server an answer names', async () => {
    await start();
    harness.github.signInAs('mia');
    const browser = openBrowser(harness);
    const toGitHub = await browser.request('/sign-in');
    const back = await browser.request(toGitHub.headers.get('location') ?? '');
    const answer = new URL(back.headers.get('location') ?? '');
    answer.searchParams.set('iss', 'https://evil.example');
    await browser.open(answer.href);
    expect(asked()).toContain('POST /login/oauth/access_token');
    expect(await rows()).toHaveLength(1);
  });

  test('comes back to the address of the settings, whatever host a request names', {
    tags: 'slow',
  }, async () => {
    await start({}, 'https://countersign.example');
    for (const headers of [
      { host: 'evil.example' } as Record<string, string>,
      { 'x-forwarded-host': 'evil.example', 'x-forwarded-proto': 'http', forwarded: 'host=evil.example' },
    ]) {
      const { location } = await withHeaders('/sign-in', headers);
      expect(new URL(location).searchParams.get('redirect_uri')).toBe(
        'https://countersign.example/sign-in/callback',
      );
    }
  });

  test('is refused after ten minutes on the page of GitHub', { tags: 'slow' }, async () => {
    await start();
    harness.github.signInAs('mia');
    const browser = openBrowser(harness);
    const toGitHub = await browser.request('/sign-in');
    await harness.advance(10 * MINUTE);
    expect((await browser.open(toGitHub.headers.get('location') ?? '')).status).toBe(400);
  });

  test('says that GitHub does not answer', { tags: 'slow' }, async () => {
    await start();
    harness.github.fail(({ path }) => path === '/login/oauth/access_token', { status: 503 });
    harness.github.signInAs('mia');
    const page = await openBrowser(harness).open('/sign-in');
    expect([page.status, page.text.includes('GitHub does not answer')]).toEqual([503, true]);
  });

  test('is refused after many attempts from one address', async () => {
    await start();
    const browser = openBrowser(harness);
    const statuses = [];
    for (let attempt = 0; attempt < 22; attempt++) statuses.push((await browser.request('/sign-in')).status);
    expect(statuses).toEqual([...Array.from({ length: 20 }, () => 302), 429, 429]);
    await harness.advance(10 * MINUTE);
    expect((await browser.request('/sign-in')).status).toBe(302);
  });

  eachFirstQuick([
    '//evil.example/x',
    '/\\evil.example',
    'https://evil.example',
    '/.//evil.example',
    '/%09/evil',
    'runs',
    '/a\tb',
  ])('never leads to another server afterwards: %j', async (to) => {
    await start();
    const browser = openBrowser(harness);
    harness.github.signInAs('mia');
    const toGitHub = await browser.request(`/sign-in?to=${encodeURIComponent(to)}`);
    const back = await browser.request(toGitHub.headers.get('location') ?? '');
    const last = await browser.request(back.headers.get('location') ?? '');
    const location = last.headers.get('location') ?? '';
    expect([last.status, new URL(location, harness.app.url).origin]).toEqual([303, harness.app.url]);
    expect(location).toMatch(/^\/(?!\/)/);
  });
});

describe('a session', () => {
  test('has a token of its own after each sign-in, and the one before ends', { tags: 'slow' }, async () => {
    await start();
    const browser = openBrowser(harness);
    browser.cookies.set('countersign', 'chosen-by-an-attacker');
    harness.github.signInAs('mia');
    await browser.open('/sign-in');
    const first = browser.cookies.get('countersign') ?? '';
    await browser.open('/sign-in');
    const second = browser.cookies.get('countersign') ?? '';
    expect(new Set(['chosen-by-an-attacker', first, second]).size).toBe(3);
    expect(await statusWith(first)).toBe(401);
    expect(await statusWith(second)).toBe(200);
  });

  test('changes its token every hour, and the one before counts only while requests are under way', {
    tags: 'slow',
  }, async () => {
    await start();
    const browser = await signedIn(harness, 'mia');
    const first = browser.cookies.get('countersign') ?? '';
    await harness.advance(61 * MINUTE);
    await browser.open('/runs');
    const second = browser.cookies.get('countersign') ?? '';
    expect(second).not.toBe(first);
    // The browser may not have got the answer yet.
    expect(await statusWith(first)).toBe(200);
    await browser.open('/runs');
    expect(await statusWith(first)).toBe(200);
    await harness.advance(MINUTE);
    expect([await statusWith(first), await statusWith(second)]).toEqual([401, 200]);
  });

  test('survives that the browser never got the answer with its new token', { tags: 'slow' }, async () => {
    await start();
    const browser = await signedIn(harness, 'mia');
    const first = browser.cookies.get('countersign') ?? '';
    await harness.advance(61 * MINUTE);
    expect(await statusWith(first)).toBe(200);
    await harness.advance(5 * MINUTE);
    expect((await browser.open('/runs')).status).toBe(200);
    expect(browser.cookies.get('countersign')).not.toBe(first);
    expect((await browser.open('/runs')).status).toBe(200);
  });

  test('ends a day after the last request, and two weeks after the sign-in', { tags: 'slow' }, async () => {
    await start();
    const browser = await signedIn(harness, 'mia');
    await harness.sleep(25 * HOUR);
    expect((await browser.open('/runs')).status).toBe(401);
    const other = await signedIn(harness, 'mia');
    const statuses = [];
    for (let day = 0; day < 15; day++) {
      await harness.sleep(23 * HOUR);
      statuses.push((await other.open('/runs')).status);
    }
    expect(statuses).toEqual([...Array.from({ length: 14 }, () => 200), 401]);
  });

  test('is deleted within hours after it ended, also if nobody signs in again', {
    tags: 'slow',
  }, async () => {
    await start();
    await signedIn(harness, 'mia');
    await harness.sleep(23 * HOUR);
    expect(await rows()).toHaveLength(1);
    await harness.sleep(3 * HOUR);
    expect(await rows()).toEqual([]);
  });

  test('ends when the person signs out', { tags: 'slow' }, async () => {
    await start();
    const browser = await signedIn(harness, 'mia');
    const token = browser.cookies.get('countersign') ?? '';
    const page = await browser.send(await browser.open('/runs'), '/sign-out');
    expect([page.status, browser.cookies.size, await statusWith(token), await rows()]).toEqual([
      401,
      0,
      401,
      [],
    ]);
  });

  test('ends with all others of the person when they sign out everywhere, and none of anybody else', {
    tags: 'slow',
  }, async () => {
    await start();
    const [stolen, otto] = [await signedIn(harness, 'mia'), await signedIn(harness, 'otto')];
    await harness.advance(MINUTE);
    const own = await signedIn(harness, 'mia');
    await harness.advance(61 * MINUTE);
    const account = await own.open('/account');
    expect(account.text).toContain('in 2 browsers');
    expect(account.text.match(/<td>(?:<b>this one<\/b>|another one)<\/td>/g)?.sort()).toEqual([
      '<td><b>this one</b></td>',
      '<td>another one</td>',
    ]);
    expect((await own.send(account, '/account/sign-out-everywhere')).status).toBe(401);
    expect(own.cookies.size).toBe(0);
    expect((await stolen.open('/runs')).status).toBe(401);
    expect((await otto.open('/runs')).status).toBe(200);
    expect(await rows()).toHaveLength(1);
  });

  test('refreshes the token for GitHub when it expires, once for requests at the same time', {
    tags: 'slow',
  }, async () => {
    await start();
    const browser = await signedIn(harness, 'mia');
    await harness.sleep(9 * HOUR);
    const before = asked().length;
    const pages = await Promise.all([1, 2, 3].map(() => browser.open('/runs')));
    expect(pages.map(({ status }) => status)).toEqual([200, 200, 200]);
    expect(
      asked()
        .slice(before)
        .filter((one) => one.startsWith('POST')),
    ).toEqual(['POST /login/oauth/access_token']);
    await harness.sleep(9 * HOUR);
    expect((await browser.open('/runs')).status).toBe(200);
  });

  test('ends when the person takes the access of the App away on GitHub', async () => {
    await start();
    const browser = await signedIn(harness, 'mia');
    harness.github.revokeTokensOf('mia');
    await harness.advance(6 * MINUTE);
    expect((await browser.open('/runs')).status).toBe(401);
    expect(await rows()).toEqual([]);
  });
});

describe('a form', () => {
  test('is refused without the token of the session, with that of another session, and from another site', async () => {
    await start();
    const browser = await signedIn(harness, 'mia');
    const other = await signedIn(harness, 'otto');
    const foreign = /name="csrf" value="([^"]+)"/.exec((await other.open('/runs')).text)?.[1] ?? '';
    const own = /name="csrf" value="([^"]+)"/.exec((await browser.open('/runs')).text)?.[1] ?? '';
    const post = (csrf: string, headers: Record<string, string> = {}) =>
      browser
        .request('/sign-out', { method: 'POST', body: new URLSearchParams({ csrf }), headers })
        .then(({ status }) => status);
    expect(foreign).not.toBe('');
    expect([
      await post(''),
      await post(foreign),
      await post(own, { origin: 'https://evil.example' }),
      await post(own, { 'sec-fetch-site': 'cross-site' }),
      await post(own, { origin: 'null' }),
      await post(own),
    ]).toEqual([403, 403, 403, 403, 403, 303]);
  });

  test('carries another mask of its token in each answer', { tags: 'slow' }, async () => {
    await start();
    const browser = await signedIn(harness, 'mia');
    const tokens = [];
    for (let page = 0; page < 3; page++)
      tokens.push(/name="csrf" value="([^"]+)"/.exec((await browser.open('/runs')).text)?.[1]);
    expect(new Set(tokens).size).toBe(3);
  });
});

/** A request with headers that `fetch` sets by itself. */
async function withHeaders(path: string, headers: Record<string, string>): Promise<{ location: string }> {
  const { request } = await import('node:http');
  return new Promise((resolve, reject) => {
    request(`${harness.app.url}${path}`, { headers }, (answer) => {
      answer.resume();
      resolve({ location: answer.headers.location ?? '' });
    })
      .on('error', reject)
      .end();
  });
}

async function statusWith(token: string): Promise<number> {
  const answer = await fetch(`${harness.app.url}/runs`, { headers: { cookie: `countersign=${token}` } });
  return answer.status;
}

/** The sessions in the database. */
async function rows(): Promise<unknown[]> {
  const found = await rowsOf(harness.config.databaseUrl, 'SELECT * FROM studio_sessions');
  return found.map((row) => ({ ...row, sealed: Buffer.from(row.sealed as Uint8Array).toString('latin1') }));
}
