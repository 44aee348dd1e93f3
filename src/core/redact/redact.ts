import { secretsOf } from './environment.ts';
import { KINDS } from './kinds.ts';
import { knownSecrets, remember, rememberPassing } from './known.ts';
import { looksSecret, SECRET_NAME } from './likely.ts';
import { privateKeys } from './private-key.ts';
import { type Shown, shownMarkdown, shownUrl } from './shown.ts';
import { merged, type Span } from './span.ts';

/*
 * Hides secrets in everything that leaves: log, comments, check runs, artifacts, error sentences, command line. There are
 * two sources. This app's own secrets are known values; those that people commit or tools print have a known look.
 *
 * The list of known values is the process's, unlike everything else here, which is passed by hand: whatever forgot to
 * pass it on would show secrets, and a secret is one for all of the process anyway.
 */

/** From now on nothing that passes this layer shows the value, nor its usual encodings. */
export function neverShow(name: string, value: string): void {
  remember(name, value);
}

/** The same for a credential that lives for an hour or less: only some hundred of the newest are remembered. */
export function neverShowForNow(name: string, value: string): void {
  rememberPassing(name, value);
}

/** All secrets of an environment: by the names of its variables, and the passwords of addresses in any of them. */
export function neverShowSecretsOf(environment: Readonly<Record<string, string | undefined>>): void {
  for (const { name, value } of secretsOf(environment)) remember(name, value);
}

const MARK = '[redacted';
/** Each pass over a text hides something or is the last; more than two only happen to texts made for it. */
const MOST_PASSES = 8;

/**
 * The text with `[redacted: AWS key]` in the place of each secret, in plain or encoded for a URL. Never longer than before, so that
 * GitHub's limits stay kept; again the same when it is done again; time in proportion to the length, whatever the text.
 */
export function redact(text: string): string {
  return untilNothingIsLeft(text, (current) => hideShown(hide(current, secretsIn(current)), shownUrl));
}

/** The same for Markdown that our encoder made of untrusted text: `ghp\_…` is as good to a reader as what it stands for. */
export function redactMarkdown(source: string): string {
  return untilNothingIsLeft(source, (current) => hideShown(redact(current), shownMarkdown));
}

/** Hides what is a secret only to those who undo an encoding. */
function hideShown(source: string, show: (source: string) => Shown | undefined): string {
  const shown = show(source);
  if (!shown) return source;
  const place = (index: number) => shown.at[index] ?? source.length;
  const spans = secretsIn(shown.text);
  return hide(
    source,
    spans.map(({ start, end, name }) => ({ start: place(start), end: place(end), name })),
  );
}

const isSecretName = new RegExp(SECRET_NAME, 'i');

/**
 * A value with every text in it redacted, at any depth, keys too. A text under a name such as `password` is hidden when it
 * looks like one. What is neither text, list nor plain object stays as it is.
 */
export function redactValue<T>(value: T): T {
  return inside(value) as T;
}

function inside(value: unknown): unknown {
  if (typeof value === 'string') return redact(value);
  if (Array.isArray(value)) return value.map(inside);
  if (!isPlain(value)) return value;
  return Object.fromEntries(
    Object.entries(value).map(([key, member]) => [
      redact(key),
      typeof member === 'string' ? redactMember(key, member) : inside(member),
    ]),
  );
}

/** A text that an object holds under this key, which may say what the text alone does not. */
export function redactMember(key: string, text: string): string {
  const hidden = redact(text);
  return hidden === text && isSecretName.test(key) && looksSecret(key, text)
    ? mark('secret', text.length)
    : hidden;
}

function isPlain(value: unknown): value is Record<string, unknown> {
  if (typeof value !== 'object' || value === null) return false;
  const prototype: unknown = Object.getPrototypeOf(value);
  return prototype === Object.prototype || prototype === null;
}

function untilNothingIsLeft(text: string, pass: (text: string) => string): string {
  let current = text;
  for (let passes = 0; passes < MOST_PASSES; passes++) {
    const next = pass(current);
    if (next === current) break;
    current = next;
  }
  return current;
}

function secretsIn(text: string): Span[] {
  const spans = [...knownSecrets(text), ...privateKeys(text)];
  for (const { name, mentions, pattern, holds } of KINDS) {
    if (mentions && !mentions.some((mention) => text.includes(mention))) continue;
    for (const match of text.matchAll(pattern)) {
      if (holds && !holds(match.groups ?? {})) continue;
      const start = match.index + (match.groups?.before?.length ?? 0);
      spans.push({ start, end: match.index + match[0].length, name });
    }
  }
  return merged(spans.filter(({ start }) => !text.startsWith(MARK, start)));
}

function hide(text: string, spans: readonly Span[]): string {
  let hidden = '';
  let from = 0;
  for (const { start, end, name } of spans) {
    hidden += text.slice(from, start) + mark(name, end - start);
    from = end;
  }
  return hidden + text.slice(from);
}

/** What stands in a secret's place says as much as there is room for. */
function mark(name: string, room: number): string {
  const marks = [`${MARK}: ${name}]`, `${MARK}]`];
  return marks.find(({ length }) => length <= room) ?? '***';
}
