import { LRUCache } from 'lru-cache';
import { KINDS } from './kinds.ts';
import { changesOfKnown, knownSecrets, remember, rememberPassing } from './known.ts';
import { looksSecret, SECRET_NAME } from './likely.ts';
import { privateKeys } from './private-keys.ts';
import { type Shown, shownMarkdown, shownUrl } from './shown.ts';
import { merged, type Span } from './span.ts';

/** Variables whose name says that they hold a secret: ours, the model providers', a proxy's. */
const SECRET_VARIABLE =
  /(?:^COUNTERSIGN_WEBHOOK_|SECRET|TOKEN|PASSWORD|PASSWD|PASSPHRASE|API_?KEY|PRIVATE_KEY|ACCESS_KEY|CREDENTIALS?)(?!.*_(?:PATH|FILE|DIR|URL|NAME|ID)$)/i;

/*
 * Hides secrets in everything that leaves the app: log, comments, check runs, artifacts, error messages,
 * command line. This app's own secrets are known values (known.ts). Secrets that people commit or tools print
 * are recognised by their form or context (kinds.ts).
 *
 * The list of known values is global, while everything else in this project is passed as an argument. A
 * caller that forgot to pass the list would show secrets, and a secret is one for the whole process anyway.
 */

/** From now on, redaction hides this value and its usual encodings. */
export function neverShow(name: string, value: string): void {
  remember(name, value);
}

/** The same for a credential that lives for an hour or less. Only the newest 2,000 forms are remembered. */
export function neverShowForNow(name: string, value: string): void {
  rememberPassing(name, value);
}

/**
 * All secrets of an environment: by the names of its variables, and the passwords of URLs in any variable.
 */
export function neverShowSecretsOf(environment: Readonly<Record<string, string | undefined>>): void {
  for (const { name, value } of secretsOf(environment)) remember(name, value);
}

/** Characters of texts whose redaction is remembered. A pull request's texts are stored and sent many times. */
const REMEMBERED = 400_000;

/** Remembers results until the list of known secrets changes. */
function once(hidden: (text: string) => string): (text: string) => string {
  const results = new LRUCache<string, string>({
    maxSize: REMEMBERED,
    sizeCalculation: (result, text) => 1 + text.length + result.length,
  });
  let changes = changesOfKnown();
  return (text) => {
    if (changes !== changesOfKnown()) results.clear();
    changes = changesOfKnown();
    const found = results.get(text);
    if (found !== undefined) return found;
    const result = hidden(text);
    results.set(text, result);
    return result;
  };
}

const MARK = '[redacted';
/** Each pass hides something or is the last one. Only crafted texts need more than two. */
const MAX_PASSES = 8;

/**
 * The text with `[redacted: AWS key]` instead of each secret, also if it is encoded for a URL. The result is
 * never longer than the text, so GitHub's limits still hold. It is idempotent and takes linear time for any
 * text.
 */
export const redact = once((text) =>
  untilUnchanged(text, (current) => hideShown(hide(current, secretsIn(current)), shownUrl)),
);

/** The same for Markdown that our encoder made of untrusted text, where a token appears as `ghp\_…`. */
export const redactMarkdown = once((source) =>
  untilUnchanged(source, (current) => hideShown(redact(current), shownMarkdown)),
);

/** Hides secrets that appear only after decoding. */
function hideShown(source: string, show: (source: string) => Shown | undefined): string {
  const shown = show(source);
  if (!shown) return source;
  const sourceIndex = (index: number) => shown.at[index] ?? source.length;
  const spans = secretsIn(shown.text);
  return hide(
    source,
    spans.map(({ start, end, name }) => ({ start: sourceIndex(start), end: sourceIndex(end), name })),
  );
}

const isSecretName = new RegExp(SECRET_NAME, 'i');

/**
 * A value with every string in it redacted, at any depth, including keys. A string under a key such as
 * `password` is hidden if it is probably a secret. Values other than strings, lists and plain objects are
 * returned unchanged.
 */
export function redactValue<T>(value: T): T {
  return redactAny(value) as T;
}

function redactAny(value: unknown): unknown {
  if (typeof value === 'string') return redact(value);
  if (Array.isArray(value)) return value.map(redactAny);
  if (!isPlain(value)) return value;
  return Object.fromEntries(
    Object.entries(value).map(([key, member]) => [
      redact(key),
      typeof member === 'string' ? redactMember(key, member) : redactAny(member),
    ]),
  );
}

/**
 * Redacts a string that an object has under this key. The key can reveal a secret that the string alone does
 * not.
 */
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

function untilUnchanged(text: string, pass: (text: string) => string): string {
  let current = text;
  for (let passes = 0; passes < MAX_PASSES; passes++) {
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

/** The longest mark that fits. */
function mark(name: string, space: number): string {
  const marks = [`${MARK}: ${name}]`, `${MARK}]`];
  return marks.find(({ length }) => length <= space) ?? '***';
}

/** The secrets of an environment: values of variables with such a name, and passwords inside any URL. */
function secretsOf(
  environment: Readonly<Record<string, string | undefined>>,
): { name: string; value: string }[] {
  return Object.entries(environment).flatMap(([name, value]) => {
    if (!value) return [];
    if (SECRET_VARIABLE.test(name)) return [{ name, value }];
    const password = /:\/\/[^\s/:@]*:([^\s/]+)@/.exec(value)?.[1];
    if (password === undefined) return [];
    return [...new Set([password, decoded(password)])].map((secret) => ({ name, value: secret }));
  });
}

function decoded(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    return text;
  }
}
