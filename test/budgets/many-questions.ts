import type { Log } from '../../src/core/log.ts';
import type { Storage } from '../../src/ports/storage.ts';
import { A_RECHECK, MERGE_ONLY, open } from '../scenario/support.ts';
import { type Harness, startHarness } from '../support/harness.ts';

/** An app with many open questions. */
export interface ManyQuestions {
  harness: Harness;
  /** The pull request whose question is real. */
  number: number;
  /** Counts from now on. */
  reset(): void;
  figures(): { polls: number; rechecks: number; transactions: number; others: string[] };
}

interface Options {
  /** The age of the questions that are copied, in milliseconds; that of the copies if left out. */
  realAge?: number;
  /** Each has the same share of the questions. */
  installations?: number;
}

/**
 * Copies an asked question of each installation so often. All its copies watch the same comment, which GitHub shows for each of them, but
 * belong to another repository, so that no event reaches them.
 * @param count of all installations together
 * @param age of the copies, in milliseconds
 */
export async function manyQuestions(
  count: number,
  age: number,
  { realAge = age, installations = 1 }: Options = {},
): Promise<ManyQuestions> {
  let transactions = 0;
  let rechecks = 0;
  const files = { '.github/countersign/chains/pr-review.yaml': MERGE_ONLY };
  const harness = await startHarness({
    files,
    storage: (real) => counting(real, () => transactions++),
    log: countingRechecks(() => rechecks++),
  });
  const { github, clock } = harness;
  const others = Array.from({ length: installations - 1 }, (_, index) => `octo-${index + 2}`);
  for (const owner of others) {
    github.addOrganization(owner);
    const collaborators = { mia: 'maintain', ada: 'write' } as const;
    github.addRepository({ owner, name: 'app', files: { 'README.md': '# App\n', ...files }, collaborators });
    github.installApp(owner);
  }
  const { number } = await open(harness);
  for (const owner of others) await open(harness, { repo: `${owner}/app` });
  await harness.advance(A_RECHECK);
  for (const owner of ['octo', ...others]) await copyQuestion(owner, count / installations);

  async function copyQuestion(owner: string, times: number): Promise<void> {
    const { storage } = harness.app;
    const [run] = await storage.read.runs.list({ repository: `${owner}/app` });
    const state = run && (await storage.read.runs.load(run.id));
    const [approval] = run ? await storage.read.approvals.ofRun(run.id) : [];
    if (!run || !state || !approval?.watch) throw new Error(`nobody was asked in ${owner}/app`);
    const asked = (ago: number) => new Date(clock.now().getTime() - ago);
    await storage.transaction(async (tx) => {
      await tx.approvals.save({ ...approval, askedAt: asked(realAge) });
      for (let copy = 0; copy < times; copy++) {
        const id = `${run.id}-copy${copy}`;
        const own = (invocation: string) => `${invocation}-copy${copy}`;
        await tx.runs.insert({
          run: { ...run, id, repositoryId: 999, repository: 'octo/elsewhere' },
          invocations: state.invocations.map((step) => ({ ...step, id: own(step.id), runId: id })),
        });
        const { invocationId } = approval;
        await tx.approvals.insert({
          ...approval,
          id: own(approval.id),
          runId: id,
          invocationId: own(invocationId),
          askedAt: asked(age),
        });
      }
    });
  }

  await harness.restart();
  let from = 0;
  return {
    harness,
    number,
    reset() {
      from = github.requests.length;
      transactions = 0;
      rechecks = 0;
    },
    figures() {
      const sent = github.requests.slice(from);
      return {
        polls: sent.filter(({ path }) => path === '/graphql').length,
        rechecks,
        transactions,
        others: sent
          .map(({ method, path }) => `${method} ${path}`)
          .filter((request) => !/\/graphql|\/app\/|installation|\/pulls\?|access_tokens/.test(request)),
      };
    },
  };
}

function counting(real: Storage, onTransaction: () => void): Storage {
  return new Proxy(real, {
    get(target, name) {
      const value: unknown = Reflect.get(target, name);
      if (typeof value !== 'function') return value;
      if (name === 'transaction') onTransaction();
      return value.bind(target);
    },
  });
}

function countingRechecks(onRecheck: () => void): Log {
  const none = () => undefined;
  const debug = (_: unknown, message: string) => {
    if (message === 'attempted a step') onRecheck();
  };
  return { debug, info: none, warn: none, error: none };
}
