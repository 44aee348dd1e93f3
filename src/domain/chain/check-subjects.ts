import type { Diagnostic } from '../../core/diagnostic.ts';
import { isMapping } from '../../core/mapping.ts';
import { actionNamed } from '../policy/capability.ts';
import { AUTO_SKILL } from './chain.ts';
import type { KnownNames } from './known-names.ts';
import type { StepOutline } from './outline.ts';
import type { YamlSource } from './positions.ts';
import { isUnconditional, misfit, type Working } from './subject.ts';
import type { TriggerOrigin } from './trigger-members.ts';

/**
 * Diagnostics of steps that need a pull request, an issue or a commit where the triggers have none.
 * @param of `all`: no trigger has one, so the step never works. `some`: others have one, and nothing keeps the step from
 * running for those that do not
 */
export function checkSubjects(
  source: YamlSource,
  steps: readonly StepOutline[],
  { skills }: KnownNames,
  origins: readonly TriggerOrigin[] | undefined,
  of: 'some' | 'all',
): Diagnostic[] {
  if (!origins) return [];
  const sources = origins.flatMap((origin) => origin.subjects);
  return steps.flatMap((step) => {
    // An unknown skill has its own diagnostic.
    if (step.skill !== undefined && step.skill !== AUTO_SKILL && !skills.includes(step.skill)) return [];
    const found = misfit(workingOf(step), sources);
    if (found?.of !== of || (of === 'some' && !isUnconditional(step, steps))) return [];
    const key = step.skill === undefined ? 'action' : 'skill';
    return [source.diagnostic(['steps', step.index, key], found.because)];
  });
}

function workingOf({ id, skill, action, requiresApproval }: StepOutline): Working {
  // A step with both has its own diagnostic.
  const acts = skill === undefined ? action : undefined;
  const asks =
    requiresApproval === true || isMapping(requiresApproval) || actionNamed(acts)?.confirmation === 'person';
  return { id, skill, action: acts, asks };
}
