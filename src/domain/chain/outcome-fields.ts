import { membersOfSchema } from '../artifact/json-schema.ts';
import { noSuchMember } from '../expression/members.ts';
import type { Reference } from '../expression/reference.ts';
import { actionResultSchema } from '../outcome/action-result.ts';
import { OUTCOME_FIELDS, outcomeSchema, schemaOfKind } from '../outcome/outcome.ts';
import { ownOutcomeSchema } from '../outcome/own-outcome.ts';
import type { KnownNames } from './known-names.ts';
import type { StepOutline } from './outline.ts';

type Named = Pick<StepOutline, 'skill' | 'action'>;

/** All top-level fields that an outcome of the step can have. */
export function outcomeFieldsOf(step: Named, known: KnownNames): readonly string[] {
  const schema = schemaOf(step, known);
  return 'shape' in schema ? Object.keys(schema.shape) : OUTCOME_FIELDS;
}

/**
 * Why no outcome of the step has the path, or `undefined` if one can have it.
 * @param whose such as `this step`
 */
export function missingInOutcome(
  whose: string,
  step: Named,
  path: Reference['path'],
  known: KnownNames,
): string | undefined {
  return noSuchMember(
    'outcome',
    schemaOf(step, known),
    path,
    (word) => `no outcome of ${whose} has "${word}"`,
  );
}

/** A skill whose kind of outcome is not known can have any. */
function schemaOf({ skill, action }: Named, { outcomes = {}, outcomeData = {} }: KnownNames) {
  if (action !== undefined) return actionResultSchema;
  const data = skill !== undefined && Object.hasOwn(outcomeData, skill) ? outcomeData[skill] : undefined;
  if (data) return ownOutcomeSchema.extend({ data: membersOfSchema(data) });
  const kind = skill !== undefined && Object.hasOwn(outcomes, skill) ? outcomes[skill] : undefined;
  return kind === undefined ? outcomeSchema : schemaOfKind(kind);
}
