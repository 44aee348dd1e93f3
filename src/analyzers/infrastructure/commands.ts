import type { InfrastructureRule, Weakness } from './found.ts';

/** A command with its continued lines, without comments and without what a here-document holds. */
export interface Command {
  /** Texts in single quotes are blank, because nothing in them is replaced. */
  code: string;
  /** Texts in double quotes are blank as well, apart from `$(…)`. */
  bare: string;
  /** As it is written. A place in one of the three is the same place in the others. */
  raw: string;
  /** The line of a place in both, from 1. */
  lineAt(offset: number): number;
}

/** In characters. What follows in a longer line is not read: patterns would need long for it. */
const MAX_LINE = 2_000;

/** The commands of a script, by their lines. */
export function commandsOf(text: string, firstLine = 1): Command[] {
  const commands: Command[] = [];
  const lines = text.split('\n');
  let quote: Quote = '';
  for (let index = 0; index < lines.length; index++) {
    const starts: number[] = [];
    let [code, bare, raw] = ['', '', ''];
    const first = firstLine + index;
    for (;;) {
      const whole = (lines[index] ?? '').slice(0, MAX_LINE).replace(/\r$/, '');
      const isContinued = /(?:^|[^\\])(?:\\\\)*\\$/.test(whole) && index + 1 < lines.length;
      starts.push(code.length);
      const read = withoutQuoted(isContinued ? whole.slice(0, -1) : whole, quote);
      quote = read.quote;
      code += `${read.code} `;
      bare += `${read.bare} `;
      raw += `${whole.slice(0, read.code.length)} `;
      if (!isContinued || code.length > MAX_LINE) break;
      index++;
    }
    if (code.trim() === '') continue;
    commands.push({
      code,
      bare,
      raw,
      lineAt: (offset) => first + starts.findLastIndex((at) => at <= offset),
    });
    for (const end of hereDocuments(bare, raw))
      while (++index < lines.length && lines[index]?.trim() !== end);
  }
  return commands;
}

type Quote = '' | "'" | '"';

function withoutQuoted(line: string, before: Quote): { code: string; bare: string; quote: Quote } {
  let [code, bare, quote, depth] = ['', '', before, 0];
  for (let at = 0; at < line.length; at++) {
    const char = line[at] ?? '';
    const next = line[at + 1] ?? '';
    if (char === '\\' && quote !== "'") {
      code += char + next;
      bare += '  '.slice(0, 1 + next.length);
      at++;
    } else if (quote === "'") {
      if (char === "'") quote = '';
      code += char === "'" ? char : ' ';
      bare += char === "'" ? char : ' ';
    } else if (quote === '' && char === '#' && /^$|[\s;&|(]/.test(line[at - 1] ?? '')) break;
    else if (char === '"') {
      quote = quote === '"' ? '' : '"';
      code += char;
      bare += char;
    } else if (quote === '' && char === "'") {
      quote = "'";
      code += char;
      bare += char;
    } else {
      if (char === '$' && next === '(') depth++;
      code += char;
      bare += quote === '"' && depth === 0 ? ' ' : char;
      if (char === ')' && depth > 0) depth--;
    }
  }
  return { code, bare, quote: quote as Quote };
}

/** The words that end the here-documents of a command. `<<<` begins none. */
function hereDocuments(bare: string, raw: string): string[] {
  return [...bare.matchAll(/(?<!<)<<-?(?!<)/g)].flatMap(
    ({ index }) => /^<<-?\s*["'\\]?(\w+)/.exec(raw.slice(index, index + 200))?.[1] ?? [],
  );
}

const FETCH = String.raw`\b(?:curl|wget)\b`;
const RUNNER = String.raw`(?:sudo\s+(?:-\w+\s+)*)?(?:env\s+(?:\w+=\S*\s+)*)?(?:\/(?:usr\/)?bin\/)?(?:ba|z|da|k)?sh\b|(?:sudo\s+)?python3?\b(?!\s+-[mc])`;

/**
 * The machine itself. What is sent there leaves no network, and no authority signs a certificate for it. A port may be a variable; what follows an
 * `@` would be another host.
 */
const ITSELF = String.raw`(?:localhost|127(?:\.\d{1,3}){3}|\[::1\]|0\.0\.0\.0|host\.docker\.internal)`;
const PORT = String.raw`(?::(?:\d+|\$\w+|\$\{\w+\}))?`;
const OWN_ADDRESS = new RegExp(`^(?:https?://)?${ITSELF}${PORT}(?:[/?#][^@]*)?$`);
const ANY_ADDRESS = /^(?:https?:\/\/|[^/@=-][^/@=]*:\d)/;

/** Whether a `curl` or `wget` only asks the machine that it runs on. */
function asksItself(words: readonly string[]): boolean {
  const own = words.filter((word) => OWN_ADDRESS.test(word));
  return own.length > 0 && words.every((word) => OWN_ADDRESS.test(word) || !ANY_ADDRESS.test(word));
}

/** The options of `ssh` that take a value. */
const SSH_OPTION_WITH_VALUE = /^-[A-Za-z]*[BbcDEeFIiJLlmOopQRSWw]$/;

const OWN_SIGN_IN = new RegExp(`^(?:[\\w.-]+@)?${ITSELF}$`);

/** The place of the host that an `ssh` signs in to among its words: the first that is no option; -1 for other commands. */
export function hostOfSsh(words: readonly string[]): number {
  const begin = words.indexOf('ssh');
  for (let at = begin + 1; begin >= 0 && at < words.length; at++) {
    const word = words[at] ?? '';
    if (SSH_OPTION_WITH_VALUE.test(word)) at++;
    else if (!word.startsWith('-')) return at;
  }
  return -1;
}

/** The words of a command, with their quotes. */
export function wordsOf(text: string): string[] {
  return text.match(/(?:"[^"]*"|'[^']*'|[^\s"'])+/g) ?? [];
}

/** Whether a weakness at this place harms nobody, because the command stays on its machine. */
function staysHere(rule: InfrastructureRule, { bare, raw }: Command, at: number): boolean {
  if (rule !== 'tls-off' && rule !== 'unchecked-host-key') return false;
  const begin = Math.max(...['|', ';', '&', '\n', '('].map((end) => bare.lastIndexOf(end, at))) + 1;
  const length = bare.slice(at).search(/[|;&\n)]/);
  const text = raw.slice(begin, length < 0 ? undefined : at + length);
  const words = wordsOf(text).map((word) => word.replace(/^(["'])(.*)\1$/, '$2'));
  return rule === 'tls-off' ? asksItself(words) : OWN_SIGN_IN.test(words[hostOfSsh(words)] ?? '');
}

/** What is wrong with a command wherever it runs, in a script or in the build of an image. */
const ANYWHERE: readonly (readonly [rule: InfrastructureRule, pattern: RegExp, of: 'code' | 'bare'])[] = [
  ['pipe-to-shell', new RegExp(`${FETCH}[^|;&\n]*\\|\\s*(?:${RUNNER})`), 'bare'],
  [
    'pipe-to-shell',
    new RegExp(`(?:^|[\\s;&|/])(?:source|\\.|(?:ba|z|da|k)?sh(?:\\s+-\\w+)*)\\s+<\\(\\s*${FETCH}`),
    'bare',
  ],
  ['pipe-to-shell', new RegExp(`\\b(?:eval|(?:ba|z|da|k)?sh\\s+-\\w*c)\\s+"?\\$\\(\\s*${FETCH}`), 'bare'],
  ['tls-off', /\bcurl\b[^|;&\n]*\s(?:--insecure\b|-[a-zA-Z]*k[a-zA-Z]*\s)/, 'bare'],
  ['tls-off', /\bwget\b[^|;&\n]*\s--no-check-certificate\b/, 'bare'],
  ['tls-off', /\bgit\s+config\b[^|;&\n]*\bhttp\.sslVerify\s+["']?false\b/i, 'code'],
  ['tls-off', /\bnpm\s+(?:config\s+)?set\s+strict-ssl[\s=]+["']?false\b/, 'code'],
  ['tls-off', /\b(?:GIT_SSL_NO_VERIFY=["']?(?:1|true)|NODE_TLS_REJECT_UNAUTHORIZED=["']?0)\b/, 'code'],
  ['unchecked-host-key', /\bStrictHostKeyChecking[= ]["']?(?:no|off)\b/i, 'code'],
  ['world-writable', /\bchmod\s+(?:-\w+\s+)*(?:0?777|a\+rwx|o\+w|a\+w)\s+(?!["']?\/tmp\b)/, 'bare'],
  [
    'unsigned-packages',
    /\bapt(?:-get)?\b[^|;&\n]*\s--(?:allow-unauthenticated|force-yes)\b|\b(?:yum|dnf)\b[^|;&\n]*\s--nogpgcheck\b|\bapk\b[^|;&\n]*\s--allow-untrusted\b/,
    'bare',
  ],
];

/** The weaknesses of one command, at most one of each rule. */
export function weaknessesOf(command: Command): Weakness[] {
  const found = new Map<InfrastructureRule, Weakness>();
  for (const [rule, pattern, of] of ANYWHERE) {
    const match = pattern.exec(command[of]);
    if (match && !found.has(rule) && !staysHere(rule, command, match.index))
      found.set(rule, { rule, line: command.lineAt(match.index) });
  }
  return [...found.values()];
}
