import { beforeEach, expect, test } from 'vitest';
import { silentLog } from '../../../src/core/log.ts';
import type { Step } from '../../../src/domain/chain/chain.ts';
import type { QuestionWatch } from '../../../src/domain/policy/question-watch.ts';
import { createQuestionPoller, type QuestionPoller } from '../../../src/engine/approvals/question-poller.ts';
import type { GitHub } from '../../../src/ports/github.ts';
import type { NewJob } from '../../../src/ports/jobs.ts';
import type { Queue } from '../../../src/ports/queue.ts';
import type { Storage } from '../../../src/ports/storage.ts';
import { ManualClock } from '../../support/clock.ts';

const INSTALLATION = 7;

let clock: ManualClock;
/** The open questions in the database. */
let open: { id: string; askedAt: Date }[];
/** What happens while the list is read from the database, after the database has answered. */
let afterReading: () => void;
let polled: string[][];
let rechecks: NewJob[];
let poller: QuestionPoller;

const watchOf = (id: string): QuestionWatch => ({
  node_id: id,
  counted: ['rocket'],
  reactions: '',
  body: '',
  pull_request: { open: true, draft: false, head_sha: 'a', base_ref: 'main', conflicts: false },
});

beforeEach(() => {
  clock = new ManualClock('2026-03-02T09:00:00.000Z');
  open = [];
  afterReading = () => {};
  polled = [];
  rechecks = [];
  const storage = {
    read: {
      approvals: {
        watched: async () => {
          const rows = [...open];
          afterReading();
          return rows;
        },
        stillWatched: async (ids: readonly string[]) =>
          open
            .filter(({ id }) => ids.includes(id))
            .map(({ id }) => ({ id, watch: watchOf(id), sessionId: `session of ${id}` })),
      },
      runs: {
        getSession: async (id: string) => ({
          invocation: { stepIndex: 0 },
          state: { run: { definition: { steps: [{ id }] } } },
        }),
      },
    },
    transaction: (work: (tx: object) => Promise<unknown>) => work({}),
  } as unknown as Storage;
  const reader = {
    polledComments: async (ids: readonly string[]) => {
      polled.push([...ids]);
      return ids.map(() => undefined);
    },
  };
  const github = { reader: () => reader } as unknown as GitHub;
  const queue = {
    enqueue: async (_: object, ...jobs: NewJob[]) => void rechecks.push(...jobs),
  } as unknown as Queue;
  const isReview = ({ id }: Step) => id === 'session of review';
  poller = createQuestionPoller({ storage, github, queue, isReview, clock, log: silentLog });
});

const turn = () => poller.jobs.run({ installation_id: INSTALLATION }, new AbortController().signal);

function ask(id: string): { id: string; askedAt: Date } {
  const question = { id, askedAt: clock.now() };
  open.push(question);
  return question;
}

test('a question that is asked while the list of questions is read is polled too', async () => {
  ask('first');
  afterReading = () => poller.watch(ask('second'), INSTALLATION);
  await turn();
  afterReading = () => {};
  clock.advance(10_000);
  await turn();
  expect(polled.flat().sort()).toEqual(['first', 'second']);
});

test('a question that another process has asked is polled once the installation is worked on here again', async () => {
  ask('first');
  await turn();
  ask('second');
  poller.forget([INSTALLATION]);
  await turn();
  clock.advance(10_000);
  await turn();
  expect(polled.flat().sort()).toEqual(['first', 'second']);
});

test('a step that reviews once it is answered is rechecked in a slot for reviews', async () => {
  for (const id of ['merge', 'review']) ask(id);
  await turn();
  clock.advance(10_000);
  await turn();
  expect(rechecks.map(({ kind, key }) => [kind, key])).toEqual([
    ['session', 'session:session of merge'],
    ['review', 'session:session of review'],
  ]);
});

test('GraphQL that shows none of many questions causes no burst of rechecks', async () => {
  for (let n = 0; n < 300; n++) ask(`question ${n}`);
  const end = clock.now().getTime() + 20_000;
  while (clock.now().getTime() < end) {
    const next = await turn();
    if (next.kind === 'reschedule') clock.moveTo(next.at);
  }
  expect(rechecks.length).toBeGreaterThan(0);
  expect(rechecks.length).toBeLessThanOrEqual(100);
});
