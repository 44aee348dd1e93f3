import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Tokens } from '../../../src/domain/model/price.ts';
import { createModel } from '../../../src/engine/models/ask.ts';
import type { Ledger } from '../../../src/engine/models/ledger.ts';
import type { Model, Provider, ProviderRequest, Reply } from '../../../src/ports/model.ts';
import { tokensOf } from '../../../src/skills/builtin/review/model/budget.ts';
import { promptHash, type RecordedAnswer, type Recording } from './recording.ts';

/** Which prompt of which pull request is asked. */
export interface Slot {
  pullRequest: string;
  prompt: string;
}

/** What answers a question: a recording, a provider, or somebody who reads the prompts. */
export type AnswerSource = (
  slot: Slot,
  request: ProviderRequest,
  signal: AbortSignal,
) => Promise<Reply & { /** How long it took, if somebody measured it. */ ms?: number }>;

const NOT_ANSWERED: Reply = {
  kind: 'failed',
  failure: { kind: 'broken_off', reason: 'no answer is recorded' },
  tokens: { input: 0, output: 0 },
};

/** What became of a question in a replay. */
export interface Replayed extends Slot {
  state: 'current' | 'of an older prompt' | 'missing';
  tokens: Tokens;
  /** `null` if it is not known. */
  ms: number | null;
}

/**
 * Answers with what was recorded, also if the prompt has changed since: the report says how many answers that concerns.
 * @param onAnswer called for each question
 */
export function replay({ answers }: Recording, onAnswer: (replayed: Replayed) => void): AnswerSource {
  return async (slot, request) => {
    const found = answers[slot.pullRequest]?.[slot.prompt];
    if (!found) {
      onAnswer({ ...slot, state: 'missing', tokens: { input: 0, output: 0 }, ms: null });
      return NOT_ANSWERED;
    }
    const { text, ms } = found;
    const tokens = found.tokens ?? tokensByText(request, text);
    const state = found.prompt === promptHash(request) ? 'current' : 'of an older prompt';
    onAnswer({ ...slot, state, tokens, ms });
    return { kind: 'text', text, tokens };
  };
}

/** An estimate for answers that no provider counted; one token for three bytes, which is rather more than a provider counts. */
function tokensByText({ system, messages, schema }: ProviderRequest, text: string): Tokens {
  const sent = [system, ...messages.map(({ content }) => content), JSON.stringify(schema)];
  return { input: tokensOf(sent.join('\n')), output: tokensOf(text) };
}

/**
 * Asks somebody who reads prompts from files: writes each into the folder as `<hash>.txt`, and answers with `<hash>.json` once it is
 * there. The name does not say which pull request it is, so that nobody answers by what is expected.
 */
export function byFiles(folder: string): AnswerSource {
  mkdirSync(folder, { recursive: true });
  return async (_, request) => {
    const name = join(folder, promptHash(request));
    if (existsSync(`${name}.json`))
      return { kind: 'text', text: readFileSync(`${name}.json`, 'utf8').trim(), tokens: null };
    const { system, messages, schema } = request;
    const parts = [system, ...messages.map(({ content }) => content), JSON.stringify(schema)];
    writeFileSync(`${name}.txt`, `${parts.join('\n\n')}\n`);
    return NOT_ANSWERED;
  };
}

/** @param now in milliseconds */
export function byProvider(provider: Provider, now: () => number): AnswerSource {
  return async (_, request, signal) => {
    const begun = now();
    const reply = await provider.call(request, signal);
    return { ...reply, ms: Math.round(now() - begun) };
  };
}

/**
 * Keeps what the source answers, and asks it only for what is not recorded for the same prompt yet. An answer that was
 * repeated because it could not be used replaces the one before, and the tokens and the time of both count.
 */
export function recorded(into: Recording, source: AnswerSource): AnswerSource {
  return async (slot, request, signal) => {
    const prompt = promptHash(request);
    const known = into.answers[slot.pullRequest]?.[slot.prompt];
    const isFirst = request.messages.length === 1;
    if (isFirst && known?.prompt === prompt) return { kind: 'text', text: known.text, tokens: known.tokens };
    const reply = await source(slot, request, signal);
    if (reply.kind === 'failed') return reply;
    const { text, tokens, ms = null } = reply;
    const before = isFirst ? undefined : known;
    into.answers[slot.pullRequest] = {
      ...into.answers[slot.pullRequest],
      [slot.prompt]: {
        prompt,
        text,
        tokens: before ? sum(before.tokens, tokens) : tokens,
        ms: before ? plus(before.ms, ms) : ms,
      } satisfies RecordedAnswer,
    };
    return reply;
  };
}

function sum(a: Tokens | null, b: Tokens | null): Tokens | null {
  return a && b && { input: a.input + b.input, output: a.output + b.output };
}

function plus(a: number | null, b: number | null): number | null {
  return a === null || b === null ? null : a + b;
}

/** The engine's model on this source, for one pull request. */
export function modelOn(
  source: AnswerSource,
  { name, ledger, pullRequest }: { name: Model['name']; ledger: Ledger; pullRequest: string },
): Model {
  return {
    name,
    ask(question) {
      const slot: Slot = { pullRequest, prompt: question.purpose.artifact ?? '' };
      const provider: Provider = { name, call: (request, signal) => source(slot, request, signal) };
      return createModel({ provider, ledger }).ask(question);
    },
  };
}
