import type * as ES from 'estree';
import { EVERY_KIND, KIND } from './flow-graph.ts';

/** Members of a text or list that no longer hold what it says. */
export const HARMLESS_MEMBERS: ReadonlySet<string> = new Set([
  'length',
  'size',
  'constructor',
  'prototype',
  'byteLength',
  'lastIndex',
  'nodeType',
  'status',
  'statusCode',
]);

/** Methods whose result says no more than a number or a truth about the value. */
export const HARMLESS_METHODS: ReadonlySet<string> = new Set([
  'test',
  'indexOf',
  'lastIndexOf',
  'includes',
  'startsWith',
  'endsWith',
  'has',
  'hasOwnProperty',
  'hasOwn',
  'charCodeAt',
  'codePointAt',
  'every',
  'some',
  'search',
  'localeCompare',
  'findIndex',
  'isArray',
  'propertyIsEnumerable',
  'push',
  'unshift',
  'getTime',
  'digest',
  'toFixed',
  'isDirectory',
  'isFile',
  'on',
  'once',
  'emit',
  'addEventListener',
]);

/** Methods of lists and texts that hand each element to their function. */
export const EACH_METHODS: ReadonlySet<string> = new Set([
  'forEach',
  'map',
  'filter',
  'reduce',
  'reduceRight',
  'some',
  'every',
  'find',
  'flatMap',
  'sort',
  'then',
  'each',
  'forIn',
  'forOwn',
  'eachSeries',
  'mapValues',
]);

/** Functions of modules and of the language whose result holds what their arguments hold. */
export const PASSING_CALLS: ReadonlySet<string> = new Set([
  'String',
  'Object',
  'Array',
  'Buffer',
  'decodeURIComponent',
  'decodeURI',
  'unescape',
  'Array.from',
  'Object.keys',
  'Object.values',
  'Object.entries',
  'Object.getOwnPropertyNames',
  'Reflect.ownKeys',
  'JSON.parse',
  'JSON.stringify',
  'Buffer.from',
  'Promise.resolve',
  'Array.prototype.slice.call',
  'slice.call',
  'querystring.parse',
  'qs.parse',
  'url.parse',
  'parseUrl',
  'parseurl',
  'parse',
  'toArray',
  'castArray',
  'toPath',
  'castPath',
  'keys',
  'keysIn',
  'Promise.all',
  'util.promisify',
  'promisify',
  'toKey',
  'toString',
  'split',
  'path.normalize',
  'inspect',
  'util.inspect',
  'path.dirname',
  'normalize',
  'dirname',
  'url.format',
]);

/** The same, and the arguments become parts of a text. */
export const JOINING_CALLS: ReadonlySet<string> = new Set([
  'util.format',
  'format',
  'path.join',
  'path.resolve',
  'join',
  'resolve',
  'String.raw',
  'url.resolve',
  'concat',
  'sprintf',
]);

const MAKES_SAFE =
  /^(?:parseInt|parseFloat|Number|BigInt|Boolean|isNaN|Symbol)$|escape|sanit[iz]|encode|quote|(?:^|[._])(?:clean|purify|whitelist|allowlist|validate|hash|slugify)|basename$/i;

/** What a call leaves of the kinds of harm, by the function's name. 0 means that its result does none. */
export function keptByCall(name: string): number {
  const last = name.slice(name.lastIndexOf('.') + 1);
  if (last === 'unescape') return EVERY_KIND;
  if (/^escapeRegExp$|^escapeStringRegexp$/i.test(last))
    return EVERY_KIND & ~(KIND.pattern | KIND.code | KIND.shell);
  if (/^JSON\.stringify$/.test(name)) return EVERY_KIND & ~(KIND.code | KIND.key | KIND.query | KIND.sql);
  return MAKES_SAFE.test(last) ? KIND.text : EVERY_KIND;
}

/** What `text.replace(pattern, ...)` leaves of the kinds of harm. */
export function keptByReplace(pattern: ES.Node | undefined): number {
  if (pattern?.type !== 'Literal' || !('regex' in pattern)) return EVERY_KIND;
  const source = pattern.regex.pattern;
  if (!pattern.regex.flags.includes('g')) return EVERY_KIND;
  if (/^\[\^/.test(source) || /\\W/.test(source)) return KIND.text;
  let kept = EVERY_KIND;
  if (/[<&]/.test(source)) kept &= ~KIND.html;
  if (/['"`$]/.test(source)) kept &= ~(KIND.shell | KIND.sql);
  if (/\\\.\\\.|\\\.\{|\.\[|\[\\?\.\]/.test(source)) kept &= ~KIND.path;
  return kept;
}

/** Modules of Node under their plain names. */
export function moduleName(name: string): string {
  return name
    .replace(/^node:/, '')
    .replace(/^fs-extra$|^graceful-fs$|^fs\/promises$|^original-fs$|^mz\/fs$/, 'fs');
}
