import { unreachable } from '../../core/errors.ts';
import { redact } from '../../core/redact/redact.ts';
import type { BudgetScope, Exceeded } from '../../domain/model/budget.ts';
import { formatModelName, type ModelName } from '../../domain/model/name.ts';
import type { Failure, Spent } from '../../ports/model.ts';
import { visible } from '../text/markdown.ts';
import { plural } from '../text/pretty.ts';

const LONGEST_DETAIL = 300;

/** Why a question to a model failed, as one sentence. */
export function describeFailure(failure: Failure): string {
  switch (failure.kind) {
    case 'no_budget':
      return noBudget(failure.exceeded);
    case 'prompt_too_large':
      return `The prompt has ${count(failure.bytes)} bytes, and at most ${count(failure.limit)} are sent.`;
    case 'unauthorized':
      return `The provider does not accept the key${withDetail(failure.detail)}.`;
    case 'rejected':
      return `The provider does not accept the question (status ${failure.status})${withDetail(failure.detail)}.`;
    case 'rate_limited':
      return `The provider’s limit of calls is reached${withDetail(failure.detail)}.`;
    case 'unavailable':
      return `The provider has an error of its own (status ${failure.status})${withDetail(failure.detail)}.`;
    case 'unreachable':
      return `The connection to the provider failed${withDetail(failure.detail)}.`;
    case 'unreadable':
      return `What answered does not speak the provider’s protocol${withDetail(failure.detail)}.`;
    case 'timed_out':
      return 'The model gave no whole answer in time.';
    case 'too_large':
      return `The provider sent more than ${count(failure.limit)} bytes, which are not read.`;
    case 'cut_off':
      return `The answer is longer than ${count(failure.limit)} tokens, and was cut off there.`;
    case 'broken_off':
      return `The provider ended the answer before it was whole: ${quoted(failure.reason)}.`;
    case 'declined':
      return 'The model, or a filter of its provider, declined to answer.';
    case 'tool_call':
      return `It called the tool ${quoted(failure.tool)}, and there are no tools.`;
    case 'empty':
      return 'The answer is empty.';
    case 'not_json':
      return 'The answer is not one JSON value.';
    case 'wrong_shape':
      return `The answer does not have the shape that was asked for: ${shown(failure.detail)}.`;
    default:
      return unreachable(failure);
  }
}

const SCOPE_WORDS: Readonly<Record<BudgetScope, string>> = {
  run: 'this run',
  pull_request: 'this pull request',
  day: 'today (UTC)',
};

function noBudget({ scope, unit, limit, spent, needed }: Exceeded): string {
  const amount = unit === 'tokens' ? (value: number) => `${count(value)} tokens` : dollars;
  return (
    `The budget for language models is spent: ${amount(limit)} are allowed for ${SCOPE_WORDS[scope]}, ` +
    `${amount(spent)} are counted, and this call could take ${amount(needed)}.`
  );
}

/** The usage of the calls for one answer: `openai/gpt-5: 1 call, 1,200 tokens in, 310 out, $0.0046`. */
export function spentOnModel(name: ModelName, { calls, tokens, cost }: Spent): string {
  const taken = tokens
    ? `${count(tokens.input)} tokens in, ${count(tokens.output)} out`
    : 'tokens not told by the provider';
  return `${formatModelName(name)}: ${plural(calls, 'call')}, ${taken}, ${cost === null ? 'cost unknown' : dollars(cost)}`;
}

/** Logged at the start. */
export function modelSummary(model: { name: ModelName; price: object | undefined } | undefined): string {
  if (!model) {
    return 'no language model is configured (COUNTERSIGN_MODEL): steps that need one fail and say so, everything else works';
  }
  const unpriced = model.price
    ? ''
    : '; no price is known for it (COUNTERSIGN_MODEL_PRICE), so costs are unknown and budgets are held in tokens only';
  return `the language model is ${formatModelName(model.name)}${unpriced}`;
}

export const NO_MODEL = 'It needs a language model, and none is configured: set COUNTERSIGN_MODEL.';

function withDetail(detail: string): string {
  const words = shown(detail);
  return words === '' ? '' : `: ${words}`;
}

/** A line for those who watch a review. */
export function questionEnded(ended: number, all: number): string {
  return `model: ${ended} of ${plural(all, 'question')} ended\n`;
}

function quoted(text: string): string {
  return `“${shown(text)}”`;
}

/** Untrusted text within a sentence: on one line, redacted and shortened. */
function shown(text: string): string {
  const line = visible(redact(text).replaceAll(/\s+/g, ' ')).trim().replace(/\.$/, '');
  return line.length <= LONGEST_DETAIL ? line : `${line.slice(0, LONGEST_DETAIL - 1)}…`;
}

function count(value: number): string {
  return value.toLocaleString('en');
}

/** @param millionths of a dollar */
function dollars(millionths: number): string {
  return `$${(millionths / 1_000_000).toFixed(millionths % 10_000 === 0 ? 2 : 4)}`;
}
