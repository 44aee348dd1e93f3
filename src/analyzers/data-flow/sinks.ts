import type * as ES from 'estree';
import { comesFrom, type FlowNode, KIND, type Origin, wayTo } from './flow-graph.ts';
import type { Flows } from './flows.ts';
import type { DataFlowRule, Weakness } from './found.ts';
import { isGuarded, isPathGuarded, isRedirectGuarded } from './guards.ts';
import {
  bare,
  childrenOf,
  endLineOf,
  isFunction,
  keyName,
  lineOf,
  memberName,
  type Node,
  textOf,
} from './syntax.ts';
import { withoutShell } from './without-shell.ts';

/** A place where a value does harm, if it comes from one of the origins. */
interface Sink {
  rule: DataFlowRule;
  node: Node;
  value: Node | null | undefined;
  kind: number;
  origins: readonly Origin[];
  /** What receives the value. */
  what: string;
  fix?: Weakness['fix'];
}

const REMOTE: readonly Origin[] = ['remote'];
/** For what no caller expects of a function: that a name can change a command. */
const JOINED: readonly Origin[] = ['remote', 'part'];
const ANY: readonly Origin[] = ['remote', 'part', 'library'];

/** Names mean less with every step, because different objects share them. */
const MOST_STEPS = 30;
/** What a query compares with is a request's own member, or it has most likely become a text or a number. */
const MOST_DIRECT = 6;

const FS_READS = new Set(
  'readFile readFileSync createReadStream open openSync readdir readdirSync stat statSync lstat access exists existsSync'.split(
    ' ',
  ),
);
const FS_WRITES = new Set(
  'writeFile writeFileSync createWriteStream appendFile appendFileSync unlink unlinkSync rm rmSync rmdir mkdir mkdirSync mkdirp rename renameSync symlink symlinkSync link copyFile outputFile ensureDir ensureDirSync mkdirpSync chmod'.split(
    ' ',
  ),
);
const SHELL =
  /^(?:child_process|shelljs)\.(?:exec|execSync)$|^(?:child_process|cp|childProcess|child|proc|shell|shelljs)\.exec(?:Sync)?$|^execa\.(?:command|commandSync|shell|shellSync)$|^(?:child-process-promise|mz\/child_process|async-exec|execSync|exec-sync|sync-exec|shell-exec|shelljs\.exec)(?:\.exec)?$|^(?:exec|execSync|execAsync|execPromise|execPromisified|pexec)$/;
const SPAWN = /(?:^|\.)(?:spawn|spawnSync|execFile|execFileSync|fork|execa|sync)$/;

/** Finds every sink that a value from outside reaches. */
export function findSinks(flows: Flows): Weakness[] {
  const found: Weakness[] = [];
  for (const node of flows.file.nodes) {
    if (node.type === 'BinaryExpression') found.push(...comparisonSinks(node, flows));
    for (const sink of sinksAt(node, flows)) {
      const weakness = judge(sink, flows);
      if (weakness) found.push(weakness);
    }
  }
  return found;
}

function judge({ rule, node, value, kind, origins, what, fix }: Sink, flows: Flows): Weakness | undefined {
  if (!value) return undefined;
  const flow = flows.placeOf(value);
  if (!flow) return undefined;
  const origin = origins.find((one) => comesFrom(flow, one, kind));
  if (origin === undefined) return undefined;
  const way = wayTo(flow, origin);
  if (way.length > (kind === KIND.query ? MOST_DIRECT : MOST_STEPS)) return undefined;
  if (isGuarded(value, way, flows)) return undefined;
  const isPath = kind === KIND.path;
  if (isPath && isPathGuarded(node, way, flows)) return undefined;
  if (kind === KIND.redirect && isRedirectGuarded(node, flows)) return undefined;
  const isArchive = isPath && /^`(?:\w*entry|\w*header)\.|\.entryName`/i.test(way[0]?.source ?? '');
  if (
    isPath &&
    isArchive &&
    !/(?:write|append|symlink|link|mkdir|make|create|output|ensure|copy)/i.test(what)
  )
    return undefined;
  if (rule === 'archive-traversal' && !isArchive) return undefined;
  return { ...weakness(isArchive ? 'archive-traversal' : rule, node, way, what), ...(fix && { fix }) };
}

export function weakness(rule: DataFlowRule, node: Node, way: readonly FlowNode[], what: string): Weakness {
  const line = lineOf(node);
  const source = way[0]?.source ?? 'a value from outside';
  const begin = way[0]?.line ?? line;
  const between = [...new Set(way.map((one) => one.line))].filter((one) => one !== begin && one !== line);
  const through =
    between.length === 0 ? '' : ` through line${between.length > 1 ? 's' : ''} ${listOf(between)}`;
  return {
    rule,
    line,
    endLine: endLineOf(node),
    way: `from ${source} in line ${begin}${through} to ${what} in line ${line}`,
    alsoAt: [...between, begin],
  };
}

const MOST_LISTED = 6;

function listOf(lines: readonly number[]): string {
  const shown = lines.length > MOST_LISTED ? [...lines.slice(0, MOST_LISTED), '…'] : lines;
  return shown.join(', ');
}

function* sinksAt(node: Node, flows: Flows): Generator<Sink> {
  switch (node.type) {
    case 'CallExpression':
    case 'NewExpression':
      yield* callSinks(node, flows);
      break;
    case 'AssignmentExpression':
      yield* assignmentSinks(node, flows);
      break;
    case 'MemberExpression': {
      // `global[name]`: any function there is.
      const object = bare(node.object);
      if (!node.computed || object.type !== 'Identifier' || flows.file.bindingOf(object)) break;
      if (/^(?:global|globalThis|window|self)$/.test(object.name) && isCalled(node, flows))
        yield {
          rule: 'code-injection',
          node,
          value: node.property,
          kind: KIND.code,
          origins: REMOTE,
          what: `a function of \`${object.name}\``,
        };
      break;
    }
    case 'Property': {
      const name = keyName(node);
      if (name === '$where')
        yield {
          rule: 'nosql-injection',
          node,
          value: node.value,
          kind: KIND.code,
          origins: JOINED,
          what: '`$where`',
        };
      if (name === '__html' && file(flows, node) === 'ObjectExpression')
        yield {
          rule: 'cross-site-scripting',
          node,
          value: node.value,
          kind: KIND.html,
          origins: ANY,
          what: '`dangerouslySetInnerHTML`',
        };
      break;
    }
    default:
  }
}

function file(flows: Flows, node: Node): string | undefined {
  return flows.file.parentOf(node)?.type;
}

function* callSinks(node: ES.SimpleCallExpression | ES.NewExpression, flows: Flows): Generator<Sink> {
  const callee = bare(node.callee);
  const name = flows.calleeName(callee);
  const short = name.slice(name.lastIndexOf('.') + 1);
  const [first, second] = node.arguments;
  const what = `\`${clip(name)}\``;
  const sink = (
    rule: DataFlowRule,
    value: Node | undefined | null,
    kind: number,
    origins: readonly Origin[],
  ): Sink => ({
    rule,
    node,
    value,
    kind,
    origins,
    what,
  });

  // Commands.
  if (isShell(callee, name, flows)) {
    const fix = withoutShell(node, name);
    yield { ...sink('command-injection', first, KIND.shell, JOINED), ...(fix && { fix }) };
  }
  if (SPAWN.test(name) && node.arguments.some(hasShell)) {
    yield sink('command-injection', first, KIND.shell, ANY);
    yield sink('command-injection', second, KIND.shell, ANY);
  } else if (SPAWN.test(name) && isShellProgram(first) && second) {
    yield sink('command-injection', second, KIND.shell, JOINED);
  }

  if (/(?:^|\.)(?:spawn|execFile)(?:Sync)?$/.test(name) && /^(?:git|hg)$/.test(textOf(first) ?? ''))
    for (const value of addressesOfClone(second)) yield sink('argument-injection', value, KIND.shell, ANY);

  // Code.
  const isGlobal = callee.type !== 'Identifier' || !flows.file.bindingOf(callee);
  if ((name === 'eval' && isGlobal) || /^(?:window|global|globalThis)\.eval$/.test(name))
    yield* dynamic('code-injection', node, first, what);
  if (/^(?:(?:window|global|globalThis)\.)?(?:Function|AsyncFunction)(?:\.apply)?$/.test(name) && isGlobal)
    yield* dynamic('code-injection', node, node.arguments.at(-1), what);
  if (/^vm\.(?:runIn\w+|compileFunction|Script)$/.test(name))
    yield* dynamic('code-injection', node, first, what);
  if (/^(?:safe-eval|static-eval|notevil|vm2|safer-eval)(?:\.|$)/.test(name))
    yield sink('code-injection', first, KIND.code, ANY);
  if (
    /^(?:(?:window|global)\.)?set(?:Timeout|Interval)$/.test(name) &&
    isGlobal &&
    first &&
    !isFunction(first) &&
    isJoinedText(first)
  )
    yield sink('code-injection', first, KIND.code, ANY);
  if (name === 'require' && isGlobal) yield sink('code-injection', first, KIND.code, REMOTE);
  // `./languages/` and a name: `../` in it leaves the folder.
  if (first && isRequire(callee, flows) && /^\.{1,2}\//.test(partsOf(first, flows)[0] ?? ''))
    yield sink('path-traversal', first, KIND.path, ['part']);

  // Files.
  const isFs =
    name.startsWith('fs.') || /^(?:mkdirp|rimraf|del|touch|send|tar-fs|fstream)(?:\.|$)/.test(name);
  if (isFs && (FS_READS.has(short) || FS_WRITES.has(short) || /^(?:mkdirp|rimraf|Writer)$/.test(short)))
    yield sink('path-traversal', first, KIND.path, REMOTE);
  // Wrappers of an archive's library, which another file defines.
  else if (/^(?:write|make|create|output|ensure)(?:File|Dir|Folder)\w*$/.test(short))
    yield sink('archive-traversal', first, KIND.path, REMOTE);
  if (isFs && /^(?:symlink|link)(?:Sync)?$/.test(short))
    yield sink('path-traversal', second, KIND.path, REMOTE);
  // An uploaded file says itself how it is called.
  if (short === 'mv' && callee.type === 'MemberExpression')
    yield sink('path-traversal', first, KIND.path, REMOTE);
  if (
    /^(?:sendFile|sendfile|download)$/.test(short) &&
    /^_?(?:res|response|ctx|reply)\b/i.test(name) &&
    !hasRoot(second)
  )
    yield sink('path-traversal', first, KIND.path, REMOTE);

  // Pages.
  if (
    /^(?:res|response|reply)$/i.test(name.slice(0, name.indexOf('.'))) &&
    ((/^(?:send|end|write)$/.test(short) && holdsHtml(first, flows)) ||
      (short === 'send' && first && isJoinedText(first) && isSentAsHtml(node, flows)))
  )
    yield sink('cross-site-scripting', first, KIND.html, REMOTE);
  if (/^(?:window\.)?document\.write(?:ln)?$/.test(name))
    yield sink('cross-site-scripting', first, KIND.html, JOINED);
  // A selector that begins with `<` makes elements of it.
  if (isJQueryItself(callee) && node.arguments.length === 1 && isOption(first))
    yield sink('cross-site-scripting', first, KIND.html, ANY);
  if (short === 'insertAdjacentHTML') yield sink('cross-site-scripting', second, KIND.html, ANY);
  if (short === 'createContextualFragment') yield sink('cross-site-scripting', first, KIND.html, ANY);
  if (/^(?:html|append|prepend|after|before|replaceWith)$/.test(short) && isJQuery(callee) && first)
    yield sink('cross-site-scripting', first, KIND.html, short === 'html' ? ANY : JOINED);

  // Requests and redirects.
  if (
    /^(?:https?\.(?:get|request)|(?:window\.|globalThis\.)?fetch|node-fetch|axios(?:\.(?:get|post|put|delete|head|request))?|request(?:\.(?:get|post|put|head|defaults))?|got(?:\.\w+)?|superagent\.\w+|needle(?:\.\w+)?|undici\.(?:request|fetch|stream)|ky(?:\.\w+)?|page\.goto|axios\.(?:patch|options|create)|https?2\.connect|net\.(?:connect|createConnection))$/.test(
      name,
    )
  )
    for (const value of addressesIn(first)) yield sink('request-forgery', value, KIND.url, REMOTE);
  if (/^_?(?:res|response|ctx|reply)\.(?:redirect|location)$/i.test(name))
    yield sink(
      'open-redirect',
      node.arguments.length > 1 && first?.type === 'Literal' ? second : first,
      KIND.redirect,
      REMOTE,
    );
  if (
    /^_?(?:res|response)\.(?:setHeader|header|set)$/i.test(name) &&
    textOf(first)?.toLowerCase() === 'location'
  )
    yield sink('open-redirect', second, KIND.redirect, REMOTE);
  if (/^_?(?:res|response)\.writeHead$/i.test(name)) {
    const headers = node.arguments.at(-1);
    if (headers?.type === 'ObjectExpression')
      for (const one of headers.properties)
        if (one.type === 'Property' && keyName(one)?.toLowerCase() === 'location')
          yield sink('open-redirect', one.value, KIND.redirect, REMOTE);
  }

  if (
    /^_?(?:res|response)\.(?:setHeader|header|set)$/i.test(name) &&
    /^access-control-allow-origin$/i.test(textOf(first) ?? '')
  )
    yield sink('open-cors', second, KIND.url, REMOTE);

  // Patterns and queries.
  if (
    /^(?:query|execute|exec|raw|all|get|run|prepare|each|\$queryRawUnsafe|\$executeRawUnsafe|whereRaw|literal)$/.test(
      short,
    ) &&
    callee.type === 'MemberExpression' &&
    first &&
    holdsSql(first, flows)
  )
    yield sink('sql-injection', first, KIND.sql, JOINED);
  if (name === 'RegExp' && isGlobal) yield sink('regexp-injection', first, KIND.pattern, REMOTE);
  if (
    /^(?:find|findOne|findOneAnd\w+|update(?:One|Many)?|delete(?:One|Many)|remove|countDocuments|aggregate)$/.test(
      short,
    ) &&
    callee.type === 'MemberExpression'
  ) {
    for (const value of queryValues(first))
      if (isTakenAsIs(value, flows)) yield sink('nosql-injection', value, KIND.query, REMOTE);
  }
}

/** Text that runs as code is a weakness unless it is fixed: nobody can read a text and know that it is harmless. */
function* dynamic(rule: DataFlowRule, node: Node, value: Node | undefined, what: string): Generator<Sink> {
  if (value) yield { rule, node, value, kind: KIND.code, origins: ANY, what };
}

function* assignmentSinks(node: ES.AssignmentExpression, flows: Flows): Generator<Sink> {
  if (node.left.type !== 'MemberExpression') return;
  const name = memberName(node.left);
  const target = flows.calleeName(node.left);
  if (name === 'innerHTML' || name === 'outerHTML')
    yield {
      rule: 'cross-site-scripting',
      node,
      value: node.right,
      kind: KIND.html,
      origins: ANY,
      what: `\`${name}\``,
      ...(name === 'innerHTML' &&
        isPlainText(node, flows) && { fix: { node: node.left.property, text: 'textContent' } }),
    };
  if (/^(?:window\.|document\.|self\.|top\.)?location(?:\.href)?$/.test(target))
    yield {
      rule: 'open-redirect',
      node,
      value: node.right,
      kind: KIND.redirect,
      origins: REMOTE,
      what: `\`${target}\``,
    };
}

function isShell(callee: Node, name: string, flows: Flows): boolean {
  if (!SHELL.test(name)) return false;
  if (callee.type !== 'Identifier') return true;
  // A function of the file that is only called like it.
  const binding = flows.file.bindingOf(callee);
  return !binding || (binding.kind !== 'parameter' && flows.targetsOf(callee).length === 0);
}

function hasShell(node: Node): boolean {
  return (
    node.type === 'ObjectExpression' &&
    node.properties.some(
      (one) =>
        one.type === 'Property' &&
        keyName(one) === 'shell' &&
        one.value.type === 'Literal' &&
        one.value.value !== false,
    )
  );
}

function isShellProgram(node: Node | undefined): boolean {
  return /^(?:.*\/)?(?:ba|z|da)?sh$|^cmd(?:\.exe)?$|^powershell(?:\.exe)?$/i.test(textOf(node) ?? '');
}

function isJoinedText(node: Node): boolean {
  const at = bare(node);
  return at.type === 'BinaryExpression' || (at.type === 'TemplateLiteral' && at.expressions.length > 0);
}

function hasRoot(node: Node | undefined): boolean {
  return (
    node?.type === 'ObjectExpression' &&
    node.properties.some((one) => one.type === 'Property' && keyName(one) === 'root')
  );
}

function isJQuery(callee: Node): boolean {
  let at: Node = callee;
  while (at.type === 'MemberExpression' || at.type === 'CallExpression')
    at = bare(at.type === 'CallExpression' ? at.callee : at.object);
  if (at.type === 'Identifier') return at.name.startsWith('$') || at.name === 'jQuery';
  // `this.$element.html(...)`
  let member: Node = callee;
  while (member.type === 'MemberExpression') {
    if (memberName(member)?.startsWith('$')) return true;
    member = bare(member.object);
  }
  return false;
}

function isJQueryItself(callee: Node): boolean {
  return callee.type === 'Identifier' && /^(?:\$|jQuery)$/.test(callee.name);
}

/** `this.options.target`: what the page says that uses a plugin, perhaps in an attribute. */
function isOption(node: Node | undefined): boolean {
  const member = node && bare(node);
  if (member?.type !== 'MemberExpression' || member.computed) return false;
  const of = bare(member.object);
  const name =
    of.type === 'MemberExpression' ? memberName(of) : of.type === 'Identifier' ? of.name : undefined;
  return /^(?:options|opts|settings|config)$/.test(name ?? '');
}

/** `require`, or a variable that holds it. */
function isRequire(callee: Node, flows: Flows): boolean {
  if (callee.type !== 'Identifier') return false;
  const binding = flows.file.bindingOf(callee);
  if (!binding) return callee.name === 'require';
  return binding.values.some(
    (value) => value.type === 'Identifier' && value.name === 'require' && !flows.file.bindingOf(value),
  );
}

/** What of `git clone` could be an option, which can name a program to run. None after `--`. */
function addressesOfClone(node: Node | undefined): Node[] {
  if (node?.type !== 'ArrayExpression') return [];
  const [command, ...others] = node.elements.flatMap((one) =>
    one && one.type !== 'SpreadElement' ? [one] : [],
  );
  if (!/^(?:clone|fetch|pull|ls-remote|archive)$/.test(textOf(command) ?? '')) return [];
  return others.some((one) => textOf(one) === '--') ? [] : others;
}

/** Express sends a text as HTML, unless the function says otherwise. */
function isSentAsHtml(node: Node, flows: Flows): boolean {
  const around = flows.file.functionOf(node);
  return (
    around !== undefined &&
    !flows.file.nodes.some(
      (one) =>
        one.type === 'Literal' &&
        /^(?:text\/(?!html)|application\/)|^(?:txt|text|json|content-type|xml|csv)$/i.test(
          String(one.value),
        ) &&
        flows.file.functionOf(one) === around,
    )
  );
}

/** The whole address, or the parts of a request's options that say where it goes. */
function* addressesIn(node: Node | undefined): Generator<Node> {
  if (!node) return;
  if (node.type !== 'ObjectExpression') {
    yield node;
    return;
  }
  for (const one of node.properties)
    if (
      one.type === 'Property' &&
      /^(?:ur[il]|host|hostname|href|baseURL|origin|socketPath)$/.test(keyName(one) ?? '')
    )
      yield one.value;
}

/** The member is called, or it is the value of a variable that is. */
function isCalled(node: Node, flows: Flows): boolean {
  const parent = flows.file.parentOf(node);
  if (parent?.type === 'CallExpression') return parent.callee === node;
  if (parent?.type !== 'VariableDeclarator' || parent.id.type !== 'Identifier') return false;
  const uses = flows.file.bindingOf(parent.id)?.references ?? [];
  return uses.some((one) => {
    const use = flows.file.parentOf(one);
    return use?.type === 'CallExpression' && use.callee === one;
  });
}

/** Whether a text that is sent holds a tag. */
function holdsHtml(node: Node | undefined, flows: Flows): boolean {
  return node !== undefined && partsOf(node, flows).some((text) => /<\/?[a-z!]/i.test(text));
}

const STATEMENT = /^\s*(?:SELECT\b|INSERT\s+INTO\b|UPDATE\s+\S+\s+SET\b|DELETE\s+FROM\b)/i;

/**
 * Whether a text is a statement of SQL that is put together in several steps. A statement that one expression puts together is
 * what the rule `ast-grep/sql-injection` finds, without following values.
 */
function holdsSql(node: Node, flows: Flows): boolean {
  const at = bare(node);
  if (at.type !== 'Identifier' && at.type !== 'CallExpression') return false;
  const values = at.type === 'Identifier' ? (flows.file.bindingOf(at)?.values ?? []) : [at];
  if (!partsOf(at, flows).some((text) => STATEMENT.test(text))) return false;
  return !values.some((value) => isJoinedText(value) && STATEMENT.test(partsOf(value, flows)[0] ?? ''));
}

/** A value with fixed text around it, none of which is markup, so that it was meant to be read as text. */
function isPlainText({ operator, left, right }: ES.AssignmentExpression, flows: Flows): boolean {
  if (operator !== '=' || left.type !== 'MemberExpression' || left.computed || !isJoinedText(right))
    return false;
  const parts = partsOf(right, flows).filter((text) => text.trim() !== '');
  return parts.length > 0 && parts.every((text) => !/[<>&]/.test(text));
}

/** What a function returns. */
function returnsOf(node: Node): Node[] {
  if (node.type === 'ArrowFunctionExpression' && node.body.type !== 'BlockStatement') return [node.body];
  return childrenOf(node).flatMap((child) => {
    if (isFunction(child)) return [];
    return child.type === 'ReturnStatement' ? (child.argument ?? []) : returnsOf(child);
  });
}

/** The fixed texts that a text is put together from. */
function partsOf(node: Node, flows: Flows): string[] {
  const seen = new Set<Node>();
  const parts: string[] = [];
  const look = (given: Node): void => {
    const at = bare(given);
    if (seen.has(at) || seen.size > 200) return;
    seen.add(at);
    switch (at.type) {
      case 'Literal':
        if (typeof at.value === 'string') parts.push(at.value);
        break;
      case 'TemplateLiteral':
        parts.push(...at.quasis.map(({ value }) => value.raw));
        at.expressions.forEach(look);
        break;
      case 'BinaryExpression':
        look(at.left as Node);
        look(at.right);
        break;
      case 'AssignmentExpression':
        look(at.right);
        break;
      case 'ConditionalExpression':
        look(at.consequent);
        look(at.alternate);
        break;
      case 'ArrayExpression':
        for (const one of at.elements) if (one) look(one);
        break;
      case 'ArrowFunctionExpression':
        if (at.body.type !== 'BlockStatement') look(at.body);
        break;
      case 'Identifier':
        flows.file.bindingOf(at)?.values.forEach(look);
        break;
      case 'CallExpression': {
        const callee = bare(at.callee);
        at.arguments.forEach(look);
        if (callee.type === 'MemberExpression') look(callee.object);
        else for (const target of flows.targetsOf(callee)) returnsOf(target).forEach(look);
        break;
      }
      default:
    }
  };
  look(node);
  return parts;
}

/** Whether two values are compared in a time that says how far they agree, and one of them proves who sent something. */
function* comparisonSinks(node: ES.BinaryExpression, flows: Flows): Generator<Weakness> {
  if (!/^[!=]==?$/.test(node.operator)) return;
  const sides = [node.left as Node, node.right];
  if (sides.some((side) => side.type === 'Literal' || textOf(side) !== undefined)) return;
  if (!sides.some((side) => isSignature(side, flows))) return;
  yield {
    rule: 'timing-unsafe-comparison',
    line: lineOf(node),
    endLine: endLineOf(node),
    way: `with \`${node.operator}\``,
    alsoAt: [],
  };
}

function isSignature(given: Node, flows: Flows): boolean {
  const node = bare(given);
  if (node.type === 'Identifier') {
    const values = flows.file.bindingOf(node)?.values ?? [];
    return values.some((value) => value.type !== 'Identifier' && isSignature(value, flows));
  }
  if (node.type === 'TemplateLiteral') return node.expressions.some((one) => isSignature(one, flows));
  if (node.type === 'BinaryExpression')
    return node.operator === '+' && (isSignature(node.left as Node, flows) || isSignature(node.right, flows));
  return node.type === 'CallExpression' && /createHmac\(\).*\.digest$/.test(flows.calleeName(node.callee));
}

/** The values that a query compares with, taken from the request as they are: an object there is an operator. */
function* queryValues(node: Node | undefined): Generator<Node> {
  if (!node) return;
  const at = bare(node);
  if (at.type === 'ObjectExpression') {
    for (const one of at.properties) if (one.type === 'Property') yield one.value;
  } else if (at.type === 'MemberExpression') yield at;
}

/** The member of a request itself, or a variable that is one. Anything else has most likely become a text or a number. */
function isTakenAsIs(given: Node, flows: Flows): boolean {
  const node = bare(given);
  if (node.type === 'MemberExpression') return true;
  if (node.type !== 'Identifier') return false;
  const values = flows.file.bindingOf(node)?.values ?? [];
  return values.length <= 1 && values.every((value) => bare(value).type === 'MemberExpression');
}

function clip(name: string): string {
  return name.length > 60 ? `${name.slice(0, 59)}…` : name;
}
