import type * as ES from 'estree';
import type { Weakness } from './found.ts';
import { keyName, memberName, type Node } from './syntax.ts';

/** What a shell gives a meaning, outside of quotes or within them. */
const SPECIAL = /[|&;<>()$`\\*?[\]{}~#!%^\n\r]/;
/** They are part of a shell, not programs. */
const BUILT_IN =
  /^(?:alias|bg|builtin|cd|command|declare|do|eval|exec|exit|export|fg|for|if|let|local|read|readonly|set|shift|source|time|trap|type|ulimit|umask|unset|until|wait|while|\.)$/;
/** Without quotes around them, values of such names can be meant as several arguments. */
const MAY_BE_SEVERAL = /(?:arg|argv|flag|opt|option|param|command|cmd|list|s)$/i;

/**
 * The same call without a shell: `execFile('git', ['log', name])` for `` exec(`git log ${name}`) ``. Only where the
 * template shows the program and its arguments, and where `execFile` can be reached as `exec` is, as a member of the
 * module.
 */
export function withoutShell(
  call: ES.SimpleCallExpression | ES.NewExpression,
  name: string,
): Weakness['fix'] | undefined {
  const method = /^child_process\.(exec|execSync)$/.exec(name)?.[1];
  const { callee } = call;
  const [command, options] = call.arguments;
  if (method === undefined || callee.type !== 'MemberExpression' || callee.computed || callee.optional)
    return undefined;
  if (call.type !== 'CallExpression' || call.optional || command?.type !== 'TemplateLiteral')
    return undefined;
  if (options?.type === 'ObjectExpression' && !options.properties.every(isNoShell)) return undefined;
  const [program, ...rest] = wordsOf(command) ?? [];
  if (program === undefined || !/^'[\w./-]+'$/.test(program) || BUILT_IN.test(program.slice(1, -1)))
    return undefined;
  const file = method === 'exec' ? 'execFile' : 'execFileSync';
  return { node: callee.property, through: command, text: `${file}(${program}, [${rest.join(', ')}]` };
}

function isNoShell(property: ES.Property | ES.SpreadElement): boolean {
  return property.type === 'Property' && keyName(property) !== 'shell';
}

/** The words of a command as expressions; `undefined` if only a shell can tell. */
function wordsOf({ quasis, expressions }: ES.TemplateLiteral): string[] | undefined {
  const words: (string | { value: string })[][] = [];
  let word: (string | { value: string })[] | undefined;
  let quote = '';
  const add = (part: string | { value: string }) => {
    if (word) word.push(part);
    else {
      word = [part];
      words.push(word);
    }
  };
  for (const [index, { value }] of quasis.entries()) {
    const text = value.cooked ?? '`';
    if (SPECIAL.test(text)) return undefined;
    for (const character of text) {
      if (character === quote) quote = '';
      else if (quote === '' && /['"]/.test(character)) {
        quote = character;
        add('');
      } else if (quote === '' && /\s/.test(character)) word = undefined;
      else add(character);
    }
    const expression = expressions[index];
    if (!expression) continue;
    const shown = inCode(expression);
    if (shown === undefined || (quote === '' && MAY_BE_SEVERAL.test(shown))) return undefined;
    add({ value: shown });
  }
  return quote === '' ? words.map(asExpression) : undefined;
}

/** The text of a name or a chain of members; `undefined` for anything else. */
function inCode(node: Node): string | undefined {
  if (node.type === 'Identifier') return node.name;
  if (node.type === 'ThisExpression') return 'this';
  if (node.type !== 'MemberExpression' || node.computed || node.optional) return undefined;
  const [object, name] = [inCode(node.object), memberName(node)];
  return object === undefined || name === undefined ? undefined : `${object}.${name}`;
}

function asExpression(parts: readonly (string | { value: string })[]): string {
  const [only, ...others] = parts.filter((part) => part !== '');
  if (typeof only === 'object' && others.length === 0) return only.value;
  if (parts.every((part) => typeof part === 'string')) {
    const text = parts.join('');
    return text.includes("'") ? JSON.stringify(text) : `'${text}'`;
  }
  return `\`${parts.map((part) => (typeof part === 'string' ? part : `\${${part.value}}`)).join('')}\``;
}
