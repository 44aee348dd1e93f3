import { formatModelName } from '../../../domain/model/name.ts';
import { describeFailure } from '../../../messages/skills/model.ts';
import type { Answer, Model, Purpose, Question, Spent } from '../../../ports/model.ts';
import type { ArtifactOutput } from '../handler.ts';
import type { Owner } from '../skill-context.ts';

/** The prompts and answers of one execution. */
export interface Asked {
  prompts: string[];
  /** The answers as they arrived, or the reason why there was none. */
  answers: string[];
  model: string | null;
  tokens: Spent['tokens'];
  cost: Spent['cost'];
}

export interface ModelWatch {
  /** The model for handlers; `undefined` if there is none. */
  model: Model | undefined;
  /** The same model without the watch, for questions about an execution that do not belong to it. */
  unwatched: Model | undefined;
  /**
   * Records the calls under this owner's session until the work is done. In nested work, the innermost
   * records.
   */
  during<T>(owner: Owner, work: (asked: Asked) => Promise<T>): Promise<T>;
}

/**
 * Wraps the model of all handlers, so that no handler must report its calls. A call's purpose says which
 * execution it belongs to. Rejected: `AsyncLocalStorage`, because calls from a long-lived process would be
 * attributed to the execution that started it.
 */
export function watchModel(model: Model | undefined): ModelWatch {
  const open = new Map<string, { owner: Owner; asked: Asked }>();

  return {
    unwatched: model,
    model: model && {
      name: model.name,
      async ask<T>(question: Question<T>): Promise<Answer<T>> {
        const found = open.get(question.purpose.sessionId ?? '');
        if (!found) return model.ask(question);
        const { owner, asked } = found;
        asked.prompts.push(question.prompt);
        asked.model = formatModelName(model.name);
        const answer = await model.ask({ ...question, purpose: storedPurpose(owner, question.purpose) });
        asked.answers.push(textOf(answer));
        count(asked, answer.spent);
        return answer;
      },
    },

    async during(owner, work) {
      const session = sessionOf(owner);
      const asked: Asked = {
        prompts: [],
        answers: [],
        model: null,
        tokens: { input: 0, output: 0 },
        cost: 0,
      };
      const around = open.get(session);
      open.set(session, { owner, asked });
      try {
        return await work(asked);
      } finally {
        if (around) open.set(session, around);
        else open.delete(session);
      }
    },
  };
}

/** The session under which its calls are recorded. A call in a comment uses its own id. */
function sessionOf(owner: Owner): string {
  return 'callId' in owner ? owner.callId : owner.sessionId;
}

/** The purpose for rows about a call: a question in a comment has neither run nor session. */
export function storedPurpose(owner: Owner, purpose: Purpose): Purpose {
  return 'callId' in owner ? { ...purpose, runId: null, sessionId: null } : purpose;
}

function textOf(answer: Answer<unknown>): string {
  const { said } = answer;
  if (answer.kind === 'answered') return said ?? JSON.stringify(answer.value);
  return said ?? describeFailure(answer.failure);
}

/** Adds calls that did not pass through the watched model. */
export function addTo(asked: Asked, { model, prompt, spent }: NonNullable<ArtifactOutput['asked']>): void {
  asked.prompts.push(prompt);
  asked.model = model;
  count(asked, spent);
}

function count(asked: Asked, spent: Spent): void {
  asked.tokens =
    asked.tokens && spent.tokens
      ? { input: asked.tokens.input + spent.tokens.input, output: asked.tokens.output + spent.tokens.output }
      : null;
  asked.cost = asked.cost === null || spent.cost === null ? null : asked.cost + spent.cost;
}
