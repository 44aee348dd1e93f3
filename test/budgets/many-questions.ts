import type { Log } from '../../src/core/log.ts';
import type { Storage } from '../../src/ports/storage.ts';
import { A_RECHECK, MERGE_ONLY, open } from '../scenario/support.ts';
import { type Harness, startHarness } from '../support/harness.ts';

/** An app with many open questions in one installation. */
export interface ManyQuestions {
  harness: Harness;
  /** The pull request whose question is real. */
  number: number;
  /** Counts from now on. */
  reset(): void;
  figures(): { polls: number; rechecks: number; transactions: number; others: string[] };
}

/**
 * Copies an asked question so often. All copies watch the same comment, which GitHub shows for each of them, but belong to
 * another repository, so that no event reaches them.
 * @param realAge the age of the question that is copied; that of the copies if left out
 */
export async function manyQuestions(count: number, age: number, realAge = age): Promise<ManyQuestions> {
  let transactions = 0;
  let rechecks = 0;
  const harness = await startHarness({
    files: { '.github/countersign/chains/pr-review.yaml': MERGE_ONLY },
    storage: (real) => counting(real, () => transactions++),
    log: countingRechecks(() => rechecks++),
  });
  const { github, clock } = harness;
  const { number } = await open(harness);
  await harness.advance(A_RECHECK);
  const { storage } = harness.app;
  const [run] = await storage.read.runs.list({ pullRequest: number });
  const state = run && (await storage.read.runs.load(run.id));
  const [approval] = run ? await storage.read.approvals.ofRun(run.id) : [];
  if (!run || !state || !approval?.watch) throw new Error('nobody was asked');
  const asked = (ago: number) => new Date(clock.now().getTime() - ago);
  await storage.transaction(async (tx) => {
    await tx.approvals.save({ ...approval, askedAt: asked(realAge) });
    for (let copy = 0; copy < count; copy++) {
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
