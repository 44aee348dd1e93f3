import type * as ES from 'estree';
import { comesFrom, type FlowNode, KIND, type Origin, wayTo } from './flow-graph.ts';
import type { Flows } from './flows.ts';
import type { DataFlowRule, Weakness } from './found.ts';
import { isGuarded, isPathGuarded } from './guards.ts';
import { bare, endLineOf, isFunction, keyName, lineOf, memberName, type Node, textOf } from './syntax.ts';

/** A place where a value does harm, if it comes from one of the origins. */
interface Sink {
  rule: DataFlowRule;
  node: Node;
  value: Node | null | undefined;
  kind: number;
  origins: readonly Origin[];
  /** What receives the value. */
  what: string;
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
    for (const sink of sinksAt(node, flows)) {
      const weakness = judge(sink, flows);
      if (weakness) found.push(weakness);
    }
  }
  return found;
}

function judge({ rule, node, value, kind, origins, what }: Sink, flows: Flows): Weakness | undefined {
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
  const isArchive = isPath && /^`(?:\w*entry|\w*header)\./i.test(way[0]?.source ?? '');
  if (
    isPath &&
    isArchive &&
    !/(?:write|append|symlink|link|mkdir|make|create|output|ensure|copy)/i.test(what)
  )
    return undefined;
  if (rule === 'archive-traversal' && !isArchive) return undefined;
  return weakness(isArchive ? 'archive-traversal' : rule, node, way, what);
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
    case 'Property': {
      const name = keyName(node);
      if (name === '__html' && file(flows, node) === 'ObjectExpression')
        yield {
          rule: 'cross-site-scripting',
          node,
          value: node.value,
          kind: KIND.html,
          origins: REMOTE,
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
  if (isShell(callee, name, flows)) yield sink('command-injection', first, KIND.shell, JOINED);
  if (SPAWN.test(name) && node.arguments.some(hasShell)) {
    yield sink('command-injection', first, KIND.shell, ANY);
    yield sink('command-injection', second, KIND.shell, ANY);
  } else if (SPAWN.test(name) && isShellProgram(first) && second) {
    yield sink('command-injection', second, KIND.shell, JOINED);
  }

  // Code.
  const isGlobal = callee.type !== 'Identifier' || !flows.file.bindingOf(callee);
  if ((name === 'eval' && isGlobal) || /^(?:window|global|globalThis)\.eval$/.test(name))
    yield* dynamic('code-injection', node, first, what);
  if (/^(?:(?:window|global|globalThis)\.)?Function$/.test(name) && isGlobal)
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
  if (
    /^(?:sendFile|sendfile|download)$/.test(short) &&
    /^_?(?:res|response|ctx|reply)\b/i.test(name) &&
    !hasRoot(second)
  )
    yield sink('path-traversal', first, KIND.path, REMOTE);

  // Pages.
  if (
    /^(?:res|response|reply)$/i.test(name.slice(0, name.indexOf('.'))) &&
    /^(?:send|end|write)$/.test(short) &&
    holdsHtml(first, flows)
  )
    yield sink('cross-site-scripting', first, KIND.html, REMOTE);
  if (/^(?:window\.)?document\.write(?:ln)?$/.test(name))
    yield sink('cross-site-scripting', first, KIND.html, JOINED);
  if (short === 'insertAdjacentHTML') yield sink('cross-site-scripting', second, KIND.html, ANY);
  if (short === 'createContextualFragment') yield sink('cross-site-scripting', first, KIND.html, ANY);
  if (/^(?:html|append|prepend|after|before|replaceWith)$/.test(short) && isJQuery(callee) && first)
    yield sink('cross-site-scripting', first, KIND.html, short === 'html' ? ANY : JOINED);

  // Requests and redirects.
  if (
    /^(?:https?\.(?:get|request)|fetch|node-fetch|axios(?:\.(?:get|post|put|delete|head|request))?|request(?:\.(?:get|post|put|head|defaults))?|got(?:\.\w+)?|superagent\.\w+|needle(?:\.\w+)?|undici\.(?:request|fetch))$/.test(
      name,
    )
  )
    yield sink('request-forgery', first, KIND.url, REMOTE);
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

  // Patterns and queries.
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

/** Whether a text that is sent holds a tag, or is what a request says and nothing else. */
function holdsHtml(node: Node | undefined, flows: Flows): boolean {
  if (!node) return false;
  const seen = new Set<Node>();
  const look = (given: Node): boolean => {
    const at = bare(given);
    if (seen.has(at) || seen.size > 200) return false;
    seen.add(at);
    switch (at.type) {
      case 'Literal':
        return typeof at.value === 'string' && /<\/?[a-z!]/i.test(at.value);
      case 'TemplateLiteral':
        return at.quasis.some(({ value }) => /<\/?[a-z!]/i.test(value.raw)) || at.expressions.some(look);
      case 'BinaryExpression':
        return look(at.left) || look(at.right);
      case 'AssignmentExpression':
        return look(at.right);
      case 'ConditionalExpression':
        return look(at.consequent) || look(at.alternate);
      case 'Identifier':
        return flows.file.bindingOf(at)?.values.some(look) ?? false;
      case 'CallExpression': {
        const callee = bare(at.callee);
        return at.arguments.some(look) || (callee.type === 'MemberExpression' && look(callee.object));
      }
      default:
        return false;
    }
  };
  return look(node);
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
