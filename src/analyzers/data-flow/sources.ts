import type { ScopedFile } from './scopes.ts';
import { bare, keyName, memberName, type Node } from './syntax.ts';

const REQUEST = /^_?(?:req|request|ctx|context)$/i;
const OF_REQUEST = new Set([
  'query',
  'params',
  'body',
  'headers',
  'cookies',
  'signedCookies',
  'url',
  'originalUrl',
  'rawBody',
  'files',
  'hostname',
  'path',
  'querystring',
  'search',
  'rawHeaders',
  'pathname',
]);
const OF_REQUEST_CALL = new Set(['get', 'header', 'param', 'query', 'cookie']);
/** Methods of a request as the Fetch API has it. */
const BODY_CALL = new Set(['json', 'text', 'formData']);
/** Functions of routers that read the page's address. */
const ADDRESS_CALL = /^use(?:SearchParams|Params|LocalSearchParams)$/;
const OF_LOCATION = new Set(['search', 'hash', 'href', 'pathname']);
const OF_DOCUMENT = new Set(['URL', 'documentURI', 'referrer', 'cookie']);
/** An entry of an archive names itself. */
const ENTRY = /^(?:zip|tar|archive)?_?(?:entry|header)$/i;
const OF_ENTRY = new Set(['path', 'name', 'fileName', 'filename', 'entryName', 'linkname']);

/** Words for a value that somebody outside chooses, or `undefined`. */
export function remoteSource(node: Node, file: ScopedFile): string | undefined {
  switch (node.type) {
    case 'MemberExpression': {
      const name = memberName(node);
      const object = bare(node.object);
      if (name === undefined) return undefined;
      if (object.type === 'MemberExpression') {
        const outer = memberName(object);
        const isOf = outer === 'request' || outer === 'req';
        if (isOf && OF_REQUEST.has(name)) return `\`${outer}.${name}\``;
        if (outer === 'location' && OF_LOCATION.has(name)) return `\`location.${name}\``;
        if (outer === '$route' && /^(?:query|params|hash)$/.test(name)) return `\`$route.${name}\``;
        return undefined;
      }
      if (object.type !== 'Identifier') return undefined;
      const binding = file.bindingOf(object);
      const words = `\`${object.name}.${name}\``;
      if (name === 'entryName') return words;
      if (binding?.kind === 'parameter') {
        if (REQUEST.test(object.name) && OF_REQUEST.has(name)) return words;
        if (ENTRY.test(object.name) && OF_ENTRY.has(name)) return words;
      }
      if (binding?.kind === 'variable' && ENTRY.test(object.name) && OF_ENTRY.has(name)) return words;
      if (binding) return undefined;
      if (object.name === 'location' && OF_LOCATION.has(name)) return words;
      if (object.name === 'document' && OF_DOCUMENT.has(name)) return words;
      return object.name === 'window' && name === 'name' ? words : undefined;
    }
    case 'CallExpression': {
      const callee = bare(node.callee);
      if (callee.type === 'Identifier' && ADDRESS_CALL.test(callee.name)) return `\`${callee.name}\``;
      const [given] = node.arguments;
      const isOfRequest =
        given?.type === 'Identifier' &&
        REQUEST.test(given.name) &&
        file.bindingOf(given)?.kind === 'parameter';
      if (isOfRequest && isParser(callee)) return `the address of \`${given.name}\``;
      if (callee.type !== 'MemberExpression') return undefined;
      const object = bare(callee.object);
      const name = memberName(callee) ?? '';
      if (object.type === 'MemberExpression' && /^req(?:uest)?$/.test(memberName(object) ?? ''))
        return OF_REQUEST_CALL.has(name) && node.arguments.length > 0
          ? `\`${memberName(object)}.${name}()\``
          : undefined;
      if (object.type !== 'Identifier' || !/^req(?:uest)?$/.test(object.name)) return undefined;
      const isRequest = file.bindingOf(object)?.kind === 'parameter';
      if (isRequest && BODY_CALL.has(name) && node.arguments.length === 0)
        return `\`${object.name}.${name}()\``;
      return isRequest && OF_REQUEST_CALL.has(name) ? `\`${object.name}.${name}()\`` : undefined;
    }
    case 'Property': {
      // `const { query } = req`, `(req: { body }, res)`
      const pattern = file.parentOf(node);
      const holder = pattern && file.parentOf(pattern);
      const name = keyName(node) ?? '';
      if (holder?.type !== 'VariableDeclarator' || !holder.init) return undefined;
      const from = bare(holder.init);
      if (from.type !== 'Identifier' || !REQUEST.test(from.name)) return undefined;
      return file.bindingOf(from)?.kind === 'parameter' && OF_REQUEST.has(name)
        ? `\`${from.name}.${name}\``
        : undefined;
    }
    default:
      return undefined;
  }
}

/** `parseurl(req)` and `parseurl.original(req)` of the package `parseurl`. */
function isParser(callee: Node): boolean {
  const at =
    callee.type === 'MemberExpression' && memberName(callee) === 'original' ? bare(callee.object) : callee;
  return at.type === 'Identifier' && /^parse_?url$/i.test(at.name);
}

/** Words for a value that reaches a page from elsewhere, and does harm only there. */
export function pageSource(node: Node, file: ScopedFile): string | undefined {
  if (node.type === 'MemberExpression') {
    const name = memberName(node);
    const object = bare(node.object);
    if (!/^(?:value|textContent|innerText)$/.test(name ?? '')) return undefined;
    if (object.type === 'CallExpression') {
      const callee = bare(object.callee);
      const method = callee.type === 'MemberExpression' ? memberName(callee) : undefined;
      return /^(?:getElementById|querySelector)$/.test(method ?? '')
        ? `the \`${name}\` of an element`
        : undefined;
    }
    if (object.type !== 'MemberExpression' || name !== 'value') return undefined;
    return /^(?:target|currentTarget)$/.test(memberName(object) ?? '') ? 'what somebody typed' : undefined;
  }
  if (node.type !== 'CallExpression' || node.arguments.length > 0) return undefined;
  const callee = bare(node.callee);
  if (callee.type !== 'MemberExpression' || memberName(callee) !== 'json') return undefined;
  const from = bare(callee.object);
  const binding = from.type === 'Identifier' ? file.bindingOf(from) : undefined;
  const isResponse = /^(?:res|resp|response|r|result|answer|reply)$/i.test(binding?.name ?? '');
  return isResponse ? 'what a server answers' : undefined;
}
