// @module-tag security
import { connect } from 'node:net';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { openBlobs } from '../../src/composition/blobs.ts';
import { openBrowser } from '../support/browser.ts';
import { addressesAt, NOT_STORED } from '../support/hostile/places.ts';
import { startWithHostileTexts, type WithHostileTexts } from '../support/hostile/started.ts';
import type { HostilePlace } from '../support/hostile/world.ts';
import { type StudioRoute, studioRoutes } from '../support/studio-routes.ts';

const FORM = { 'content-type': 'application/x-www-form-urlencoded' };

let harness: WithHostileTexts['harness'];
let browser: WithHostileTexts['browser'];
let place: HostilePlace;
let routes: StudioRoute[];
let csrf: string;

beforeAll(async () => {
  let store: WithHostileTexts['store'];
  ({ harness, browser, store } = await startWithHostileTexts());
  place = await store('words');
  routes = (await studioRoutes(harness)).filter(({ path }) => !NOT_STORED.test(path));
  csrf = /name="csrf" value="([^"]+)"/.exec((await browser.open('/runs')).text)?.[1] ?? '';
});
afterAll(() => harness.stop());

/** One address of each route that is read. */
const pages = () =>
  routes.filter(({ method }) => method === 'GET').map((route) => addressesAt(route, place).at(-1) ?? '/');

/** An answer without its body, which can be a stream that does not end. */
async function headOf(path: string, init: RequestInit = {}) {
  const answer = await browser.request(path, init);
  await answer.body?.cancel();
  return { status: answer.status, headers: answer.headers };
}

describe('every answer', () => {
  test('may be kept by nobody, framed by nobody, and read by no other site', { tags: 'slow' }, async () => {
    const odd = ['/no/such/page', '/sign-in', '/sign-in/callback', '/OCTO/app/pull/1', '/account'];
    for (const path of [...pages(), ...odd]) {
      const { headers } = await headOf(path, { headers: { origin: 'https://evil.example' } });
      const policy = headers.get('content-security-policy') ?? '';
      const isDownload = /\/(download|image)$/.test(path);
      expect([path, Object.fromEntries(headers)]).toEqual([
        path,
        expect.objectContaining({
          'cache-control': 'private, no-store',
          'cross-origin-opener-policy': 'same-origin',
          'cross-origin-resource-policy': 'same-origin',
          'referrer-policy': 'same-origin',
          'x-content-type-options': 'nosniff',
        }),
      ]);
      expect([path, policy]).toEqual([
        path,
        expect.stringMatching(
          isDownload
            ? /^sandbox; default-src 'none'$/
            : /default-src 'none';.*frame-ancestors 'none';.*base-uri 'none'/,
        ),
      ]);
      expect([path, policy]).toEqual([
        path,
        expect.not.stringMatching(/unsafe|\*|https?:|data:(?!$)[^;]*script/),
      ]);
      expect([path, [...headers.keys()].filter((name) => name.startsWith('access-control-'))]).toEqual([
        path,
        [],
      ]);
    }
  });

  test('to another site that asks first allows it nothing', { tags: 'slow' }, async () => {
    for (const path of [...pages(), '/commands', '/answers', '/sign-out', '/api/v1/runs']) {
      const { headers } = await headOf(path, {
        method: 'OPTIONS',
        headers: {
          origin: 'https://evil.example',
          'access-control-request-method': 'POST',
          'access-control-request-headers': 'x-csrf-token',
        },
      });
      expect([path, [...headers.keys()].filter((name) => name.startsWith('access-control-'))]).toEqual([
        path,
        [],
      ]);
    }
  });

  test('has another nonce in its policy', async () => {
    const nonces = [];
    for (let page = 0; page < 3; page++)
      nonces.push(
        /'nonce-([\w-]{22})'/.exec((await headOf('/runs')).headers.get('content-security-policy') ?? '')?.[1],
      );
    expect(new Set(nonces).size).toBe(3);
    expect(nonces).not.toContain(undefined);
  });
});

describe('a form', () => {
  const send = (headers: Record<string, string>, body: string, path = '/commands', method = 'POST') =>
    headOf(path, { method, headers: { origin: harness.app.url, ...headers }, body }).then(
      ({ status }) => status,
    );

  test.each([
    ['as JSON', 'application/json', () => JSON.stringify({ csrf })],
    ['as plain text', 'text/plain', () => `csrf=${csrf}`],
    [
      'in parts',
      'multipart/form-data; boundary=x',
      () => `--x\r\nContent-Disposition: form-data; name="csrf"\r\n\r\n${csrf}\r\n--x--`,
    ],
    ['in broken parts', 'multipart/form-data; boundary=x', () => '--x\r\nbroken'],
    ['in parts without a boundary', 'multipart/form-data', () => 'x'],
    ['of two kinds', 'text/plain, application/x-www-form-urlencoded', () => `csrf=${csrf}`],
    ['of a kind that begins alike', 'application/x-www-form-urlencodedx', () => `csrf=${csrf}`],
  ])('%s is refused, with and without a token in the header', async (_, type, body) => {
    expect(await send({ 'content-type': type }, body())).toBe(415);
    expect(await send({ 'content-type': type, 'x-csrf-token': csrf }, body())).toBe(415);
    expect(await send({ 'content-type': type }, body(), '/chains/check')).toBe(415);
  });

  test('needs the token in its own field', async () => {
    expect(await send(FORM, `csrf[]=${csrf}`)).toBe(403);
    expect(await send(FORM, '', `/commands?csrf=${csrf}`)).toBe(403);
    expect(await send(FORM, `csrf=${csrf}&csrf=x`)).toBe(403);
    expect(await send({ ...FORM, cookie: '' }, `csrf=${csrf}`, '/account/sign-out-everywhere')).toBe(401);
  });

  test('from another site is refused even with the token', async () => {
    const own = `csrf=${csrf}`;
    for (const origin of ['https://evil.example', 'null', `${harness.app.url}.evil.example`, 'file://'])
      expect([origin, await send({ ...FORM, origin }, own)]).toEqual([origin, 403]);
    for (const site of ['cross-site', 'same-site'])
      expect([site, await send({ ...FORM, 'sec-fetch-site': site }, own)]).toEqual([site, 403]);
  });

  test('changes nothing by another method, whatever names it', { tags: 'slow' }, async () => {
    for (const route of routes.filter(({ method }) => method === 'POST')) {
      const [path = ''] = addressesAt(route, place);
      const isPage = routes.some((one) => one.method === 'GET' && one.path === route.path);
      for (const method of ['PUT', 'PATCH', 'DELETE'])
        expect([path, method, await send(FORM, `csrf=${csrf}`, path, method)]).toEqual([path, method, 404]);
      for (const address of [`${path}?_method=POST&csrf=${csrf}`, path]) {
        const { status } = await headOf(address, { headers: { 'x-http-method-override': 'POST' } });
        expect([address, status]).toEqual([address, isPage ? 200 : 404]);
      }
    }
    expect((await headOf('/runs')).status).toBe(200);
  });
});

describe('a path', () => {
  /** As no client would write it: every other one would tidy it up. */
  function statusOf(target: string, headers = ''): Promise<string> {
    const { hostname, port, host } = new URL(harness.app.url);
    const cookie = [...browser.cookies].map(([name, value]) => `${name}=${value}`).join('; ');
    return new Promise((resolve, reject) => {
      let text = '';
      const socket = connect(Number(port), hostname, () =>
        socket.write(
          `GET ${target} HTTP/1.1\r\nHost: ${host}\r\nCookie: ${cookie}\r\n${headers}Connection: close\r\n\r\n`,
        ),
      );
      socket.on('data', (piece) => {
        text += piece;
      });
      socket.on('error', reject);
      socket.on('close', () => resolve(text));
    });
  }

  test.each([
    '/assets/../package.json',
    '/assets/..%2f..%2fpackage.json',
    '/assets/%2e%2e/%2e%2e/package.json',
    '/artifacts/../../etc/passwd',
    '/artifacts/..%2f..%2f..%2fetc%2fpasswd',
    '/artifacts/..%2f..%2f..%2fetc%2fpasswd/download',
    '/artifacts/%2fetc%2fpasswd/download',
    '/artifacts/%00/download',
    '/skills/..%2f..%2fpackage.json',
    '/chains/named/..%2f..%2f..%2fpackage.json',
    '/operations/deliveries/..%2f..%2fx',
    '/runs/%ff%fe',
    '//evil.example/runs',
    '/\\evil.example/runs',
  ])('leads to no file and to no other server: %s', async (target) => {
    const answer = await statusOf(target);
    expect(answer).toMatch(/^HTTP\/1\.1 40[04] /);
    expect(answer).not.toMatch(/root:x|"dependencies"|^location:.*evil/im);
  });

  test('of an artifact never leaves the store, whatever its row says', async () => {
    const { storage } = harness.app;
    const blobs = openBlobs(harness.config.artifactsUrl);
    await blobs.put('inside', 'a secret file');
    const template = await storage.read.artifacts.get(place.artifacts.at(-1) ?? '');
    if (!template) throw new Error('there is no artifact');
    const paths = [
      '../countersign.db',
      '/etc/passwd',
      'x/../inside',
      './inside',
      'a/../../countersign.db',
      '..',
      '',
      'a\0b',
      '%2e%2e/x',
      '..\\x',
    ];
    for (const [at, filePath] of paths.entries()) {
      const id = `art_path${at}`;
      await storage.transaction((tx) => tx.artifacts.insert({ ...template, id, filePath }));
      const page = await browser.open(`/artifacts/${id}`);
      expect([
        filePath,
        page.status,
        page.text.includes('root:x') || page.text.includes('secret file'),
      ]).toEqual([filePath, 200, false]);
      expect([filePath, (await headOf(`/artifacts/${id}/download`)).status]).toEqual([filePath, 404]);
    }
  });
});

test('somebody with a cookie of no session reads nothing and changes nothing', async () => {
  const nobody = openBrowser(harness);
  for (const value of ['', 'x', 'a'.repeat(43), 'a'.repeat(5_000), '%00', '__proto__']) {
    nobody.cookies.set('countersign', value);
    for (const path of ['/', '/runs', `/runs/${place.run}`, '/account', '/operations'])
      expect([value.slice(0, 9), path, (await nobody.request(path)).status]).toEqual([
        value.slice(0, 9),
        path,
        401,
      ]);
    const body = new URLSearchParams({ csrf, run: place.run, says: 'approve' });
    expect((await nobody.request('/answers', { method: 'POST', body })).status).toBe(401);
  }
});
