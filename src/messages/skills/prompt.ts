import { nearest } from '../../core/diagnostic.ts';
import { unreachable } from '../../core/errors.ts';
import { redact } from '../../core/redact/redact.ts';
import { visible } from '../text/markdown.ts';
import { listed } from '../text/pretty.ts';

/** Why a prompt template gave no text. */
export type RenderFault =
  | {
      kind: 'template';
      line: number | null;
      message: string;
      /** The name of an undefined value, and the existing names. */
      missing?: { name: string; known: readonly string[] } | undefined;
    }
  | { kind: 'out_of_fuel'; line: number | null; limit: number }
  | { kind: 'too_long'; limit: number }
  | { kind: 'too_much_context'; bytes: number; limit: number }
  | { kind: 'timed_out'; ms: number }
  | { kind: 'out_of_memory' }
  | { kind: 'crashed'; detail: string };

/**
 * One sentence that starts with the position: `prompts/review.md, line 3: unknown filter: filter up is
 * unknown.`
 */
export function describeRenderFault(template: string, diagnostic: RenderFault): string {
  const line = 'line' in diagnostic && diagnostic.line !== null ? `, line ${diagnostic.line}` : '';
  return `${shown(template)}${line}: ${because(diagnostic)}.`;
}

function because(diagnostic: RenderFault): string {
  switch (diagnostic.kind) {
    case 'template':
      return shown(`${diagnostic.message}${diagnostic.missing ? missed(diagnostic.missing) : ''}`);
    case 'out_of_fuel':
      return `it takes more than ${count(diagnostic.limit)} steps; a loop in it is too long`;
    case 'too_long':
      return `it renders to more than ${count(diagnostic.limit)} bytes`;
    case 'too_much_context':
      return `the template and its values have ${count(diagnostic.bytes)} bytes, and at most ${count(diagnostic.limit)} are rendered`;
    case 'timed_out':
      return `it was not rendered within ${count(diagnostic.ms)} ms`;
    case 'out_of_memory':
      return 'rendering it takes more memory than a template may have';
    case 'crashed':
      return `the process that renders it ended early (${shown(diagnostic.detail)})`;
    default:
      return unreachable(diagnostic);
  }
}

function missed({ name, known }: { name: string; known: readonly string[] }): string {
  const above = name.slice(0, name.lastIndexOf('.') + 1);
  const meant = nearest(name.slice(above.length), known);
  const hint = meant === undefined ? '' : ` (did you mean ${above}${meant}?)`;
  const others = known.length === 0 ? '' : `; there are ${listed([...known].sort(), 'and')}`;
  return `: there is no ${name}${hint}${others}`;
}

function shown(text: string): string {
  return visible(redact(text).replaceAll(/\s+/g, ' ')).trim().slice(0, 300);
}

function count(value: number): string {
  return value.toLocaleString('en');
}

export const NOT_OF_A_PULL_REQUEST = 'it is about a pull request, and this run is about none';
export const TOO_MANY_FILES = 'the pull request changes more files than GitHub lists';
export const NOT_SHOWN = 'GitHub shows no change of it: it is binary or too large';
