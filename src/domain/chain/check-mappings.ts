import type { Diagnostic } from '../../core/diagnostic.ts';
import { isMapping } from '../../core/mapping.ts';
import { compileExpression } from '../expression/condition.ts';
import { checkExpression } from './check.ts';
import type { KnownNames } from './known-names.ts';
import { missingInOutcome } from './outcome-fields.ts';
import type { StepOutline } from './outline.ts';
import type { YamlSource } from './positions.ts';
import { MAPPING_ROOTS } from './state-mapping.ts';

/**
 * Diagnostics of the expressions in `output_mapping:`. The schema reports values that are not strings, and
 * unknown slots. A field that no outcome of the step has would leave its slot empty in every run.
 */
export function checkMappings(
  source: YamlSource,
  steps: readonly StepOutline[],
  known: KnownNames,
): Diagnostic[] {
  return steps.flatMap((step) => {
    const { index, outputMapping } = step;
    const entries = isMapping(outputMapping) ? Object.entries(outputMapping) : [];
    return entries.flatMap(([slot, text]) =>
      typeof text === 'string'
        ? checkExpression(
            source,
            ['steps', index, 'output_mapping', slot],
            text,
            (written) => compileExpression(written, MAPPING_ROOTS),
            ({ path }) => missingInOutcome('this step', step, path, known),
          )
        : [],
    );
  });
}
