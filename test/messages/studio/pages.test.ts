import { html } from 'hono/html';
import { describe, expect, test } from 'vitest';
import type { ApiToken } from '../../../src/domain/api-token/api-token.ts';
import { explain } from '../../../src/domain/run/explain.ts';
import { totalsOf } from '../../../src/domain/run/report.ts';
import { timelineOf } from '../../../src/domain/run/timeline.ts';
import { accountPage } from '../../../src/messages/studio/account.ts';
import {
  ANSWERED,
  actedOn,
  answerForm,
  askedFor,
  buttonsFor,
  commandButtons,
} from '../../../src/messages/studio/answering.ts';
import { artifactListPage } from '../../../src/messages/studio/artifacts.ts';
import { deliveriesPage, deliveryPage } from '../../../src/messages/studio/deliveries.ts';
import { budgetPart, healthPart } from '../../../src/messages/studio/health.ts';
import { type InboxItem, type InboxList, inboxPage } from '../../../src/messages/studio/inbox.ts';
import { insightPage } from '../../../src/messages/studio/insight.ts';
import { type Html, notice, page } from '../../../src/messages/studio/layout.ts';
import { addedLines, runningLog } from '../../../src/messages/studio/log.ts';
import { operationsPage } from '../../../src/messages/studio/operations.ts';
import { pullRequestPage, pullRequestTitle } from '../../../src/messages/studio/pull-request.ts';
import { reportPage } from '../../../src/messages/studio/report.ts';
import { runPage } from '../../../src/messages/studio/run.ts';
import { runListPage } from '../../../src/messages/studio/run-list.ts';
import { settingsPage } from '../../../src/messages/studio/settings.ts';
import { skillsPage } from '../../../src/messages/studio/skills.ts';
import { madeToken, WRONG_TOKEN } from '../../../src/messages/studio/tokens.ts';
import { NOT_FOUND } from '../../../src/messages/studio/words.ts';
import type { EngineHealth } from '../../../src/ports/app-health.ts';
import type { RunLine } from '../../../src/ports/overview.ts';
import { at, HEAD, makeRun } from '../builders.ts';
import { REPORTS } from '../reports.ts';
import { SCENES, type Scene } from '../scenes.ts';

const now = at('13:00');
const acting = { csrf: 'csrf', to: '/acme/shop/pull/7' };
const githubUrl = 'https://github.com';

function scene(name: string): Scene {
  const found = SCENES[name];
  if (!found) throw new Error(`there is no scene "${name}"`);
  return found;
}

const shownReport = {
  period: 30,
  now,
  order: 'attention',
  owner: '',
  owners: ['acme'],
  text: '',
  number: 1,
  isLast: true,
  githubUrl,
} as const;

const DELIVERY = {
  id: 13,
  guid: '0b3f-<1>',
  event: 'pull_request',
  action: 'opened',
  installationId: 7,
  receivedAt: at('12:40'),
  status: 'failed' as const,
  attempts: 3,
  error: 'GitHub <b>was</b> out',
  finishedAt: at('12:45'),
  bodyBytes: 19_666,
};

function delivery(more: Partial<Parameters<typeof deliveryPage>[0]>): Html {
  return deliveryPage({
    delivery: DELIVERY,
    job: undefined,
    reading: { kind: 'no_body' },
    runs: [],
    hasMore: false,
    may: { kind: 'yes', csrf: 'csrf' },
    refused: undefined,
    ...more,
  });
}

const ENGINE: EngineHealth = {
  at: now,
  rateLimits: [
    {
      installationId: undefined,
      hour: undefined,
      graphql: undefined,
      heldUntil: undefined,
      inFlight: 0,
      waiting: { person: 0, run: 0, background: 0 },
    },
    {
      installationId: 7,
      hour: { limit: 5_000, remaining: 12, resetAt: at('13:40') },
      graphql: { limit: 5_000, remaining: 4_900, resetAt: at('13:50') },
      heldUntil: at('13:05'),
      inFlight: 2,
      waiting: { person: 1, run: 0, background: 4 },
    },
  ],
  signedOut: [{ installationId: 8, since: at('12:00'), status: 401 }],
  waiting: [
    ['effect', 3],
    ['wake', 1],
  ],
  slots: { reviews: { slots: 16, busy: 2 }, others: { slots: 16, busy: 0 } },
};

const ASKING = 'waiting for a countersign';

function line({ state: { run } }: Scene, more: Partial<RunLine> = {}): RunLine {
  return {
    ...run,
    changedAt: at('12:30'),
    reasonCode: run.reason?.code ?? null,
    title: 'Give <b>discounts</b>',
    author: { id: 5, login: 'ada' },
    ...more,
  };
}

function pullRequest(name: string, state: 'open' | 'merged' | 'closed' = 'open') {
  const { state: run, approval } = scene(name);
  return pullRequestPage({
    pullRequest: {
      repositoryId: 2,
      repository: 'acme/shop',
      number: 7,
      title: 'Give <b>discounts</b>',
      author: 'ada',
      state,
      stateAt: at('12:40'),
      pausedBy: null,
      headSha: HEAD,
    },
    current: [{ state: run, approval, why: explain(run, approval) }],
    runs: [line(scene(name))],
    hasMore: true,
    others: undefined,
    acting,
    githubUrl,
    now,
  });
}

function inbox(viewer: 'person' | 'anybody', items: Partial<Record<InboxList, InboxItem[]>>, q = '') {
  return inboxPage({
    viewer,
    sections: (['yours', 'others', 'stopped'] as const).map((list) => ({
      list,
      items: items[list] ?? [],
      count: items[list]?.length ?? 0,
      atLeast: false,
      next: undefined,
    })),
    query: { show: undefined, q, repository: '', chain: '', state: '', author: '', within: '' },
    chains: ['pr-review'],
    now,
  });
}

const waiting: InboxItem = {
  line: line(scene(ASKING)),
  sentence: 'Waiting for a maintainer to countersign',
  since: at('12:05'),
  who: 'anybody with **maintain** access or more.',
};
const undone = line(scene(ASKING), { status: 'completed', reasonCode: 'run.completed.not_merged' });

const figures = {
  period: 7,
  now,
  repository: '',
  repositories: [{ id: 2, name: 'acme/shop' }],
  lead: undefined,
  leadByDay: [],
  waited: [],
  countersigned: [],
  rejected: [],
  fixed: 0,
  dismissed: 0,
  notShown: [],
} as const;

const frame = { title: 'Inbox', path: '/', assets: { style: '/s.css', scripts: ['/s.js'] }, nonce: 'nonce' };

const TOKEN: ApiToken = {
  id: 'tok_1',
  name: 'dashboard',
  hash: '',
  scopes: ['read'],
  repositoryIds: [7, 8],
  owner: { id: 1, login: 'mia' },
  createdAt: at('12:00'),
  expiresAt: at('23:00'),
  revokedAt: null,
  usedAt: at('12:40'),
};

const PAGES: Record<string, Html> = {
  'frame for an operator': page({
    ...frame,
    viewer: { kind: 'person', login: 'mia', isOperator: true, csrf: 'csrf' },
    main: html`<h1>Inbox</h1>`,
  }),
  'frame for nobody': page({
    ...frame,
    title: NOT_FOUND.title,
    path: '/no/such/page',
    viewer: { kind: 'nobody', signIn: '/sign-in' },
    main: notice(NOT_FOUND),
  }),
  'account of a person in two browsers': accountPage({
    login: 'mia',
    csrf: 'csrf',
    sessions: [
      { signedInAt: at('12:00'), seenAt: at('12:50'), isThis: true },
      { signedInAt: at('08:00'), seenAt: at('09:00'), isThis: false },
    ],
    made: undefined,
    tokens: {
      tokens: [],
      repositoryNames: new Map(),
      fields: { name: { value: '' }, repositories: { value: 'acme/shop' }, days: '90' },
      refused: undefined,
    },
    now,
  }),
  'account of a person who has just made a token': accountPage({
    login: 'mia',
    csrf: 'csrf',
    sessions: [{ signedInAt: at('12:00'), seenAt: at('12:50'), isThis: true }],
    made: madeToken(TOKEN, 'cst_0000'),
    tokens: {
      tokens: [TOKEN, { ...TOKEN, id: 'tok_2', name: 'old one', revokedAt: at('12:30') }],
      repositoryNames: new Map([[7, 'acme/shop']]),
      fields: {
        name: { value: '', wrong: WRONG_TOKEN.name },
        repositories: { value: 'shop', wrong: WRONG_TOKEN.form('shop') },
        days: '7',
      },
      refused: WRONG_TOKEN.tooManyTokens,
    },
    now,
  }),
  'inbox of a person': inbox('person', {
    yours: [waiting],
    others: [{ ...waiting, cannot: 'wrote the pull request' }],
    stopped: [{ line: undone, sentence: 'CI has not passed: 1 of 2 checks failed', since: at('12:30') }],
  }),
  'inbox without anything': inbox('anybody', {}),
  'inbox with filters that nothing fits': inbox('anybody', {}, 'nothing like it'),
  'pull request that waits for a countersign': pullRequest(ASKING),
  'pull request that waits for CI': pullRequest('waiting for CI'),
  'pull request that is merged': pullRequest('merged', 'merged'),
  'pull request with changes requested': pullRequest('changes requested'),
  'list of runs': runListPage({
    runs: [scene(ASKING).state.run, scene('merged').state.run, scene('changes requested').state.run],
    query: { text: 'acme' },
    next: 'next',
    now,
  }),
  'list of no runs': runListPage({ runs: [], query: {}, next: undefined, now }),
  'list of no runs that match so far': runListPage({
    runs: [],
    query: { text: 'nobody' },
    next: 'next',
    now,
  }),
  'list of no runs that match': runListPage({ runs: [], query: { text: 'nobody' }, next: undefined, now }),
  'list of artifacts': artifactListPage({
    found: {
      runs: [
        {
          run: makeRun(),
          artifacts: [
            {
              id: 'art_1',
              kind: 'review_verdict',
              name: 'Round 1 <i>verdict</i>',
              createdAt: at('12:01'),
              passed: false,
              verdict: 'REQUEST_CHANGES',
            },
          ],
          hasMore: true,
          isDamaged: false,
        },
      ],
      next: undefined,
    },
    query: { failed: '1' },
    next: undefined,
    now,
  }),
  insight: insightPage({
    ...figures,
    lead: { count: 3, median: 3_600, p95: 90_000 },
    leadByDay: [
      { name: '2025-02-24', value: 90_000 },
      { name: '2025-03-01', value: 3_600 },
    ],
    waited: [{ step: 'merge', spread: { count: 3, median: 1_800, p95: 80_000 }, total: 85_000 }],
    countersigned: [{ name: 'mia', value: 3 }],
    fixed: 4,
    dismissed: 1,
    notShown: [
      {
        repositoryId: 2,
        repository: 'acme/shop',
        rule: 'sql/index-locks-writes',
        upTo: 'medium',
        acceptedOn: 3,
        foundOn: 4,
        by: ['mia', 'max'],
      },
    ],
  }),
  'insight without figures': insightPage(figures),
  report: reportPage({ ...shownReport, reports: REPORTS, totals: totalsOf(REPORTS, []) }),
  'report without repositories': reportPage({ ...shownReport, reports: [], totals: totalsOf([], []) }),
  'skills that nobody used': skillsPage({ uses: [], adopted: [], shipped: [] }),
  settings: settingsPage({
    settings: [
      { name: 'PORT', of: 'PORT', from: 'environment', value: { kind: 'text', text: '8080' } },
      { name: 'HOST', of: 'HOST', from: 'default', value: { kind: 'text', text: '0.0.0.0' } },
      { name: 'PUBLIC_URL', of: 'PUBLIC_URL', from: 'default', value: { kind: 'unset' } },
      { name: 'METRICS_TOKEN', of: 'METRICS_TOKEN', from: 'environment', value: { kind: 'secret' } },
      { name: 'OPENAI_API_KEY', of: 'OPENAI_API_KEY', from: 'environment', value: { kind: 'unset' } },
      {
        name: 'COUNTERSIGN_WEBHOOK_TEAM_CHAT',
        of: 'COUNTERSIGN_WEBHOOK_*',
        from: 'environment',
        value: { kind: 'secret' },
      },
    ],
    isOfApp: false,
  }),
  'delivery that waits for GitHub': deliveryPage({
    delivery: { ...DELIVERY, status: 'processing', finishedAt: null },
    job: { at: at('13:05'), attempts: 2, outageSince: at('12:50'), isHeld: false },
    reading: {
      kind: 'events',
      events: [
        {
          kind: 'pr.opened',
          installation_id: 7,
          repository: { id: 2, owner: 'acme', name: 'shop' },
          pull_request: 7,
          action: 'opened',
        },
        { kind: 'installation.gone', installation_id: 7, because: 'suspended' },
      ],
    },
    runs: [scene(ASKING).state.run],
    hasMore: true,
    may: { kind: 'read_only' },
    refused: undefined,
  }),
  'delivery that failed': html`${(['ignored', 'unreadable'] as const).map((kind) =>
    delivery({ reading: { kind, because: 'no <b>number</b>' } }),
  )}`,
  'delivery that cannot be processed again': html`${(
    ['no_body', 'damaged', 'too_large', 'not_connected'] as const
  ).map((kind) =>
    delivery({ reading: { kind } }),
  )}${delivery({ delivery: { ...DELIVERY, bodyBytes: null }, reading: { kind: 'no_body' }, refused: { kind: 'no_body' } })}`,
  'list of deliveries': deliveriesPage({
    found: { items: [DELIVERY], next: 12 },
    query: { status: 'failed', event: undefined, repository: 'acme/"shop"', text: undefined },
  }),
  'list of deliveries that has none yet': deliveriesPage({
    found: { items: [], next: 12 },
    query: { status: undefined, event: undefined, repository: 'acme/shop', text: undefined },
  }),
  'operations while much is wrong': html`${healthPart(
    {
      kind: 'known',
      health: { failures: ['database'], warnings: ['Merging is off.'], silentMs: 65_000, engine: ENGINE },
    },
    'Error: disk <b>full</b>',
  )}${budgetPart(
    { kind: 'known', health: { failures: [], warnings: [], silentMs: 0, engine: ENGINE } },
    new Map([[7, 'acme']]),
  )}`,
  'operations of an app that is well': healthPart(
    { kind: 'known', health: { failures: [], warnings: [], silentMs: 900, engine: ENGINE } },
    undefined,
  ),
  'operations while the engine does not answer': html`${healthPart({ kind: 'no_answer' }, undefined)}${budgetPart({ kind: 'no_answer' }, new Map())}`,
  operations: operationsPage({
    deliveries: { received: 1, processing: 0, done: 98, failed: 2 },
    effects: { pending: 0, done: 22, failed: 1, withheld: 4 },
    jobs: [{ kind: 'wake', due: 1, held: 0, later: 3, retried: 1, outage: 1, oldest: at('12:58') }],
    spending: [],
    fault: undefined,
    health: { kind: 'not_connected' },
    owners: new Map(),
    now,
  }),
  'run that waits for a countersign': runPage(runView(scene(ASKING))),
  'log of a running step': runningLog({
    id: 'lines-ses_1-1',
    end: { text: 'compiling <b>\n\u001b[32m12 tests\u001b[0m passed\n', before: 1_200 },
  }),
  'lines for a running log': addedLines('lines-ses_1-1', 'with \u202e & <script>\n'),
  'answer form and buttons': html`${answerForm(scene(ASKING).state, scene(ASKING).approval, acting)}
${commandButtons(buttonsFor(scene(ASKING).state), actedOn(scene(ASKING).state.run), acting)}`,
  'what became of an answer': html`${askedFor(null)}
${askedFor({ ok: true, text: ANSWERED.reacted('approve', 'mia') })}
${askedFor({ ok: true, text: ANSWERED.reacted('reject', 'mia') })}
${askedFor({ ok: false, text: ANSWERED.refused('Resource <b>not</b> accessible') })}
${(['closed', 'noComment', 'tooOften', 'noAnswer'] as const).map((what) => html`${askedFor({ ok: false, text: ANSWERED[what] })}\n`)}`,
};

function runView({ state, approval }: Scene) {
  return {
    state,
    approval,
    sessions: [],
    attempts: { shown: [], isCut: false },
    past: [],
    isCut: false,
    effects: { shown: [], isCut: false },
    artifacts: { shown: [], isCut: false },
    timeline: timelineOf(state, [], now),
    selected: state.invocations[0],
    logs: [],
    lines: undefined,
    githubUrl,
    seesDeliveries: false,
    acting: undefined,
    now,
  };
}

/** Kept as .txt, because the linter judges .html files as pages. */
describe('what people see in Studio', () => {
  test.each(Object.entries(PAGES))('is unchanged: %s', async (name, shown) => {
    await expect(String(await shown)).toMatchFileSnapshot(
      `snapshots/page-${name.replaceAll(/[^A-Za-z]+/g, '-')}.txt`,
    );
  });

  test('has a title with the name of the pull request first, for narrow tabs', () => {
    const of = { repository: 'acme/shop', number: 7, title: 'Give discounts' };
    expect(pullRequestTitle(of)).toBe('Give discounts · acme/shop#7');
    expect(pullRequestTitle({ ...of, title: null })).toBe('acme/shop#7');
  });
});
