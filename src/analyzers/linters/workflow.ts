import { isMap, isScalar, isSeq, type Node, type Scalar, type YAMLMap } from 'yaml';
import { newActionlint } from '../actionlint.ts';
import { type Analyze, linesIn, ofWholeFile, type RawFinding, type SourceFile } from '../analyzer.ts';
import { checkParsed, parseWorkflow } from '../builtin/workflow-security.ts';
import type { Edit } from '../fix.ts';
import type { RuleBook } from '../rules.ts';

type Config = RuleBook['workflow'];

/**
 * Checks GitHub workflows and composite actions with actionlint and with our own rules for what an untrusted
 * user could exploit.
 *
 * actionlint alone is not enough. It reports an injection at the start of the script, which the pull request
 * may not have changed, names only the first of several, and crashes on invalid YAML.
 */
export const analyze: Analyze<Config> = async (files, config) => {
  const findings: RawFinding[] = [];
  const log: string[] = [];
  const outdated = config.outdated.map((pattern) => new RegExp(pattern));
  for (const file of files) {
    const parsed = parseWorkflow(file.text);
    const { document, lines } = parsed;
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
    const named = { text: file.text, path: '.github/workflows/workflow.yml' };
    for (const found of checkParsed(named, parsed)) {
      if (Object.hasOwn(config.rules, found.rule)) findings.push({ file: file.index, ...found });
    }
    const lint = await newActionlint();
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
    trigger !== undefined &&
    /\b(?:pull_request_target|workflow_run|issue_comment)\b/.test(String(trigger.value));
  const isRelease = trigger !== undefined && /\brelease\b/.test(String(trigger.value));
  const isAfterRun = trigger !== undefined && /\bworkflow_run\b/.test(String(trigger.value));

  for (const { key, value } of permissions(root)) {
    if (isScalar(value) && value.value === 'write-all') yield at(key, 'write-all');
  }
  for (const step of steps(root)) {
    const uses = step.get('uses');
    const inputs = step.get('with', true);
    const run = step.get('run', true);
    if (isScalar(run) && run.range != null) {
      const script = String(run.value);
      const [start] = run.range;
      const lineOf = (pattern: RegExp) =>
        lineAt(start + Math.max(0, file.text.slice(start, run.range?.[1]).search(pattern)));
      const checkout = /\bgh\s+pr\s+checkout\b|\bgit\s+fetch\b[^\n]*\bpull\//;
      if (outsideTrigger && checkout.test(script)) {
        const line = lineOf(checkout);
        const also = isScalar(trigger.key) ? [lineAt(trigger.key.range?.[0] ?? 0)] : [];
        yield { file: file.index, rule: 'untrusted-checkout', line, alsoAt: also };
      }
      const secrets = environmentSecrets(step);
      const printed = new RegExp(
        `\\b(?:echo|printf)\\b[^\\n|>]*\\$\\{?(?:${secrets.join('|')})\\b[^\\n|>]*\\|\\s*(?:base64(?!\\s+(?:-d|--decode|-D))|rev|xxd|od|hexdump)\\b[^\\n>]*(?:\\n|$)`,
      );
      if (secrets.length > 0 && printed.test(script))
        yield { file: file.index, rule: 'secret-printed', line: lineOf(/\b(?:echo|printf)\b[^\n]*\|/) };
    }
    for (const { key, value } of allEnvironment(step)) {
      if (isScalar(value) && /\btoJSON\(\s*secrets\s*\)/i.test(String(value.value)) && isScalar(key))
        yield at(value, 'all-secrets');
    }
    for (const script of [step.get('run', true), isMap(inputs) ? inputs.get('script', true) : undefined]) {
      if (!isScalar(script) || script.range == null) continue;
      const [start, end] = script.range;
      for (const match of file.text.slice(start, end).matchAll(/\$\{\{([\s\S]*?)\}\}/g)) {
        if (!untrusted.test(match[1] ?? '')) continue;
        const line = lineAt(start + match.index);
        const edits = script === run ? environmentFix(file.text.split('\n')[line - 1] ?? '', step, line) : [];
        yield { file: file.index, rule: 'script-injection', line, ...(edits.length > 0 && { edits }) };
      }
    }
    if (typeof uses !== 'string') continue;
    if (/@(?:main|master|latest|develop)$/.test(uses) && !/^(?:\.|actions\/)/.test(uses)) {
      const named = step.get('uses', true);
      if (named) yield at(named, 'moving-action');
    }
    const node = step.get('uses', true);
    const from = lineAt(node?.range?.[0] ?? 0);
    const to = lineAt(
      Math.max(0, ((isMap(inputs) ? inputs.range?.[1] : undefined) ?? node?.range?.[1] ?? 1) - 1),
    );
    const whole = { file: file.index, line: from, endLine: Math.max(from, to) };
    if (isRelease && usesCache(uses, inputs)) yield { ...whole, rule: 'cache-poisoning' };
    if (isAfterRun && /(?:^|\/)(?:action-)?download-artifact@/.test(uses)) {
      const later = runsOwnFiles(root, step);
      const place = isMap(inputs) ? String(inputs.get('path') ?? '') : '';
      if (later.length > 0 && !/runner\.temp|^\/tmp/.test(place))
        yield { ...whole, rule: 'artifact-into-workspace', alsoAt: later.map((one) => lineAt(one)) };
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
      yield { ...at('bot-check'), ...botFix(whole, index + 1, text) };
  }
}

/** Names of the variables of a step that hold secrets. */
function environmentSecrets(step: YAMLMap): string[] {
  return allEnvironment(step).flatMap(({ key, value }) =>
    isScalar(key) &&
    isScalar(value) &&
    /\$\{\{\s*secrets\./.test(String(value.value)) &&
    /^\w+$/.test(String(key.value))
      ? [String(key.value)]
      : [],
  );
}

function allEnvironment(step: YAMLMap): { key: unknown; value: unknown }[] {
  const environment = step.get('env', true);
  return isMap(environment) ? environment.items : [];
}

/** Actions that restore a cache, which workflows of other branches may have filled. */
function usesCache(uses: string, inputs: unknown): boolean {
  if (/^actions\/cache(?:\/restore)?@/.test(uses)) return true;
  return (
    /^actions\/setup-\w+@/.test(uses) &&
    isMap(inputs) &&
    isScalar(inputs.get('cache', true)) &&
    inputs.get('cache') !== false
  );
}

/** Where later steps run a file of the workspace, as offsets. */
function runsOwnFiles(root: YAMLMap, step: YAMLMap): number[] {
  return [...steps(root)].flatMap((other) => {
    const run = other.get('run', true);
    const isLater = (other.range?.[0] ?? 0) > (step.range?.[0] ?? 0);
    const isOwn =
      isScalar(run) &&
      /(?:^|[\s;&|])(?:\.\/|(?:bash|sh|node|python3?|source|make|npm|npx)\b)/.test(String(run.value));
    return isLater && isOwn ? [run.range?.[0] ?? 0] : [];
  });
}

/**
 * `run: echo "${{ a.title }}"` with the expressions as variables of the step. Only where a line is the whole script and the
 * step has no `env:`, and the quotes leave no doubt.
 */
function environmentFix(line: string, step: YAMLMap, number: number): Edit[] {
  const script = /^(\s*(?:- )?\s*)run:\s+([^|>'"\s].*)$/.exec(line);
  if (!script || step.has('env') || step.has('shell')) return [];
  const [, indent = '', text = ''] = script;
  const variables = new Map<string, string>();
  let isClear = true;
  const replaced = text.replace(/\$\{\{\s*([\w.]+)\s*\}\}/g, (whole, expression: string, offset: number) => {
    const before = text.slice(0, offset);
    const count = (quote: string) => before.split(quote).length - 1;
    if (count("'") > 0 || before.includes('\\')) isClear = false;
    const name = (expression.split('.').at(-1) ?? '').toUpperCase();
    if (variables.has(name) && variables.get(name) !== whole) isClear = false;
    variables.set(name, whole);
    return count('"') % 2 === 1 ? `\${${name}}` : `"\${${name}}"`;
  });
  if (!isClear || variables.size === 0 || replaced.includes('${{')) return [];
  const pad = ' '.repeat(indent.length);
  const list = [...variables].map(([name, value]) => `\n${pad}  ${name}: ${value}`).join('');
  const made = `${indent}run: ${replaced}\n${pad}env:${list}`;
  return [{ line: number, column: 1, endLine: number, endColumn: line.length + 1, text: made }];
}

function isHead(expression: string): boolean {
  return /github\.head_ref|pull_request\.(?:head|number|merge_commit_sha)|workflow_run\.head|refs\/pull\//i.test(
    expression,
  );
}

/** Who opened the pull request, where every event has one. */
function botFix(line: string, number: number, text: string): { edits?: Edit[] } {
  const onlyPullRequests = /^on:\s*(?:\[\s*)?pull_request(?:_target)?(?:\s*\])?\s*$/m.test(text);
  const found = /\bgithub\.(?:triggering_)?actor\b/.exec(line);
  if (!onlyPullRequests || !found || line.slice(found.index + 1).includes('github.actor')) return {};
  const [from, to] = [found.index + 1, found.index + 1 + found[0].length];
  return {
    edits: [
      {
        line: number,
        column: from,
        endLine: number,
        endColumn: to,
        text: 'github.event.pull_request.user.login',
      },
    ],
  };
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
