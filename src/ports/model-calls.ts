import type { Amount } from '../domain/model/budget.ts';
import type { Tokens } from '../domain/model/price.ts';

/** A call to a language model that is about to be made. */
export interface NewModelCall {
  runId: string | null;
  sessionId: string | null;
  repositoryId: number | null;
  pullRequest: number | null;
  skill: string | null;
  artifact: string | null;
  /** `provider/model`. */
  model: string;
  /** What counts against the budgets: the most it could take, until it is settled. */
  tokens: number;
  /** The same in millionths of a dollar; `null` when no price is known. */
  cost: number | null;
  startedAt: Date;
}

/** How a call ended. Without `tokens` nobody knows what it took, and what was reserved for it stays counted. */
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
  /** What counts of all calls of a run, of a pull request, or since a moment. Costs that are not known count as none. */
  spent(
    of: { runId: string } | { repositoryId: number; pullRequest: number } | { since: Date },
  ): Promise<Amount>;
  /** In the order in which they were begun. */
  ofRun(runId: string): Promise<ModelCall[]>;
}
