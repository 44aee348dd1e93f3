import type * as ES from 'estree';
import { analyse, type Report } from 'scslre';
import { comesFrom, KIND, type Origin, wayTo } from './flow-graph.ts';
import type { Flows } from './flows.ts';
import type { Weakness } from './found.ts';
import { bare, endLineOf, lineOf, memberName, type Node, textOf } from './syntax.ts';

/** In characters. The analysis of longer patterns can take seconds. */
const MAX_PATTERN = 3_000;

interface Pattern {
  source: string;
  flags: string;
}
type Use = { kind: 'text'; text: Node } | { kind: 'unknown' } | { kind: 'harmless' };
type Slowness = 'exponential' | 'polynomial';
interface Judged {
  slowness: Slowness;
  /** A pattern that matches the same texts and is fast. */
  faster?: string;
}

/**
 * What can be a literal regular expression, by the text alone: also divisions, and parts of texts and comments. Matches overlap,
 * so none of those hides a real one.
 */
const LITERAL =
  /(?:^|[=(,:!&|?{};[>\n]|\breturn|\bcase)[^\S\n]*\/(?![*/])(?=((?:[^/\\\n[]|\\.|\[(?:[^\]\\\n]|\\.)*\])*)\/([a-z]*))/gm;

/** Whether a file has to be parsed for its literals. Judging them is cheaper than parsing the file. */
export function mayHoldSlowPattern(text: string): boolean {
  for (const [, source = '', flags = ''] of text.matchAll(LITERAL))
    if (mayBeSlow(source) && reportsOn({ source, flags }).length > 0) return true;
  return false;
}

/**
 * Finds regular expressions that a text can make slow (ReDoS): those of exponential time wherever they are, those of
 * polynomial time where a text from outside meets them.
 */
export function findSlowPatterns(flows: Flows): Weakness[] {
  const found: Weakness[] = [];
  const known = new Map<string, Judged | undefined>();
  for (const node of flows.file.nodes) {
    const pattern = patternOf(node, flows);
    if (!pattern || !mayBeSlow(pattern.source)) continue;
    const uses = usesOf(node, flows);
    if (uses.length > 0 && uses.every(({ kind }) => kind === 'harmless')) continue;
    const key = `${pattern.flags}/${pattern.source}`;
    if (!known.has(key)) known.set(key, judge(pattern));
    const judged = known.get(key);
    if (judged === undefined) continue;
    const { slowness, faster } = judged;
    const reached = reachedBy(uses, flows, slowness);
    if (!reached) continue;
    found.push({
      rule: slowness === 'exponential' ? 'exponential-regexp' : 'slow-regexp',
      line: lineOf(node),
      endLine: endLineOf(node),
      way: reached.words,
      alsoAt: reached.lines,
      ...(faster !== undefined &&
        node.type === 'Literal' && { fix: { node, text: `/${faster}/${pattern.flags}` } }),
    });
  }
  return found;
}

function patternOf(node: Node, flows: Flows): Pattern | undefined {
  if (node.type === 'Literal' && 'regex' in node)
    return { source: node.regex.pattern, flags: node.regex.flags };
  if (node.type !== 'NewExpression' && node.type !== 'CallExpression') return undefined;
  if (node.callee.type !== 'Identifier' || node.callee.name !== 'RegExp' || flows.file.bindingOf(node.callee))
    return undefined;
  const source = fixedText(node.arguments[0], flows, 0);
  return source === undefined ? undefined : { source, flags: textOf(node.arguments[1]) ?? '' };
}

/** A text that is put together from fixed parts only. */
function fixedText(given: Node | undefined, flows: Flows, depth: number): string | undefined {
  if (!given || depth > 20) return undefined;
  const node = bare(given);
  const text = textOf(node);
  if (text !== undefined) return text;
  switch (node.type) {
    case 'BinaryExpression': {
      if (node.operator !== '+') return undefined;
      const [left, right] = [fixedText(node.left, flows, depth + 1), fixedText(node.right, flows, depth + 1)];
      return left === undefined || right === undefined ? undefined : left + right;
    }
    case 'TemplateLiteral': {
      let made = node.quasis[0]?.value.cooked ?? '';
      for (const [index, one] of node.expressions.entries()) {
        const part = fixedText(one, flows, depth + 1);
        if (part === undefined) return undefined;
        made += part + (node.quasis[index + 1]?.value.cooked ?? '');
      }
      return made;
    }
    case 'MemberExpression':
      return memberName(node) === 'source' ? patternOf(bare(node.object), flows)?.source : undefined;
    case 'CallExpression': {
      const callee = bare(node.callee);
      if (
        callee.type !== 'MemberExpression' ||
        memberName(callee) !== 'join' ||
        callee.object.type !== 'ArrayExpression'
      )
        return undefined;
      const parts = callee.object.elements.map((one) => fixedText(one ?? undefined, flows, depth + 1));
      return parts.some((part) => part === undefined)
        ? undefined
        : parts.join(textOf(node.arguments[0]) ?? ',');
    }
    case 'Identifier': {
      const values = flows.file.bindingOf(node)?.values ?? [];
      return values.length === 1 ? fixedText(values[0], flows, depth + 1) : undefined;
    }
    default:
      return undefined;
  }
}

/** Without two quantifiers, or one that can begin anywhere, nothing is slow. */
function mayBeSlow(source: string): boolean {
  return source.length <= MAX_PATTERN && /[*+]|\{\d+,\d*\}/.test(source);
}

function judge({ source, flags }: Pattern): Judged | undefined {
  const reports = reportsOn({ source, flags });
  if (reports.length === 0) return undefined;
  const slowness = reports.some(({ exponential }) => exponential) ? 'exponential' : 'polynomial';
  const faster = reports[0]?.fix()?.source;
  const isFast = faster !== undefined && reportsOn({ source: faster, flags }).length === 0;
  return { slowness, ...(isFast && { faster }) };
}

function reportsOn({ source, flags }: Pattern): readonly Report[] {
  try {
    return analyse({ source, flags: flags.replace(/[^dgimsuvy]/g, '') }, { maxReports: 4 }).reports;
  } catch {
    // Another analyzer reports invalid patterns.
    return [];
  }
}

/** The places that use a pattern, and the text that it meets there. */
function usesOf(node: Node, flows: Flows): Use[] {
  const { file } = flows;
  const parent = file.parentOf(node);
  if (parent?.type === 'VariableDeclarator' && parent.init === node && parent.id.type === 'Identifier') {
    const binding = file.bindingOf(parent.id);
    return binding?.references.map((one) => useOf(one, flows)) ?? [{ kind: 'unknown' }];
  }
  return [useOf(node, flows)];
}

function useOf(node: Node, flows: Flows): Use {
  const parent = flows.file.parentOf(node);
  if (parent?.type === 'MemberExpression' && parent.object === node) {
    const name = memberName(parent);
    const call = flows.file.parentOf(parent);
    if (name === 'source' || name === 'lastIndex' || name === 'flags') return { kind: 'harmless' };
    if (call?.type === 'CallExpression' && /^(?:test|exec)$/.test(name ?? ''))
      return textUse(call.arguments[0]);
  }
  if (parent?.type === 'CallExpression' && parent.arguments[0] === node) {
    const callee = bare(parent.callee);
    if (callee.type === 'MemberExpression' && isTextMethod(callee)) return textUse(callee.object);
  }
  return { kind: 'unknown' };
}

function textUse(text: Node | undefined): Use {
  return text ? { kind: 'text', text } : { kind: 'unknown' };
}

function isTextMethod(callee: ES.MemberExpression): boolean {
  return /^(?:match|matchAll|replace|replaceAll|split|search)$/.test(memberName(callee) ?? '');
}

const OUTSIDE: readonly Origin[] = ['remote', 'library', 'part'];

function reachedBy(
  uses: readonly Use[],
  flows: Flows,
  slowness: Slowness,
): { words: string; lines: readonly number[] } | undefined {
  for (const use of uses) {
    if (use.kind !== 'text') continue;
    const flow = flows.placeOf(use.text);
    if (slowness === 'polynomial' && isShort(use.text, flows)) continue;
    const origin = flow && OUTSIDE.find((one) => comesFrom(flow, one, KIND.text));
    if (!flow || origin === undefined) continue;
    const way = wayTo(flow, origin);
    const words = `the text comes from ${way[0]?.source ?? 'outside'} in line ${way[0]?.line ?? lineOf(use.text)}`;
    return { words, lines: [lineOf(use.text)] };
  }
  // What a file or another program says is not known, and only fixed texts are harmless.
  const isFixed =
    uses.length > 0 &&
    uses.every((use) => use.kind === 'text' && (!flows.placeOf(use.text) || isShort(use.text, flows)));
  if (slowness === 'exponential' || !isFixed) return { words: 'any text that it meets counts', lines: [] };
  return undefined;
}

/** In characters. A pattern of quadratic time needs a tenth of a second for as many. */
const SHORT = 20_000;

/** Whether the text of a variable is refused where it is long: `if (text.length > 1000) return`. */
function isShort(text: Node, flows: Flows): boolean {
  const at = bare(text);
  const binding = at.type === 'Identifier' ? flows.file.bindingOf(at) : undefined;
  return (
    binding?.references.some((one) => {
      const member = flows.file.parentOf(one);
      if (member?.type !== 'MemberExpression' || memberName(member) !== 'length') return false;
      const comparison = flows.file.parentOf(member);
      if (comparison?.type !== 'BinaryExpression' || comparison.left !== member) return false;
      if (!/^>=?$/.test(comparison.operator)) return false;
      const most = bare(comparison.right);
      const limit = most.type === 'Identifier' ? flows.file.bindingOf(most)?.values[0] : most;
      return limit?.type === 'Literal' && Number(limit.value) >= 10 && Number(limit.value) <= SHORT;
    }) ?? false
  );
}
