import type { Outcome } from '../../domain/outcome/outcome.ts';
import { reviewCard } from '../cards/review-card.ts';
import { statedCard } from '../cards/stated-card.ts';
import { code, inline, prose, proseWithoutCommits } from '../text/markdown.ts';
import { asSentence, plural } from '../text/pretty.ts';
import { commandReply } from './command-reply.ts';

/** The reply to a question in a comment, as Markdown. */
export interface AskReply {
  /** Whether the question was answered. It decides between 🎉 and 😕. */
  ok: boolean;
  text: string;
}

const MAX_LINES = 60;
const MAX_LINE = 1_000;
const MAX_CRITERIA = 20;

const notOk = (text: string): AskReply => ({ ok: false, text });

export const CLOSED = notOk('The pull request is closed, so questions about it are not answered.');
export const HEAD_MOVED = notOk('Somebody pushed meanwhile. To ask about the new head, ask again.');
export const NOT_CONFIGURED = notOk(
  'The settings on the governing branch cannot be read, so Countersign does not know which skills exist.',
);
export const GAVE_UP = notOk(
  'Countersign could not answer: several attempts failed. The log of the server has the errors.',
);

/** @param because untrusted text, from a model, a skill or GitHub */
export function notAnswered(because: string): AskReply {
  return notOk(answerLines(asSentence(because)));
}

/** The model's own answer, without a skill. */
export function directAnswer(text: string): AskReply {
  return {
    ok: true,
    text: `${answerLines(text)}\n\n<sub>Answered by the language model, which did not see the change.</sub>`,
  };
}

/** The outcome of a skill, and why that skill was chosen. */
export function outcomeAnswer(
  { skill, because }: { skill: string; because: string },
  outcome: Outcome,
): AskReply {
  const why = `<sub>By the skill ${code(skill)}: ${inline(because, 300)}. This is only an answer: it changes nothing in any run.</sub>`;
  return { ok: true, text: `${outcomeText(outcome)}\n\n${why}` };
}

function outcomeText(outcome: Outcome): string {
  switch (outcome.outcome_kind) {
    case 'review_verdict':
      return `${prose(outcome.summary, MAX_LINE)}\n\n${reviewCard(outcome, 'not listed here').markdown}`;
    case 'gate_verdict': {
      const { summary, gate_passed, criteria } = outcome;
      const shown = criteria.slice(0, MAX_CRITERIA).map(({ passed, description, evidence }) => {
        const evidenceText = evidence === '' ? '' : ` – ${prose(evidence, 300)}`;
        return `- ${passed ? '✅' : '❌'} ${prose(description, 300)}${evidenceText}`;
      });
      const left = criteria.length - shown.length;
      const rest = left > 0 ? [`- … and ${plural(left, 'more criterion', 'more criteria')}`] : [];
      return [`${gate_passed ? '✅' : '❌'} ${prose(summary, MAX_LINE)}`, ...shown, ...rest].join('\n');
    }
    case 'ci_result':
    case 'action_result':
      return prose(outcome.summary, MAX_LINE);
    default:
      return statedCard(outcome);
  }
}

/** The comment with the reply, separate from the reply to other commands of the same comment. */
export function answerComment(commentId: number, { text }: AskReply): { marker: string; body: string } {
  return commandReply(`${commentId} question`, [{ ok: true, text }]);
}

/** Text of several lines, each encoded separately, so that headings and lists in it stay plain text, and commits no links. */
export function answerLines(text: string): string {
  const all = text.split(/\r\n?|\n/);
  const shown = all.slice(0, MAX_LINES).map((line) => proseWithoutCommits(line, MAX_LINE));
  return [...shown, ...(all.length > MAX_LINES ? ['…'] : [])].join('\n');
}
