import { formatDuration } from '../../../core/duration.ts';
import { entryLabel } from '../../artifact/contract.ts';
import { merges, type Step } from '../../chain/chain.ts';
import type { Frame } from '../../expression/state-schema.ts';
import { gatesOfStep } from '../../policy/gate/gates-of-step.ts';
import type { Run } from '../run.ts';
import { shortened } from './limits.ts';

/** Per list of the frame: a chain has at most 50 steps, and each a few criteria. */
const MAX_FRAME_ENTRIES = 100;

/**
 * The frame of a run, unchanged since it began: derived only from what was stored then (definition, settings,
 * facts and head). The run's repository name is not used, because a repository can be renamed.
 */
export function frameOf(run: Run): Frame {
  const { definition } = run;
  return {
    goal: shortened(`${definition.description ?? `chain ${definition.name}`}: ${subjectOf(run)}`),
    constraints: constraintsOf(run).map(shortened).slice(0, MAX_FRAME_ENTRIES),
    success_criteria: definition.steps
      .flatMap((step) => criteriaOf(step, run).map((text) => ({ step: step.id, text: shortened(text) })))
      .slice(0, MAX_FRAME_ENTRIES),
  };
}

function subjectOf({ baseRef, facts: { repo, trigger }, headSha, pullRequest }: Run): string {
  const by = typeof trigger.author === 'string' ? ` by ${trigger.author}` : '';
  const title = typeof trigger.title === 'string' ? `, ${JSON.stringify(trigger.title)}` : '';
  const subject =
    pullRequest === null ? repo.full_name : `pull request #${pullRequest} of ${repo.full_name}${by}${title}`;
  const commit = headSha === '' ? '' : `, commit ${headSha.slice(0, 7)}`;
  return `${subject}${commit}${pullRequest === null || baseRef === '' ? '' : ` into ${baseRef}`}`;
}

function constraintsOf({ definition, settings: { ci, countersign } }: Run): string[] {
  const { steps } = definition;
  const reads = (name: string) => steps.some(({ uses }) => uses.name === name);
  const asksForApproval = steps.some(({ requiresApproval }) => requiresApproval);
  return [
    ...(asksForApproval
      ? [`${countersign.count} ${countersign.count === 1 ? 'countersign is' : 'countersigns are'} needed`]
      : []),
    ...(merges(definition) ? ['nothing is merged except the head that was reviewed'] : []),
    ...(reads('ci') && ci.required.length > 0
      ? [`these checks must be there and pass: ${ci.required.join(', ')}`]
      : []),
    ...(reads('ci') ? [`a commit without checks ${ci.no_checks === 'allow' ? 'may' : 'may not'} pass`] : []),
    ...steps.flatMap(({ id, timeoutMs }) =>
      timeoutMs === undefined ? [] : [`${id} may take ${formatDuration(timeoutMs)}`],
    ),
  ];
}

function criteriaOf(step: Step, { settings }: Run): string[] {
  const { artifacts, condition, expect = [], requiresApproval, validate = [] } = step;
  const { pre, post } = gatesOfStep(step, settings.gates);
  return [
    ...(condition === undefined ? [] : [`runs only when \`${condition}\``]),
    ...(requiresApproval ? ['is countersigned by a maintainer'] : []),
    ...[...pre, ...post].map(({ gate, scope }) => `passes the gate ${gate.id} (${scope})`),
    ...validate.map(({ rule_id }) => `its inputs keep the rule ${rule_id}`),
    ...(artifacts?.expected ?? [])
      .filter(({ required }) => required)
      .map((entry) => `leaves ${entry.id} (${entryLabel(entry)})`),
    ...expect.map(({ rule_id }) => `its outcome keeps the rule ${rule_id}`),
  ];
}
