import { createPrivateKey } from 'node:crypto';
import type { Span } from './span.ts';

/**
 * Every encoding in which a known secret can appear, with the secret's name. One list per process: see
 * `neverShow`.
 */
const forms = new Map<string, string>();
/**
 * The same forms by their last `SHORTEST` characters. Tokens of one kind begin alike, and an attacker can
 * repeat that beginning.
 */
const byEnd = new Map<string, readonly string[]>();
/**
 * How many forms have this hash of their last `SHORTEST` characters. Nearly every position of a text hits a
 * zero here.
 */
const hashCounts = new Uint32Array(1 << 16);
/** Forms of short-lived secrets, such as tokens that expire after an hour. The oldest are forgotten first. */
const shortLivedForms = new Set<string>();
const MAX_SHORT_LIVED = 2_000;

const SHORTEST = 8;

let changes = 0;

/** How often the list has changed. What was redacted before a change may have to be redacted again. */
export function changesOfKnown(): number {
  return changes;
}

/**
 * Hides this value from now on: as it is, in base64 (its own, or as part of a longer text), in hex, and
 * encoded for a URL or JSON. A PEM key is hidden line by line and in both of its encodings.
 *
 * Short values of one character class (a database password `countersign`) are left to the patterns of
 * kinds.ts: hiding the word everywhere would reveal that it is the password.
 */
export function remember(name: string, value: string, { shortLived = false } = {}): string[] {
  const added: string[] = [];
  for (const text of spellings(value)) {
    for (const form of formsOf(text)) {
      // A short-lived secret that is remembered again without a limit becomes permanent.
      if (!shortLived) shortLivedForms.delete(form);
      if (forms.has(form)) continue;
      index(form, name);
      added.push(form);
    }
  }
  return added;
}

export function rememberPassing(name: string, value: string): void {
  if (forms.has(value)) return;
  for (const form of remember(name, value, { shortLived: true })) shortLivedForms.add(form);
  for (const oldest of shortLivedForms) {
    if (shortLivedForms.size <= MAX_SHORT_LIVED) break;
    shortLivedForms.delete(oldest);
    forget(oldest);
  }
}

function index(form: string, name: string): void {
  changes++;
  forms.set(form, name);
  const end = form.slice(-SHORTEST);
  byEnd.set(end, [...(byEnd.get(end) ?? []), form]);
  const hash = hashOf(end);
  hashCounts[hash] = (hashCounts[hash] ?? 0) + 1;
}

function forget(form: string): void {
  changes++;
  forms.delete(form);
  const end = form.slice(-SHORTEST);
  const others = (byEnd.get(end) ?? []).filter((other) => other !== form);
  if (others.length > 0) byEnd.set(end, others);
  else byEnd.delete(end);
  const hash = hashOf(end);
  hashCounts[hash] = (hashCounts[hash] ?? 0) - 1;
}

/**
 * Where known secrets occur. Reads the text once, however many secrets there are: one key has hundreds of
 * forms, and an app that runs for two days knows 2,000 tokens. Rejected: a search per form, which took up to
 * 80 times as long, and one pattern of all forms, which took longer still.
 */
export function knownSecrets(text: string): Span[] {
  const spans: Span[] = [];
  let hash = 0;
  for (let end = 1; end <= text.length; end++) {
    hash = rolled(hash, text.charCodeAt(end - 1));
    if (hashCounts[hash] === 0 || end < SHORTEST) continue;
    for (const form of byEnd.get(text.slice(end - SHORTEST, end)) ?? []) {
      const start = end - form.length;
      if (start >= 0 && text.startsWith(form, start)) spans.push({ start, end, name: forms.get(form) ?? '' });
    }
  }
  return spans;
}

/**
 * The rolling hash (below 65,536) after one more character. It covers the last four; older ones are shifted
 * out.
 */
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
  if (!trimmed.includes('PRIVATE KEY')) return isDistinctive(trimmed) ? [trimmed] : [];
  return pems(trimmed.replaceAll('\\n', '\n'))
    .flatMap((pem) => pem.split(/\r?\n/))
    .filter((line) => line.length >= 16 && !line.startsWith('-----'));
}

function isDistinctive(value: string): boolean {
  const classes = [/[a-z]/, /[A-Z]/, /\d/, /[^A-Za-z\d]/].filter((letters) => letters.test(value)).length;
  return value.length >= 16 || (value.length >= SHORTEST && classes >= 2);
}

/** The key as given, and in the other PEM encodings of the same key, whose base64 differs. */
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

/** The base64 of the bytes inside a longer text. @param before how many bytes precede them, modulo 3 */
function base64Inside(bytes: Buffer, before: number): string[] {
  const text = Buffer.concat([Buffer.alloc(before), bytes])
    .toString('base64')
    .replace(/=+$/, '');
  // The first and the last character also hold bits of the neighbouring bytes.
  const from = Math.ceil((before * 8) / 6);
  const to = Math.floor(((before + bytes.length) * 8) / 6);
  const inside = text.slice(from, to);
  return [inside, inside.replaceAll('+', '-').replaceAll('/', '_')];
}
