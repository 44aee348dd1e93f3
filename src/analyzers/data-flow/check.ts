import { flowsOf } from './flows.ts';
import type { Weakness } from './found.ts';
import { findPrototypePollution } from './prototype-pollution.ts';
import { resolveScopes } from './scopes.ts';
import { findSinks } from './sinks.ts';
import { findSlowPatterns, mayHoldSlowPattern } from './slow-regexp.ts';
import { parseSource } from './syntax.ts';

/**
 * What a file must hold for a finding: something to read from outside together with something to do with it, or a member whose
 * name is computed and that is assigned to. Most files hold none of them and no slow regular expression, and are not parsed.
 * All patterns of one row must match, because parsing is most of the time of this analysis.
 */
const MENTIONS: readonly (readonly RegExp[])[] = [
  [
    /(?<![.\w$])(?:exec\s*\(|execSync\b)|\b(?:execAsync|execPromise|execPromisified|pexec|eval|Function|AsyncFunction)\b(?:\.apply)?\s*\(|\b(?:cp|childProcess|child|proc|shell)\s*(?:\?\.|\.)\s*exec|\b(?:child_process|child-process|shelljs|execa|vm2?|RegExp)\b|[-_]exec\b|exec-sync|\b(?:safer?|static)-eval|notevil|\bspawn|\bset(?:Timeout|Interval)\(\s*['"`]|\brequire\(\s*(?:['"]\.{1,2}\/[^'"\n]*['"]\s*\+|`\.{1,2}\/[^`\n]*\$\{)/,
  ],
  [
    /\b(?:innerHTML|outerHTML|insertAdjacentHTML|createContextualFragment|dangerouslySetInnerHTML|createHmac|readdir(?:Sync)?)\b|\$where\b|\bdocument\.write|(?<![\w$])(?<!(?<!\.\.)\.)(?:\$|jQuery)\s*\(/,
  ],
  // A value of jQuery, such as `this.$list`, and a method that takes markup.
  [/\$\w*[.(]|jQuery/, /\.\s*(?:html|append|prepend|after|before|replaceWith)\b/],
  // A statement of SQL, and a call that executes what a variable or another call holds. What a tag stands before, as in sql`…`, is no text.
  [
    /(?:["']|(?<![\w$)\]]|[^=]>)`)\s*(?:SELECT\s|INSERT\s+INTO|UPDATE\s|DELETE\s+FROM)/,
    /\b(?:query|execute|exec|raw|all|get|run|prepare|each|\$queryRawUnsafe|\$executeRawUnsafe|whereRaw|literal)\b['"`\]]{0,2}\s*(?:<[\s\S]{0,300}?>\s*)?(?:\?\.)?\(\s*[^\s)'"`]/,
  ],
  [
    /(?:\b(?:_?(?:req|request|ctx|context)|location|document|window)|entry|header)\b\s*(?:\?\.|\.)\s*(?:query|params|body|headers|cookies|signedCookies|url|originalUrl|rawBody|files|hostname|path|querystring|search|rawHeaders|pathname|get|header|param|cookie|json|text|formData|hash|href|URL|documentURI|referrer|name|fileName|filename|entryName|linkname|req)\b|\}\s*=\s*_?(?:req|request|ctx|context)\b|\$route\b|\.entryName\b|\bparse_?url(?:\.original)?\(|\buse(?:Search|LocalSearch)?Params\b/i,
  ],
  [/[\w$)\]]\[(?!['"])[^\]\n]+\]\]?\s*(?:=(?![=>])|(?:\|\||\?\?|&&)=)/],
];

/**
 * Finds weaknesses in one file of JavaScript or TypeScript. Pure.
 * @throws SyntaxError if the text cannot be parsed, RangeError if it is nested too deep or too large
 */
export function checkFile(text: string, language: 'javascript' | 'typescript' | 'tsx'): Weakness[] {
  if (!mentionsAny(text) && !mayHoldSlowPattern(text)) return [];
  const flows = flowsOf(resolveScopes(parseSource(text, language)));
  const found = [...findPrototypePollution(flows), ...findSinks(flows), ...findSlowPatterns(flows)];
  const known = new Set<string>();
  return found
    .sort((a, b) => a.line - b.line)
    .filter(({ rule, line }) => !known.has(`${rule} ${line}`) && known.add(`${rule} ${line}`));
}

function mentionsAny(text: string): boolean {
  return MENTIONS.some((row) => row.every((pattern) => pattern.test(text)));
}
