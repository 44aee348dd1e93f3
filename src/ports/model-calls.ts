import type { Amount } from '../domain/model/budget.ts';
import type { Tokens } from '../domain/model/price.ts';

/** A language model call that is about to be made. */
export interface NewModelCall {
  runId: string | null;
  sessionId: string | null;
  repositoryId: number | null;
  pullRequest: number | null;
  skill: string | null;
  artifact: string | null;
  /** `provider/model`. */
  model: string;
  /** Counts against the budgets: the maximum that the call could use, until it ends. */
  tokens: number;
  /** The same in millionths of a dollar; `null` if the price is unknown. */
  cost: number | null;
  startedAt: Date;
}

/** The end of a call. Without `tokens` its usage is unknown, and the reserved maximum stays counted. */
export interface ModelCallEnd {
  tokens: Tokens | null;
  cost: number | null;
  completedAt: Date;
  error: string | null;
}

export interface ModelCall extends NewModelCall {
  id: number;
  tokensIn: number | null;
  tokensOut: number | null;
  completedAt: Date | null;
  error: string | null;
}

export interface ModelCalls {
  begin(call: NewModelCall): Promise<number>;
  end(id: number, end: ModelCallEnd): Promise<void>;
  /**
   * The counted usage of all calls of a run, of a pull request, or since a time. Unknown costs count as 0.
   */
  spent(
    of: { runId: string } | { repositoryId: number; pullRequest: number } | { since: Date },
  ): Promise<Amount>;
  /** In the order of their starts. */
  ofRun(runId: string): Promise<ModelCall[]>;
}
