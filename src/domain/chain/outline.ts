import type { Json } from '../../core/canonical.ts';
import { isMapping, memberOf } from '../../core/mapping.ts';
import { MAX_STEPS, STEP_ID } from './chain.ts';

/**
 * A step of a chain file that may be partly wrong. Rules across steps are checked on this, so that one error
 * in the third step does not hide a misspelt skill in the fifth. Values of the wrong type are left out; the
 * schema reports them.
 */
export interface StepOutline {
  index: number;
  /** All keys of the step, valid or not; `undefined` if the step is not a mapping. */
  keys: readonly string[] | undefined;
  id: string;
  /** The id as written, which may be a duplicate; `undefined` if the step has none. */
  writtenId: string | undefined;
  skill: string | undefined;
  action: string | undefined;
  dependsOn: string[];
  /** Whether the step has `depends_on`. Otherwise it depends on the step before. */
  dependsOnWritten: boolean;
  condition: string | undefined;
  with: Json | undefined;
  requiresApproval: Json | undefined;
  validate: Json | undefined;
  expect: Json | undefined;
  outputMapping: Json | undefined;
  /** The entries of `artifacts: {expected: […]}`, valid or not. */
  expected: readonly Json[];
  gates: Json | undefined;
}

/** The steps of a file. Empty if there are too many, so that this is the only diagnostic. */
export function outlineSteps(file: Json | undefined): StepOutline[] {
  const steps = memberOf(file, 'steps');
  if (!Array.isArray(steps) || steps.length > MAX_STEPS) return [];
  const ids = stepIds(steps);
  return steps.map((step, index): StepOutline => {
    const previous = ids[index - 1];
    const dependsOn = textsOf(memberOf(step, 'depends_on'));
    return {
      index,
      keys: isMapping(step) ? Object.keys(step) : undefined,
      id: ids[index] ?? '',
      writtenId: textOf(memberOf(step, 'id')),
      skill: textOf(memberOf(step, 'skill')),
      action: textOf(memberOf(step, 'action')),
      dependsOn: dependsOn ?? (previous === undefined ? [] : [previous]),
      dependsOnWritten: dependsOn !== undefined,
      condition: textOf(memberOf(step, 'condition')),
      with: memberOf(step, 'with'),
      requiresApproval: memberOf(step, 'requires_approval'),
      validate: memberOf(step, 'validate'),
      expect: memberOf(step, 'expect'),
      outputMapping: memberOf(step, 'output_mapping'),
      expected: listOf(memberOf(memberOf(step, 'artifacts'), 'expected')),
      gates: memberOf(step, 'gates'),
    };
  });
}

/**
 * The ids of the steps. A step without an id is named after its skill or action. If that name is taken, `-2`,
 * `-3`… is added. If that name is no valid id, the step is `step-<position, from 1>`. Written ids come first,
 * so adding an id to one step never renames another.
 */
function stepIds(steps: readonly Json[]): string[] {
  const taken = new Set(steps.flatMap((step) => textOf(memberOf(step, 'id')) ?? []));
  return steps.map((step, index) => {
    const written = textOf(memberOf(step, 'id'));
    if (written !== undefined) return written;
    const uses = textOf(memberOf(step, 'skill')) ?? textOf(memberOf(step, 'action')) ?? '';
    const wanted = STEP_ID.test(uses) ? uses : `step-${index + 1}`;
    let id = wanted;
    for (let count = 2; taken.has(id); count++) id = `${wanted}-${count}`;
    taken.add(id);
    return id;
  });
}

function listOf(value: Json | undefined): Json[] {
  return Array.isArray(value) ? value : [];
}

function textOf(value: Json | undefined): string | undefined {
  return typeof value === 'string' ? value : undefined;
}

function textsOf(value: Json | undefined): string[] | undefined {
  if (typeof value === 'string') return [value];
  return Array.isArray(value) ? value.filter((entry) => typeof entry === 'string') : undefined;
}
