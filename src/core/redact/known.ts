import { createPrivateKey } from 'node:crypto';
import type { Span } from './span.ts';

/** Every form a known secret may come in, with the secret's name. The list is the process's: see `neverShow`. */
const forms = new Map<string, string>();
/** The same forms by their last `SHORTEST` characters: tokens of a kind all begin alike, and anybody can write that over and over. */
const byEnd = new Map<string, readonly string[]>();
/** How many forms end so that this is the hash of their last `SHORTEST` characters: nearly all places of a text have none. */
const alikes = new Uint32Array(1 << 16);
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
export function remember(name: string, value: string, { passes = false } = {}): string[] {
  const added: string[] = [];
  for (const text of spellings(value)) {
    for (const form of formsOf(text)) {
      // What was to pass and is never to be shown from now on does not pass any more.
      if (!passes) passing.delete(form);
      if (forms.has(form)) continue;
      index(form, name);
      added.push(form);
    }
  }
  return added;
}

export function rememberPassing(name: string, value: string): void {
  if (forms.has(value)) return;
  for (const form of remember(name, value, { passes: true })) passing.add(form);
  for (const oldest of passing) {
    if (passing.size <= MOST_PASSING) break;
    passing.delete(oldest);
    forget(oldest);
  }
}

function index(form: string, name: string): void {
  forms.set(form, name);
  const end = form.slice(-SHORTEST);
  byEnd.set(end, [...(byEnd.get(end) ?? []), form]);
  const hash = hashOf(end);
  alikes[hash] = (alikes[hash] ?? 0) + 1;
}

function forget(form: string): void {
  forms.delete(form);
  const end = form.slice(-SHORTEST);
  const others = (byEnd.get(end) ?? []).filter((other) => other !== form);
  if (others.length > 0) byEnd.set(end, others);
  else byEnd.delete(end);
  const hash = hashOf(end);
  alikes[hash] = (alikes[hash] ?? 0) - 1;
}

/**
 * Where known secrets stand. The text is read once, however many there are: a key alone has hundreds of forms, and an app of two days
 * knows 2,000 more. Looking for each form by itself took up to 80 times as long, and one pattern of all forms longer still.
 */
export function knownSecrets(text: string): Span[] {
  const spans: Span[] = [];
  let hash = 0;
  for (let end = 1; end <= text.length; end++) {
    hash = rolled(hash, text.charCodeAt(end - 1));
    if (alikes[hash] === 0 || end < SHORTEST) continue;
    for (const form of byEnd.get(text.slice(end - SHORTEST, end)) ?? []) {
      const start = end - form.length;
      if (start >= 0 && text.startsWith(form, start)) spans.push({ start, end, name: forms.get(form) ?? '' });
    }
  }
  return spans;
}

/** The hash, below 65,536, once another character was read: of the last four, since what is older is shifted out. */
function rolled(hash: number, character: number): number {
  return ((hash << 4) ^ character) & 0xffff;
}

function hashOf(text: string): number {
  let hash = 0;
  for (let at = 0; at < text.length; at++) hash = rolled(hash, text.charCodeAt(at));
  return hash;
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
