import type { GateVerdict } from '../../src/domain/outcome/gate-verdict.ts';
import { gateVerdictSchema } from '../../src/domain/outcome/gate-verdict.ts';
import { explain, explainText } from '../../src/domain/run/explain.ts';
import type { Run, RunState } from '../../src/domain/run/run.ts';
import type { Harness } from '../support/harness.ts';
import { MERGE_ONLY } from './support.ts';

/** The chain that asks right away, with these gates (YAML flow) before its merge. */
export function mergeBehind(...gates: readonly string[]): string {
  return `${MERGE_ONLY}    gates: { pre: [${gates.join(', ')}] }\n`;
}

/** A chain with one comment behind a gate, or before one. */
export function commentBehind(gate: string, at: 'pre' | 'post' = 'pre', more = ''): string {
  return `name: pr-review
trigger: { event: pr.opened }
steps:
  - id: say
    action: gh-comment
    with: { body: Hello }
    gates: { ${at}: [${gate}] }
${more}`;
}

export const criterion = (text: string) => `{ id: it, if: "{{ ${text} }}" }`;
export const gate = (criteria: string, onFailure = 'block', id = 'guard') =>
  `{ id: ${id}, criteria: [${criteria}], on_failure: ${onFailure} }`;

async function newestRun({ app }: Harness): Promise<Run> {
  const [run] = await app.storage.read.runs.list({ chain: 'pr-review', limit: 1 });
  if (!run) throw new Error('the chain did not run');
  return run;
}

export async function stateOf(harness: Harness): Promise<RunState> {
  const state = await harness.app.storage.read.runs.load((await newestRun(harness)).id);
  if (!state) throw new Error('the run is gone');
  return state;
}

/** Every verdict that was written in the newest run, oldest first. */
export async function verdicts(harness: Harness): Promise<GateVerdict[]> {
  const artifacts = await harness.app.storage.read.artifacts.ofRun((await newestRun(harness)).id);
  return artifacts
    .filter(({ kind }) => kind === 'gate_verdict')
    .map(({ content }) => gateVerdictSchema.parse(JSON.parse(content ?? '')));
}

export const verdictLines = async (harness: Harness) =>
  (await verdicts(harness)).map(
    ({ gate, gate_passed }) => `${gate}: ${gate_passed ? 'passed' : 'not passed'}`,
  );

/** The answers of `/countersign why` and the command line. */
export async function explanationText(harness: Harness): Promise<string> {
  const state = await stateOf(harness);
  const approvals = await harness.app.storage.read.approvals.ofRun(state.run.id);
  return explainText(explain(state, approvals.at(-1) ?? null));
}

/** Bodies of the comments that the chain made, without their markers. */
export function comments({ github }: Harness, repo: string, number: number): string[] {
  return github
    .comments(repo, number)
    .filter(({ body }) => body.includes('countersign:comment'))
    .map(({ body }) => body.replace(/^<!--.*?-->\n/, ''));
}
