// @module-tag security
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { dryRunPage } from '../../src/messages/studio/dry-run.ts';
import { drawnTexts } from '../support/hostile/drawn.ts';
import { addressesAt, NOT_STORED } from '../support/hostile/places.ts';
import { startWithHostileTexts, type WithHostileTexts } from '../support/hostile/started.ts';
import { ALL_AT_ONCE, HOSTILE_TEXTS } from '../support/hostile/texts.ts';
import { type Markup, readMarkup } from '../support/markup.ts';
import { type StudioRoute, studioParameters, studioRoutes } from '../support/studio-routes.ts';

/** What is in the texts of honest people: words, code, lines, and the address of a page. */
const HARMLESS = ['https://ci.example/page', 'some `code`\nand words'];

let harness: WithHostileTexts['harness'];
let browser: WithHostileTexts['browser'];
let store: WithHostileTexts['store'];
let routes: StudioRoute[];

beforeAll(async () => {
  ({ harness, browser, store } = await startWithHostileTexts());
  routes = (await studioRoutes(harness)).filter(({ path }) => !NOT_STORED.test(path));
});
afterAll(() => harness.stop());

interface Opened {
  address: string;
  status: number;
  markup: Markup;
}

/** Every page that shows the text, because it is stored everywhere or because it is in the query, and every form of them. */
async function everyPage(text: string, isThorough: boolean): Promise<Opened[]> {
  const place = await store(text);
  // Together they must fit into the address of a request.
  const given = text.slice(0, 40).toWellFormed();
  const query = new URLSearchParams(studioParameters().map((name): [string, string] => [name, given]));
  const all: Opened[] = [];
  const forms = new Map<string, { action: string; fields: [string, string][] }>();
  for (const route of routes.filter(({ method }) => method === 'GET')) {
    const addresses = addressesAt(route, place);
    const [first = ''] = addresses;
    const chosen = isThorough
      ? [...addresses, `${first}?asked=${place.command}`]
      : new Set([first, ...addresses.slice(-2)]);
    const ofRoute: Opened[] = [];
    for (const address of [...chosen, `${first}?${query}`]) {
      const { page, ...opened } = await open(address);
      ofRoute.push({ ...opened, markup: readMarkup(page) });
      for (const form of formsIn(page))
        forms.set(`${form.action} ${form.fields.map(([name]) => name)}`, form);
    }
    expect([route.path, ofRoute.some(({ status }) => status === 200)]).toEqual([route.path, true]);
    all.push(...ofRoute);
  }
  for (const { action, fields } of forms.values()) {
    const body = new URLSearchParams(
      fields.map(([name, value]): [string, string] => [name, name === 'csrf' ? value : text.toWellFormed()]),
    );
    const { page, ...opened } = await open(action, { method: 'POST', body });
    all.push({ ...opened, markup: readMarkup(page) });
  }
  return all;
}

async function open(address: string, init?: RequestInit) {
  const answer = await browser.request(address, init);
  const { status, headers } = answer;
  const type = headers.get('content-type') ?? '';
  const location = headers.get('location');
  if (location !== null) {
    expect([address, new URL(location, harness.app.url).origin]).toEqual([address, harness.app.url]);
    expect([address, location]).toEqual([address, expect.stringMatching(/^\/(?![/\\])/)]);
  }
  if (type.startsWith('text/event-stream')) return { address, status, page: await firstEvent(answer) };
  const page = await answer.text();
  if (type.startsWith('text/html')) return { address, status, page };
  // Nothing else is shown as a page, so nothing in it is markup.
  expect([address, headers.get('x-content-type-options')]).toEqual([address, 'nosniff']);
  expect([address, type]).toEqual([
    address,
    expect.stringMatching(/^($|application\/(octet-stream|json)|text\/plain|image\/(png|jpeg|gif|webp))/),
  ]);
  return { address, status, page: '' };
}

/** What a form posts to that ends the session the pages are read with. */
const SIGNS_OUT = /^\/(account\/)?sign-out/;

/** The comment that opens every stream, and sends its headers. */
const OPENING = ':\n\n';

/** The part of a page that the stream sends first. Its lines are checked: no text may begin an event of its own. */
async function firstEvent(answer: Response): Promise<string> {
  const reader = answer.body?.pipeThrough(new TextDecoderStream()).getReader();
  let received = '';
  while (!received.includes('\n\n', OPENING.length)) {
    const { value, done } = (await reader?.read()) ?? { done: true };
    if (done) break;
    received += value;
  }
  await reader?.cancel();
  expect(received.slice(0, OPENING.length)).toBe(OPENING);
  const lines = received.slice(OPENING.length, received.indexOf('\n\n', OPENING.length)).split(/\r\n|\r|\n/);
  expect(lines.filter((line) => !/^(data: |id: [\w.:@|-]+$)/.test(line))).toEqual([]);
  return lines.flatMap((line) => (line.startsWith('data: ') ? line.slice(6) : [])).join('\n');
}

function formsIn(page: string): { action: string; fields: [string, string][] }[] {
  return [...page.matchAll(/<form\b[^>]*method="post"[^>]*>[\s\S]*?<\/form>/g)].flatMap(([form]) => {
    const action = /\baction="([^"]*)"/.exec(form)?.[1] ?? '';
    const fields = [...form.matchAll(/<(?:input|button|textarea|select)\b[^>]*\bname="(\w+)"[^>]*>/g)].map(
      ([field, name = '']): [string, string] => [name, /\bvalue="([^"]*)"/.exec(field)?.[1] ?? ''],
    );
    return SIGNS_OUT.test(action) ? [] : [{ action: action.replaceAll('&amp;', '&'), fields }];
  });
}

/** What a page has that no template wrote. */
function oddIn(
  { address, status, markup: { faults, elements, unseen } }: Opened,
  usual: ReadonlySet<string>,
): unknown[] {
  const unusual = elements.filter(({ shape }) => !usual.has(shape)).map(({ shape }) => shape);
  const foreign = elements.flatMap(({ shape, addresses }) =>
    addresses.filter((one) => {
      const isHere = /^(\/(?![/\\])|#|\?|data:image\/svg\+xml,%3Csvg)/.test(one);
      const isGitHub = one.startsWith(`${harness.github.url}/`);
      const isLinkAway = /^https?:\/\/[^/@\\]+(\/|$)/.test(one) && shape === 'a[href,rel]';
      return !isHere && !isGitHub && !isLinkAway;
    }),
  );
  const isFailed = status >= 500;
  // What the reader typed comes back as it was, so that it can be corrected.
  const isStored = !/\?(?!step=)/.test(address) && !address.startsWith('/chains/check');
  const hidden = isStored ? unseen : [];
  return faults.length + unusual.length + foreign.length + hidden.length === 0 && !isFailed
    ? []
    : [
        {
          address: address.slice(0, 200),
          status,
          faults,
          unusual: unusual.slice(0, 5),
          foreign: foreign.slice(0, 5),
          hidden: hidden.slice(0, 5),
        },
      ];
}

async function dryRunWith(text: string): Promise<Markup> {
  const step = {
    id: text,
    depth: 1,
    mark: '✓',
    words: 'done',
    state: 'completed',
    reason: text,
    dependsOn: [],
  };
  const why = {
    status: 'unmet' as const,
    summary: text,
    evidence: [{ kind: 'url' as const, id: text, label: text, url: text }, text],
    reasons: [],
  };
  const write = { head: text, body: text, parts: [{ line: text, body: text }] };
  const page = dryRunPage(
    {
      id: 'dry',
      chain: 'pr-review',
      isPasted: true,
      repository: 'octo/app',
      pullRequest: 1,
      steps: [step],
      end: {
        kind: 'done',
        shown: {
          pullRequest: { title: text, headSha: 'a'.repeat(40), baseRef: text },
          notes: [text],
          result: 'done',
          because: text,
          steps: [step, { ...step, depth: 0 }],
          moreSteps: 1,
          courses: [{ path: [text], chain: text, why, writes: [write], moreWrites: 1 }],
          whyNot: why,
        },
      },
    },
    { githubUrl: harness.github.url, csrf: 'csrf' },
  );
  return readMarkup(String(await page));
}

async function elementsOfHarmless(isThorough: boolean): Promise<Set<string>> {
  const found = new Set<string>();
  for (const text of isThorough ? HARMLESS : HARMLESS.slice(0, 1))
    for (const { markup } of await everyPage(text, isThorough))
      for (const { shape } of markup.elements) found.add(shape);
  return found;
}

describe('every page of Studio', () => {
  test('shows a text that ends whatever it may be in as text, wherever it is stored', {
    tags: 'slow',
  }, async () => {
    const usual = await elementsOfHarmless(false);
    const pages = await everyPage(ALL_AT_ONCE, false);
    expect(pages.flatMap((page) => oddIn(page, usual))).toEqual([]);
  });

  test('of a dry run shows a hostile text as text', async () => {
    const usual = new Set((await dryRunWith('https://ci.example')).elements.map(({ shape }) => shape));
    for (const { text } of [{ text: ALL_AT_ONCE }, ...HOSTILE_TEXTS]) {
      const markup = await dryRunWith(text);
      expect(oddIn({ address: '/', status: 200, markup }, usual)).toEqual([]);
    }
  });

  describe('in full', () => {
    let usual: Set<string>;
    beforeAll(async () => {
      usual = await elementsOfHarmless(true);
    });

    test('shows it as text in every kind of artifact', { tags: 'slow' }, async () => {
      const pages = await everyPage(ALL_AT_ONCE, true);
      expect(pages.flatMap((page) => oddIn(page, usual))).toEqual([]);
    });

    test.each(drawnTexts())('shows $name as text', { tags: 'slow' }, async ({ text }) => {
      const pages = await everyPage(text, false);
      expect(pages.flatMap((page) => oddIn(page, usual))).toEqual([]);
    });
  });
});
