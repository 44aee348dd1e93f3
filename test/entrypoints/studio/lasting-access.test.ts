// @module-tag security
import { Hono } from 'hono';
import { html } from 'hono/html';
import { beforeEach, describe, expect, onTestFinished, test } from 'vitest';
import { silentLog } from '../../../src/core/log.ts';
import { type Access, accessByGitHub } from '../../../src/entrypoints/studio/access.ts';
import { liveUpdates, whoseStream } from '../../../src/entrypoints/studio/live.ts';
import { createSessions } from '../../../src/entrypoints/studio/sessions.ts';
import { type GitHubForPeople, TokenRefused } from '../../../src/ports/github-person.ts';
import { useDatabase } from '../../support/database.ts';
import { sqliteTestDatabase } from '../../support/temp.ts';

const MINUTE = 60_000;
const HOUR = 60 * MINUTE;
const REPOSITORY = 70;
const MANY = Array.from({ length: 11 }, (_, index) => `person${index}`);
const PEOPLE = Object.fromEntries(['mia', 'otto', ...MANY].map((login, index) => [login, index + 1]));

const database = useDatabase(sqliteTestDatabase);
let app: Hono;
let access: Access;
let refused: Set<string>;
/** What GitHub shows to people. */
let shown: number[];
/** What GitHub is asked waits for this. */
let answering: Promise<unknown>;
let stamp: string;
/** Ends the pause between two looks at the database. */
let tick: () => void;

beforeEach(() => {
  const { storage, clock } = database;
  refused = new Set();
  shown = [REPOSITORY];
  answering = Promise.resolve();
  stamp = 'first';
  // A token is the login of its owner and a number.
  const owner = (token: string) => token.split('-')[0] ?? '';
  const github = {
    async owner(token: string) {
      await answering;
      if (refused.has(token)) throw new TokenRefused('revoked');
      return { id: PEOPLE[owner(token)] ?? 0, login: owner(token) };
    },
    repositoryIds: async () => shown,
  } as unknown as GitHubForPeople;
  const sessions = createSessions({ storage, clock, github, clientSecret: 'secret', isSecure: false });
  access = accessByGitHub({ clock, sessions, github, operators: [], publicRepositories: undefined });
  let pause = Promise.withResolvers<void>();
  tick = () => {
    pause.resolve();
    pause = Promise.withResolvers();
  };
  const live = liveUpdates({
    storage,
    access,
    whoseIs: whoseStream,
    log: silentLog,
    timers: { sleep: () => pause.promise },
  });
  app = new Hono();
  app.get('/sign-in/:token', async (context) => {
    const { token } = context.req.param();
    const tokens = { access: token, accessUntil: null, refresh: null };
    await sessions.begin(context, tokens, { id: PEOPLE[owner(token)] ?? 0, login: owner(token) });
    return context.text('');
  });
  app.get('/sign-out', async (context) => {
    const signedIn = await sessions.of(context);
    if (signedIn) await sessions.end(signedIn, context);
    return context.text('');
  });
  app.get('/who', async (context) => context.text((await access.viewer(context)).kind));
  app.get('/events', async (context) => {
    const viewer = await access.viewer(context);
    return live.follow(
      context,
      { viewer, visible: await access.visible(viewer) },
      {
        stamp: async ({ visible }) => (visible.has(REPOSITORY) ? stamp : undefined),
        part: async ({ viewer: now }) => ({ html: html`${now.kind} ${stamp}` }),
      },
    );
  });
});

/** A browser with one session. */
async function browserOf(token: string) {
  let cookie = '';
  const get = async (path: string) => {
    const answer = await app.request(path, { headers: { cookie } });
    const [set] = answer.headers.getSetCookie();
    if (set !== undefined) cookie = set.split(';')[0] ?? '';
    return answer;
  };
  await get(`/sign-in/${token}`);
  return { get, follow: (since = '') => followed(get(`/events?since=${since}`)) };
}

async function followed(answer: Promise<Response>) {
  const reader = (await answer).body?.pipeThrough(new TextDecoderStream()).getReader();
  if (!reader) throw new Error('there is no stream');
  onTestFinished(() => reader.cancel());
  /** What the stream says next, while time passes. */
  async function read(): Promise<string> {
    const reading = reader?.read();
    let isThere = false;
    void reading?.finally(() => {
      isThere = true;
    });
    while (!isThere) await pass(1);
    const { value = 'closed' } = (await reading) ?? {};
    return value.trim();
  }
  return {
    end: () => reader.cancel(),
    /** The next event, without letting time pass. */
    async come(): Promise<string> {
      for (;;) {
        const { value = 'closed' } = await reader.read();
        if (value.trim() !== ':') return value.trim();
      }
    },
    /** The next event. */
    async next(): Promise<string> {
      for (;;) {
        const said = await read();
        // That it is still there.
        if (said !== ':') return said;
      }
    },
  };
}

async function pass(ticks: number): Promise<void> {
  for (let passed = 0; passed < ticks; passed++) {
    tick();
    await new Promise((resolve) => setImmediate(resolve));
  }
}

describe('a stream', () => {
  test('ends after the person signed out', async () => {
    const mia = await browserOf('mia-1');
    const stream = await mia.follow();
    expect(await stream.next()).toContain('data: person first');
    await mia.get('/sign-out');
    expect(await stream.next()).toBe('event: end\ndata:');
  });

  test('ends after GitHub no longer accepts the token of the person', async () => {
    const mia = await browserOf('mia-1');
    const stream = await mia.follow();
    expect(await stream.next()).toContain('data: person first');
    refused.add('mia-1');
    database.clock.advance(HOUR);
    expect(await stream.next()).toBe('event: end\ndata:');
    expect(await (await mia.get('/who')).text()).toBe('nobody');
  });

  test('ends within six minutes after GitHub stopped showing the repository to the person', async () => {
    const mia = await browserOf('mia-1');
    const stream = await mia.follow();
    expect(await stream.next()).toContain('data: person first');
    shown = [];
    // GitHub's answer counts for five minutes, and a stream asks once a minute: 120 looks at the database.
    database.clock.advance(5 * MINUTE);
    const [said] = await Promise.all([stream.come(), pass(121)]);
    expect(said).toBe('event: end\ndata:');
  });

  test('answers at once, before anything has changed, because browsers return only to what had begun', async () => {
    const mia = await browserOf('mia-1');
    const answer = await mia.get('/events?since=first');
    const reader = answer.body?.getReader();
    const { value } = (await reader?.read()) ?? {};
    expect(new TextDecoder().decode(value)).toBe(':\n\n');
    await reader?.cancel();
  });

  test('goes on after the token in the cookie has changed, and changes no session', async () => {
    const mia = await browserOf('mia-1');
    const stream = await mia.follow();
    expect(await stream.next()).toContain('data: person first');
    for (let hours = 0; hours < 3; hours++) {
      database.clock.advance(HOUR + 1);
      expect(await (await mia.get('/who')).text()).toBe('person');
      await mia.get('/who');
    }
    // So long that access is checked again before anything else is sent.
    await pass(200);
    stamp = 'second';
    expect(await stream.next()).toContain('data: person second');
  });

  test('is refused to somebody who has twenty, and to nobody else', async () => {
    const mia = await browserOf('mia-1');
    for (let tab = 0; tab < 20; tab++) expect(await (await mia.follow()).next()).toContain('data: person');
    expect(await (await mia.follow()).next()).toContain('event: busy');
    const otto = await browserOf('otto-1');
    expect(await (await otto.follow()).next()).toContain('data: person');
  });

  test('is refused to everybody while there are 200, and granted again when one has ended', {
    tags: 'slow',
  }, async () => {
    const streams: Awaited<ReturnType<typeof followed>>[] = [];
    const [last = '', ...others] = MANY;
    for (const login of others) {
      const browser = await browserOf(`${login}-1`);
      for (let tab = 0; tab < 20; tab++) streams.push(await browser.follow());
    }
    for (const stream of streams) expect(await stream.next()).toContain('data: person');
    const browser = await browserOf(`${last}-1`);
    expect(await (await browser.follow()).next()).toContain('event: busy');
    await streams[0]?.end();
    await pass(1);
    expect(await (await browser.follow()).next()).toContain('data: person');
  });
});

test('a session stays when GitHub refuses the token of another session of the same person', async () => {
  const [old, other] = [await browserOf('mia-1'), await browserOf('mia-2')];
  refused.add('mia-1');
  const held = Promise.withResolvers<void>();
  answering = held.promise;
  // Both wait for the answer about the first token.
  const asked = [old.get('/who'), other.get('/who')];
  await new Promise((resolve) => setImmediate(resolve));
  held.resolve();
  expect(await Promise.all(asked.map(async (answer) => (await answer).text()))).toEqual(['nobody', 'person']);
  expect(await (await other.get('/who')).text()).toBe('person');
});
