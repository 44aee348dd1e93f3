import { formatModelName } from '../../../domain/model/name.ts';
import { describeFailure } from '../../../messages/skills/model.ts';
import type { Answer, Model, Purpose, Question, Spent } from '../../../ports/model.ts';
import type { ArtifactOutput } from '../handler.ts';
import type { Owner } from '../skill-context.ts';

/** What one execution asked of models, and what they said. */
export interface Asked {
  prompts: string[];
  /** The answers as they came; for one that did not come, why. */
  answers: string[];
  model: string | null;
  tokens: Spent['tokens'];
  cost: Spent['cost'];
}

export interface ModelWatch {
  /** The model as handlers are given it; `undefined` when there is none. */
  model: Model | undefined;
  /** The same unwatched, for questions about an execution that are no part of it. */
  apart: Model | undefined;
  /** Notes what is asked under this purpose's session until the work is done; of works within each other, for the innermost. */
  during<T>(owner: Owner, work: (asked: Asked) => Promise<T>): Promise<T>;
}

/**
 * Watches over the model of all handlers, so that none of them has to tell what it asked. Whose question it is, its purpose says: the
 * runtime's own way of carrying things along (`AsyncLocalStorage`) was rejected, since questions that come from a process of long
 * life would count for whoever started that.
 */
export function watchModel(model: Model | undefined): ModelWatch {
  const open = new Map<string, { owner: Owner; asked: Asked }>();

  return {
    apart: model,
    model: model && {
      name: model.name,
      async ask<T>(question: Question<T>): Promise<Answer<T>> {
        const found = open.get(question.purpose.sessionId ?? '');
        if (!found) return model.ask(question);
        const { owner, asked } = found;
        asked.prompts.push(question.prompt);
        asked.model = formatModelName(model.name);
        const answer = await model.ask({ ...question, purpose: inNameOf(owner, question.purpose) });
        asked.answers.push(wordsOf(answer));
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

/** By which name its questions are known: a call gives its own in the place of a session's. */
function sessionOf(owner: Owner): string {
  return 'callId' in owner ? owner.callId : owner.sessionId;
}

/** What the rows about a question may name: of a call, there is neither run nor session. */
export function inNameOf(owner: Owner, purpose: Purpose): Purpose {
  return 'callId' in owner ? { ...purpose, runId: null, sessionId: null } : purpose;
}

function wordsOf(answer: Answer<unknown>): string {
  const { said } = answer;
  if (answer.kind === 'answered') return said ?? JSON.stringify(answer.value);
  return said ?? describeFailure(answer.failure);
}

/** Counts what was asked on another way than through the watched model. */
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
