import { createPrivateKey } from 'node:crypto';
import type { Span } from './span.ts';

/** Every form a known secret may come in, its name, and whether it has white space in it. The list is the process's: see `neverShow`. */
const forms = new Map<string, { name: string; words: boolean }>();
/** Forms of secrets that pass, such as tokens that live an hour; the oldest are forgotten. */
const passing = new Set<string>();
const MOST_PASSING = 2_000;

const SHORTEST = 8;

/**
 * From now on nothing shows this value, in whatever place it turns up: as it is, in base64 of its own or inside other
 * text, in hex, or encoded for a URL or JSON. A key in PEM is hidden line by line and in both of its encodings.
 *
 * Short values of one kind of letters (a database password `countersign`) are left to the patterns for their places: hiding the word
 * everywhere would tell more about it than it hides.
 */
export function remember(name: string, value: string): string[] {
  const added: string[] = [];
  for (const text of spellings(value)) {
    for (const form of formsOf(text)) {
      if (forms.has(form)) continue;
      forms.set(form, { name, words: /\s/.test(form) });
      added.push(form);
    }
  }
  return added;
}

export function rememberPassing(name: string, value: string): void {
  if (forms.has(value)) return;
  for (const form of remember(name, value)) passing.add(form);
  for (const oldest of passing) {
    if (passing.size <= MOST_PASSING) break;
    passing.delete(oldest);
    forms.delete(oldest);
  }
}

/**
 * Where known secrets stand. A key alone has hundreds of forms, nearly all of them longer than the longest word of a
 * sentence: comparing lengths first makes a line of a log cost microseconds. One pattern of all forms was measured five times slower.
 */
export function knownSecrets(text: string): Span[] {
  const longest = longestWord(text);
  const spans: Span[] = [];
  for (const [form, { name, words }] of forms) {
    if (form.length > (words ? text.length : longest)) continue;
    for (let at = text.indexOf(form); at !== -1; at = text.indexOf(form, at + form.length)) {
      spans.push({ start: at, end: at + form.length, name });
    }
  }
  return spans;
}

function longestWord(text: string): number {
  let longest = 0;
  for (const [word] of text.matchAll(/\S{8,}/g)) longest = Math.max(longest, word.length);
  return longest;
}

function spellings(value: string): string[] {
  const trimmed = value.trim();
  if (!trimmed.includes('PRIVATE KEY')) return isTelling(trimmed) ? [trimmed] : [];
  return pems(trimmed.replaceAll('\\n', '\n'))
    .flatMap((pem) => pem.split(/\r?\n/))
    .filter((line) => line.length >= 16 && !line.startsWith('-----'));
}

function isTelling(value: string): boolean {
  const classes = [/[a-z]/, /[A-Z]/, /\d/, /[^A-Za-z\d]/].filter((letters) => letters.test(value)).length;
  return value.length >= 16 || (value.length >= SHORTEST && classes >= 2);
}

/** The key as it was given and in the encodings it may be turned into, whose base64 is not the same. */
function pems(pem: string): string[] {
  try {
    const key = createPrivateKey(pem);
    const others = (
      key.asymmetricKeyType === 'rsa' ? (['pkcs1', 'pkcs8'] as const) : (['pkcs8'] as const)
    ).map((type) => key.export({ type, format: 'pem' }).toString());
    return [pem, ...others];
  } catch {
    return [pem];
  }
}

function formsOf(text: string): Set<string> {
  const bytes = Buffer.from(text);
  return new Set(
    [
      text,
      JSON.stringify(text).slice(1, -1),
      encodeURIComponent(text.toWellFormed()),
      bytes.toString('hex'),
      ...[0, 1, 2].flatMap((before) => base64Inside(bytes, before)),
    ].filter((form) => form.length >= SHORTEST),
  );
}

/** What the bytes look like in the base64 of a longer text, by how many bytes (modulo 3) stand before them. */
function base64Inside(bytes: Buffer, before: number): string[] {
  const text = Buffer.concat([Buffer.alloc(before), bytes])
    .toString('base64')
    .replace(/=+$/, '');
  // The first and the last character hold bits of the neighbours.
  const from = Math.ceil((before * 8) / 6);
  const to = Math.floor(((before + bytes.length) * 8) / 6);
  const inside = text.slice(from, to);
  return [inside, inside.replaceAll('+', '-').replaceAll('/', '_')];
}
