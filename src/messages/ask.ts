import type { Outcome } from '../domain/outcome/outcome.ts';
import { commandReply } from './command-reply.ts';
import { code, inline, prose } from './markdown.ts';
import { asSentence, plural } from './pretty.ts';
import { reviewCard } from './review-card.ts';

/** An answer to a question in a comment, as Markdown. */
export interface Said {
  /** Whether the question was answered: decides between 🎉 and 😕. */
  ok: boolean;
  text: string;
}

const MAX_LINES = 60;
const MAX_LINE = 1_000;
const MAX_CRITERIA = 20;

const no = (text: string): Said => ({ ok: false, text });

export const CLOSED = no('The pull request is closed, so there is nothing to ask of it.');
export const HEAD_MOVED = no('Somebody pushed meanwhile; ask again if you mean the new head.');
export const NOT_CONFIGURED = no(
  'The settings on the base branch cannot be read, so it is not known which skills there are.',
);
export const GAVE_UP = no(
  'That could not be answered: something went wrong several times, and the log says what.',
);

/** @param because from anywhere: a model, a skill, GitHub */
export function notAnswered(because: string): Said {
  return no(lines(asSentence(because)));
}

/** What the model said by itself. */
export function directAnswer(text: string): Said {
  return {
    ok: true,
    text: `${lines(text)}\n\n<sub>Said by the language model, which did not see the change.</sub>`,
  };
}

/** What a skill came to, and why it was that one. */
export function outcomeAnswer(
  { skill, because }: { skill: string; because: string },
  outcome: Outcome,
): Said {
  const why = `<sub>By the skill ${code(skill)}: ${inline(because, 300)}. It is an answer, and no step of a chain: nothing waits for it.</sub>`;
  return { ok: true, text: `${outcomeText(outcome)}\n\n${why}` };
}

function outcomeText(outcome: Outcome): string {
  switch (outcome.outcome_kind) {
    case 'review_verdict':
      return `${prose(outcome.summary, MAX_LINE)}\n\n${reviewCard(outcome, 'not listed here').markdown}`;
    case 'gate_verdict': {
      const { summary, gate_passed, criteria } = outcome;
      const shown = criteria.slice(0, MAX_CRITERIA).map(({ passed, description, evidence }) => {
        const said = evidence === '' ? '' : ` – ${prose(evidence, 300)}`;
        return `- ${passed ? '✅' : '❌'} ${prose(description, 300)}${said}`;
      });
      const left = criteria.length - shown.length;
      const rest = left > 0 ? [`- … and ${plural(left, 'more criterion', 'more criteria')}`] : [];
      return [`${gate_passed ? '✅' : '❌'} ${prose(summary, MAX_LINE)}`, ...shown, ...rest].join('\n');
    }
    case 'ci_result':
    case 'action_result':
      return prose(outcome.summary, MAX_LINE);
  }
}

/** The comment that answers, beside the reply to other commands of the same comment. */
export function answerComment(commentId: number, { text }: Said): { marker: string; body: string } {
  return commandReply(`${commentId} question`, [{ ok: true, text }]);
}

/** Text of several lines, each encoded for itself: what it writes as a heading or a list is text. */
function lines(text: string): string {
  const all = text.split(/\r\n?|\n/);
  const shown = all.slice(0, MAX_LINES).map((line) => prose(line, MAX_LINE));
  return [...shown, ...(all.length > MAX_LINES ? ['…'] : [])].join('\n');
}
