import type { Explanation } from '../../domain/explanation/explanation.ts';
import type { Severity } from '../../domain/outcome/finding.ts';
import type { ReviewVerdict } from '../../domain/outcome/review-verdict.ts';
import type { StepStatus } from '../../domain/run/run.ts';

/** GitHub's eight reactions by their API names. */
const REACTIONS: Readonly<Record<string, string>> = {
  '+1': '👍',
  '-1': '👎',
  laugh: '😄',
  confused: '😕',
  heart: '❤️',
  hooray: '🎉',
  rocket: '🚀',
  eyes: '👀',
};

/** The emoji of a reaction, or its API name if this list does not have it. */
export function reactionEmoji(content: string): string {
  return REACTIONS[content] ?? `:${content.replaceAll(/[^\w+-]/g, '')}:`;
}

export const SEVERITY_MARK: Readonly<Record<Severity, string>> = {
  critical: '🔴',
  high: '🟠',
  medium: '🟡',
  low: '🔵',
  info: '⚪',
};

export const VERDICT_WORDS: Readonly<Record<NonNullable<ReviewVerdict['verdict']>, string>> = {
  APPROVE: 'approved',
  APPROVE_WITH_SUGGESTIONS: 'approved, with suggestions',
  REQUEST_CHANGES: 'changes requested',
  REJECT: 'not acceptable as it is',
};

export const STEP_WORDS: Readonly<Record<StepStatus, { mark: string; words: string }>> = {
  pending: { mark: '⚪', words: 'not started' },
  running: { mark: '🔄', words: 'running' },
  waiting_ci: { mark: '⏳', words: 'waiting for CI' },
  waiting_approval: { mark: '⏳', words: 'waiting for a countersign' },
  waiting_until: { mark: '⏳', words: 'waiting to try again' },
  completed: { mark: '✅', words: 'done' },
  skipped: { mark: '⏭️', words: 'skipped' },
  failed: { mark: '❌', words: 'failed' },
  timed_out: { mark: '⌛', words: 'took too long' },
  cancelled: { mark: '🚫', words: 'cancelled' },
};

export const WHY_MARK: Readonly<Record<Explanation['status'], string>> = {
  met: '✅',
  pending: '⏳',
  unmet: '❌',
  unknown: '❔',
};

/** `1 file`, `3,000 files`. */
export function plural(count: number, one: string, many = `${one}s`): string {
  // Node needs 10 ms for the first use of its locales, a third of the time that many commands take.
  const number = count < 1_000 ? String(count) : count.toLocaleString('en-GB');
  return `${number} ${count === 1 ? one : many}`;
}

/** `a`, `a or b`, `a, b or c`. */
export function listed(words: readonly string[], last: 'and' | 'or'): string {
  return words.length < 2
    ? (words[0] ?? '')
    : `${words.slice(0, -1).join(', ')} ${last} ${words[words.length - 1]}`;
}

/** The first seven characters of a commit's hash. */
export function short(sha: string): string {
  return sha.slice(0, 7);
}

/** The text with an upper-case first letter. */
export function capital(text: string): string {
  const [first = ''] = text;
  return first.toUpperCase() + text.slice(first.length);
}

/**
 * The text as a sentence: with an upper-case first letter, and a full stop unless it ends with another mark.
 */
export function asSentence(text: string): string {
  const sentence = capital(text.trim());
  return /[.!?…]$/.test(sentence) ? sentence : `${sentence}.`;
}

/** `2025-03-01 12:05 UTC`, with the zone because readers are in all time zones. */
export function utc(moment: Date): string {
  return `${moment.toISOString().slice(0, 16).replace('T', ' ')} UTC`;
}

/**
 * The text truncated to this many characters, with an ellipsis if it was cut. Never splits a surrogate pair.
 */
export function clip(text: string, letters: number): string {
  if (text.length <= letters) return text;
  const points = Array.from(text.slice(0, letters * 2));
  return points.length <= letters && text.length <= letters * 2
    ? text
    : `${points.slice(0, letters - 1).join('')}…`;
}
