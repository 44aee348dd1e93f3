import { type Diagnostic, notAllowed } from '../../core/diagnostic.ts';
import { isMapping } from '../../core/mapping.ts';
import { compileExpression } from '../expression/condition.ts';
import { ExpressionError } from '../expression/syntax.ts';
import { outcomeFieldsOf } from './outcome-fields.ts';
import type { StepOutline } from './outline.ts';
import type { Path, YamlSource } from './positions.ts';
import { MAPPING_ROOTS } from './state-mapping.ts';

/**
 * Diagnostics of the expressions in `output_mapping:`. The schema reports values that are not strings, and
 * unknown slots.
 */
export function checkMappings(source: YamlSource, steps: readonly StepOutline[]): Diagnostic[] {
  return steps.flatMap((step) => {
    const { index, outputMapping } = step;
    const fields = outcomeFieldsOf(step);
    const entries = isMapping(outputMapping) ? Object.entries(outputMapping) : [];
    return entries.flatMap(([slot, text]) =>
      typeof text === 'string'
        ? checkMapping(source, ['steps', index, 'output_mapping', slot], text, fields)
        : [],
    );
  });
}

/** A field that no outcome of the step has would leave its slot empty in every run. */
function checkMapping(source: YamlSource, path: Path, text: string, fields: readonly string[]): Diagnostic[] {
  try {
    return compileExpression(text, MAPPING_ROOTS).references.flatMap(({ path: [field], offset }) => {
      if (field === undefined || fields.includes(String(field))) return [];
      const message = notAllowed(`no outcome of this step has "${field}"`, fields, String(field));
      return [source.diagnostic(path, message, { offset })];
    });
  } catch (error) {
    if (!(error instanceof ExpressionError)) throw error;
    return [source.diagnostic(path, error.message, { offset: error.offset })];
  }
}
