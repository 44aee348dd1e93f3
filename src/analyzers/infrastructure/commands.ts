import type { InfrastructureRule, Weakness } from './found.ts';

/** A command with its continued lines, without comments and without what a here-document holds. */
export interface Command {
  /** Texts in single quotes are blank, because nothing in them is replaced. */
  code: string;
  /** Texts in double quotes are blank as well, apart from `$(…)`. */
  bare: string;
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
    commands.push({ code, bare, lineAt: (offset) => first + starts.findLastIndex((at) => at <= offset) });
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
    if (match && !found.has(rule)) found.set(rule, { rule, line: command.lineAt(match.index) });
  }
  return [...found.values()];
}
