import { type Command, commandsOf, hostOfSsh, weaknessesOf, wordsOf } from './commands.ts';
import type { Weakness } from './found.ts';
import { mayHoldSecret } from './secret-name.ts';

/** A parameter of a script or function, or a variable; not one that is escaped, and not one that is quoted for another shell. */
const VARIABLE = /(?<!\\)\$(?:([1-9@*]|[A-Za-z_]\w*)|\{([1-9@*]|[A-Za-z_]\w*)(?!@Q)[^}]*\})/g;
const PARAMETER = /^[1-9@*]$/;
/** Set before a script begins: by the sign-in, and by the shell. */
const ALWAYS_SET = ['HOME', 'PWD'];

/** What each variable of a script is set to, as it is written. What people type counts as a parameter. */
type Assignments = ReadonlyMap<string, readonly string[]>;

/** Finds what a shell script does with values that it does not know, and with what it fetches. Pure. */
export function checkShell(text: string): Weakness[] {
  const commands = commandsOf(text);
  const assignments = assignmentsIn(commands);
  const temporary = new Set<string>();
  const found = commands.flatMap((command) => [
    ...weaknessesOf(command),
    ...inputWeaknesses(command, assignments),
    ...temporaryFiles(command, temporary),
  ]);
  return [...found, ...removals(text, commands, assignments), ...tracedSecrets(commands)].sort(
    (a, b) => a.line - b.line,
  );
}

function assignmentsIn(commands: readonly Command[]): Assignments {
  const values = new Map<string, string[]>();
  const add = (name: string, value: string) => {
    const known = values.get(name);
    if (known) known.push(value);
    else values.set(name, [value]);
  };
  for (const { code } of commands) {
    for (const [, name = '', value = ''] of code.matchAll(/(?:^|[\s;&|(])([A-Za-z_]\w*)=("[^"]*"|\S*)/g))
      add(name, value);
    const read = /\bread\b((?:\s+-\w+|\s+"[^"]*"|\s+'[^']*'|\s+\d+)*)((?:\s+[A-Za-z_]\w*)+)\s*$/.exec(code);
    for (const name of read?.[2]?.trim().split(/\s+/) ?? []) add(name, '$1');
  }
  return values;
}

/** Whether a text holds a parameter, or a variable that only ever holds one. */
function holdsInput(text: string, assignments: Assignments): boolean {
  return [...text.matchAll(VARIABLE)].some(([, plain, braced]) => {
    const name = plain ?? braced ?? '';
    if (PARAMETER.test(name)) return true;
    const values = assignments.get(name) ?? [];
    return values.length > 0 && values.every((value) => /^["']?\$(?:[1-9@*]|\{[1-9@*]\})["']?$/.test(value));
  });
}

function inputWeaknesses({ code, lineAt }: Command, assignments: Assignments): Weakness[] {
  const found: Weakness[] = [];
  if (/\bprintf\s+['"]?%q/.test(code)) return found;
  const evaluated = /(?:^|[;&|({]|\bthen\s|\bdo\s)\s*eval\s+([^;|&\n]*)/.exec(code);
  // `getopt` quotes what it prints for just this.
  const isQuoted = /^set\s+--\s+"\$\(\s*getopt\s/.test(evaluated?.[1] ?? '');
  if (evaluated && !isQuoted && holdsInput(evaluated[1] ?? '', assignments))
    found.push({ rule: 'eval-of-input', line: lineAt(evaluated.index) });
  const started = /\b(?:ba|z|da|k)?sh\s+-\w*c\s+"([^"]*)"/.exec(code);
  const passedOn = started ? started[1] : commandForSsh(code);
  if (passedOn !== undefined && holdsInput(passedOn, assignments))
    found.push({ rule: 'command-from-argument', line: lineAt(started?.index ?? code.search(/\bssh\b/)) });
  return found;
}

/** What an `ssh` runs on its host, if that is in double quotes. */
function commandForSsh(code: string): string | undefined {
  const words = wordsOf(code);
  const host = hostOfSsh(words);
  return host < 0 ? undefined : words.slice(host + 1).find((word) => word.startsWith('"'));
}

/** `rm -rf "$FOLDER/"*`: without a value, it removes everything below the root. */
function removals(text: string, commands: readonly Command[], assignments: Assignments): Weakness[] {
  const refusesUnset = /^[ \t]*set[ \t]+(?:\S+[ \t]+)*(?:-\w*u|-o[ \t]+nounset)|^#!.*[ \t]-\w*u/m.test(text);
  const asked = new Set(
    [...text.matchAll(/\[\[?\s+(?:!\s+)?-[nzd]\s+"?\$\{?(\w+)|\$\{(\w+):[?=]|:\s+"?\$\{(\w+)[?:]/g)].map(
      ([, test, refused, noted]) => test ?? refused ?? noted,
    ),
  );
  const named = [...text.matchAll(/\bfor\s+([A-Za-z_]\w*)\s+in\b/g)].map(([, name]) => name);
  const known = new Set([...ALWAYS_SET, ...asked, ...named]);
  const found: Weakness[] = [];
  for (const { code, lineAt } of commands) {
    const removal = /\brm\s+(?:-\w+\s+)*-\w*r\w*\s+(.*)$/.exec(code);
    if (!removal) continue;
    const isUnguarded = [
      ...(removal[1] ?? '').matchAll(
        /(?:^|\s)"?\$(?:\{([A-Za-z_]\w*)\}|([A-Za-z_]\w*))"?\/(?:[\w*."]|\s|$)/g,
      ),
    ].some(([, braced, plain]) => {
      const name = braced ?? plain ?? '';
      const values = assignments.get(name) ?? [];
      const isPassedOn = values.every((value) => /^"?\$(?:\w+|\{\w+\})"?$|^(?:"")?$/.test(value));
      return isPassedOn && !known.has(name) && !(refusesUnset && values.length === 0);
    });
    if (isUnguarded) found.push({ rule: 'unguarded-removal', line: lineAt(removal.index) });
  }
  return found;
}

/** A name in `/tmp` that others know beforehand, so that the file can be theirs. */
function temporaryFiles({ code, lineAt }: Command, written: Set<string>): Weakness[] {
  const byProcess = /(?:>>?\s*|=\s*)["']?\/tmp\/[\w.-]*\$(?:\$|\{?RANDOM\b)/.exec(code);
  if (byProcess) return [{ rule: 'predictable-temporary-file', line: lineAt(byProcess.index) }];
  for (const [, path = ''] of code.matchAll(/>\s*"?(\/tmp\/[\w.-]+)/g)) written.add(path);
  const run = /(?:^|[;&|]\s*)\s*(?:source|\.|(?:ba|z|da|k)?sh)\s+"?(\/tmp\/[\w.-]+)/.exec(code);
  return run && written.has(run[1] ?? '')
    ? [{ rule: 'predictable-temporary-file', line: lineAt(run.index) }]
    : [];
}

/** `set -x` prints each command, with the values of its variables. */
function tracedSecrets(commands: readonly Command[]): Weakness[] {
  let since: number | undefined;
  for (const { code, lineAt } of commands) {
    const set = /^\s*set\s+([-+])(?:\w*x\b|o\s+xtrace)/.exec(code);
    if (set) since = set[1] === '-' ? lineAt(set.index) : undefined;
    const names = [...code.matchAll(/\$\{?(\w+)/g)].map(([, name = '']) => name);
    if (since !== undefined && names.some(mayHoldSecret)) return [{ rule: 'secret-traced', line: since }];
  }
  return [];
}
