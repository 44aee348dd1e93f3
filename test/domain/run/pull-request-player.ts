import type { Chain } from '../../../src/domain/chain/chain.ts';
import { reason } from '../../../src/domain/explanation/reason.ts';
import { newerRun, type PullRequestNow, planRuns } from '../../../src/domain/run/plan.ts';
import { isRunOver, type Run } from '../../../src/domain/run/run.ts';
import {
  at,
  countingIds,
  manualEvent,
  pullRequestNow,
  REPOSITORY,
  runState,
} from '../../support/builders.ts';

/** A pull request with its runs: things happen to it, and `look` carries out what is planned for its current state. */
export class PullRequestPlayer {
  now: PullRequestNow = pullRequestNow();
  chains: Chain[];
  /** Newest first, as storage lists them. */
  runs: Run[] = [];
  readonly #ids = countingIds();

  constructor(...chains: Chain[]) {
    this.chains = chains;
  }

  becomes(change: Partial<PullRequestNow>): this {
    this.now = { ...this.now, ...change };
    return this;
  }

  /** What a delivery about this pull request leads to, such as `cancel run_1 …` or `begin review`. */
  look(): string[] {
    const { cancel, begin } = planRuns(this.now, this.chains, this.runs, REPOSITORY);
    for (const { runId, reason: because } of cancel) {
      this.#change(runId, { status: 'cancelled', reason: because });
    }
    for (const chain of begin) this.#begin(chain);
    return [
      ...cancel.map(({ runId, reason: because }) => `cancel ${runId} ${because.code}: ${because.summary}`),
      ...begin.map((chain) => `begin ${chain.name}`),
    ];
  }

  /** The newest run of the chain, or of any chain, ends by itself or by a person. */
  ends(status: 'completed' | 'failed' | 'by_person' | 'aborted', chainName?: string): this {
    const run = this.runs.find((candidate) => chainName === undefined || candidate.chain === chainName);
    if (!run || isRunOver(run.status)) return this;
    if (status === 'by_person') {
      this.#change(run.id, {
        status: 'cancelled',
        reason: reason('run.cancelled.by_person', 'cancelled by mia'),
      });
    } else if (status === 'aborted') {
      this.#change(run.id, {
        status,
        reason: reason('run.aborted.installation_gone', 'the app was removed'),
      });
    } else {
      this.#change(run.id, {
        status,
        reason: reason(status === 'failed' ? 'run.failed.step' : 'run.completed', status),
      });
    }
    return this;
  }

  /** A person fires a chain by hand, which ends an unfinished run of it. */
  fireByHand(chain: Chain): this {
    for (const run of this.unfinished.filter((candidate) => candidate.chain === chain.name)) {
      this.#change(run.id, {
        status: 'cancelled',
        reason: newerRun({ id: 'newer', chain: chain.name }, 'mia'),
      });
    }
    this.#begin(chain, { event: manualEvent(chain.name) });
    return this;
  }

  get unfinished(): Run[] {
    return this.runs.filter((run) => !isRunOver(run.status));
  }

  #begin(chain: Chain, more: Partial<Run> = {}): void {
    const { headSha, baseRef } = this.now;
    const { run } = runState(chain, { headSha, baseRef, ...more }, this.#ids);
    this.runs = [run, ...this.runs];
  }

  #change(runId: string, change: Partial<Run>): void {
    this.runs = this.runs.map((run) =>
      run.id === runId ? { ...run, ...change, finishedAt: at(0), updatedAt: at(0) } : run,
    );
  }
}
