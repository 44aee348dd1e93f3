import { type Diagnostic, formatDiagnostic } from '../../core/diagnostic.ts';
import { unreachable } from '../../core/errors.ts';
import { redact } from '../../core/redact/redact.ts';
import { plainLine } from '../../domain/run/explain.ts';
import { visible } from '../text/markdown.ts';
import { asSentence, plural } from '../text/pretty.ts';

/** Why the process that runs modules ended. */
export type Died =
  | { kind: 'not_started'; detail: string }
  | { kind: 'died'; detail: string }
  | { kind: 'timed_out'; ms: number }
  | { kind: 'no_message' }
  | { kind: 'too_much_output'; limit: number }
  | { kind: 'too_much_memory'; mb: number }
  | { kind: 'idle' }
  | { kind: 'stopped' };

export function describeDied(died: Died): string {
  switch (died.kind) {
    case 'not_started':
      return `it does not start (${shown(died.detail)})`;
    case 'died':
      return `it ended by itself (${shown(died.detail)})`;
    case 'timed_out':
      return 'it gave no answer in time';
    case 'no_message':
    case 'too_much_output':
      return 'it said something that is no message';
    case 'too_much_memory':
      return `it took more than ${died.mb.toLocaleString('en')} MB of memory`;
    case 'idle':
      return 'nobody needed it';
    case 'stopped':
      return 'the app is stopping';
    default:
      return unreachable(died);
  }
}

/** Why a module gave no outcome. */
export type ModuleFault =
  | { kind: 'timed_out'; ms: number }
  | { kind: 'no_sense'; detail: string }
  | { kind: 'no_such_input'; name: string }
  | { kind: 'wrong_input'; name: string; type: string }
  | { kind: 'too_long'; limit: number }
  | { kind: 'too_many_calls'; limit: number }
  | { kind: 'wrong_answer'; detail: string }
  | { kind: 'no_fallback'; path: string };

/** The message after the module's name and a colon. */
export function describeModuleFault(diagnostic: ModuleFault): string {
  switch (diagnostic.kind) {
    case 'timed_out':
      return `it gave no answer within ${diagnostic.ms.toLocaleString('en')} ms.`;
    case 'no_sense':
      return `its engine made nothing of it: ${shown(diagnostic.detail)}.`;
    case 'no_such_input':
      return `its input “${diagnostic.name}” is neither known of the run nor in the step’s with.`;
    case 'wrong_input':
      return `its input “${diagnostic.name}” must be ${diagnostic.type}, and the step’s with has something else.`;
    case 'too_long':
      return `its question is longer than ${diagnostic.limit.toLocaleString('en')} bytes.`;
    case 'too_many_calls':
      return `it asked the model more than ${diagnostic.limit.toLocaleString('en')} times.`;
    case 'wrong_answer':
      return `its answer does not have the shape of its outputs: ${shown(diagnostic.detail)}.`;
    case 'no_fallback':
      return `its fallback ${diagnostic.path} is not in the package.`;
    default:
      return unreachable(diagnostic);
  }
}

/** Why a module could not run, and its fallback was used. */
export type Cause = Died | { kind: 'no_model' };

/** A line of the step's log, before the result of the file that was used instead. */
export function fellBack(module: string, fallback: string, cause: Cause): string {
  const because =
    cause.kind === 'no_model'
      ? 'no language model is configured'
      : `the process in which modules run is not available (${describeDied(cause)})`;
  return `${module}: ${because}, so ${fallback} is used instead.`;
}

/** A line of the step's log. */
export function reasoned(text: string): string {
  return `Reasoning: ${shown(text, 4_000)}`;
}

export function noModule(skill: string): string {
  return `The skill ${plainLine(skill)} has no module to optimize: no file in modules/.`;
}

export function noOutcome(skill: string): string {
  return `The skill ${plainLine(skill)} says no outcome, so nothing can be expected of its module.`;
}

export function badExamples(diagnostics: readonly Diagnostic[]): string {
  return diagnostics.map((diagnostic) => plainLine(formatDiagnostic(diagnostic))).join('\n');
}

export function cannotOptimize(skill: string, because: string): string {
  return asSentence(
    `the skill ${plainLine(skill)} was not optimized, and nothing is changed: ${plainLine(because)}`,
  );
}

/** `skill optimize`: both scores, and whether the result is stored. */
export function optimizedText(
  path: string,
  optimized:
    | {
        kind: 'better' | 'not_better';
        before: number;
        after: number;
        heldOut: number;
        trained: number;
        state: { demos: readonly object[] };
      }
    | { kind: 'no_demos'; before: number; heldOut: number; trained: number },
): string {
  const { kind, before, heldOut, trained } = optimized;
  const measured = `${plainLine(path)} on ${plural(heldOut, 'example')} that were held out: ${before.toFixed(2)}`;
  if (kind === 'no_demos') {
    return `${measured}.\nIt answered none of ${plural(trained, 'example')} rightly in everything, so there is nothing to show it. Nothing is changed.`;
  }
  const found = plural(optimized.state.demos.length, 'example');
  const both = `${measured} before, ${optimized.after.toFixed(2)} with ${found} out of ${trained} shown to the model.`;
  return `${both}\n${kind === 'better' ? 'Stored.' : 'That is not better. Nothing is changed.'}`;
}

function shown(text: string, longest = 300): string {
  return visible(redact(text).replaceAll(/\s+/g, ' ')).trim().replace(/\.$/, '').slice(0, longest);
}
