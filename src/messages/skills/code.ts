import { unreachable } from '../../core/errors.ts';
import { redact } from '../../core/redact/redact.ts';
import { visible } from '../text/markdown.ts';

/** The line and column of an error in a template, from 1; `null` if unknown. */
type Position = { line: number; column: number | null } | null;

/** Why a code template gave no result. */
export type CodeFault =
  | { kind: 'no_language' }
  | { kind: 'network_open' }
  | { kind: 'not_started'; detail: string }
  | { kind: 'died'; detail: string }
  | { kind: 'timed_out'; ms: number }
  /** Of its values, or of the whole process. */
  | { kind: 'out_of_memory'; message: string; at: Position }
  | { kind: 'too_much_memory'; mb: number }
  | { kind: 'threw'; message: string; at: Position }
  | { kind: 'no_result'; message: string }
  | { kind: 'printed_too_much'; limit: number }
  | { kind: 'too_much_output'; limit: number }
  | { kind: 'result_too_large'; limit: number }
  /**
   * It broke the protocol between its process and the app. A template cannot do that from inside its
   * interpreter.
   */
  | { kind: 'no_message' }
  | { kind: 'out_of_turn' }
  | { kind: 'said_more'; what: string }
  | { kind: 'wrong_result'; outcome: string; detail: string };

/**
 * The failure of a template in the form that editors and terminals turn into links: `code/check.js:12:5: it
 * threw an error: …`
 */
export function codeFailure(file: string, diagnostic: CodeFault): string {
  const at = 'at' in diagnostic ? diagnostic.at : null;
  const position = at === null ? [] : [at.line, ...(at.column === null ? [] : [at.column])];
  return `${[file, ...position].join(':')}: ${describeCodeFault(diagnostic)}`;
}

/** The end of a sentence that starts with the template's name. */
export function describeCodeFault(diagnostic: CodeFault): string {
  switch (diagnostic.kind) {
    case 'no_language':
      return 'it is neither JavaScript (.js) nor Python (.py)';
    case 'network_open':
      return 'Python is not run where a process cannot be cut off from the network';
    case 'not_started':
      return `its process could not be started${withDetail(diagnostic.detail)}`;
    case 'died':
      return `its process ended with ${diagnostic.detail} and no result`;
    case 'timed_out':
      return `it took longer than ${count(diagnostic.ms)} ms`;
    case 'out_of_memory':
      return `it took more memory than it is given${withDetail(diagnostic.message)}`;
    case 'too_much_memory':
      return `it took more than ${count(diagnostic.mb)} MB of memory`;
    case 'threw':
      return `it threw an error${withDetail(diagnostic.message)}`;
    case 'no_result':
      return `it ended without a result${withDetail(diagnostic.message)}`;
    case 'printed_too_much':
      return `it printed more than ${count(diagnostic.limit)} bytes`;
    case 'too_much_output':
      return `it wrote more than ${count(diagnostic.limit)} bytes`;
    case 'result_too_large':
      return `its result is larger than ${count(diagnostic.limit)} bytes`;
    case 'no_message':
      return 'it wrote something that is no message';
    case 'out_of_turn':
      return 'it asked out of turn';
    case 'said_more':
      return `after its result it said more (${diagnostic.what})`;
    case 'wrong_result':
      return `what it submitted is no ${diagnostic.outcome}${withDetail(diagnostic.detail)}`;
    default:
      return unreachable(diagnostic);
  }
}

/** Why a template's request is refused. The template gets it as an error, for its author. */
export type Refused =
  | { kind: 'unknown' }
  | { kind: 'wrong_argument'; position: number | null; detail: string }
  | { kind: 'calls_spent'; limit: number }
  | { kind: 'bytes_spent'; limit: number }
  | { kind: 'time_spent'; ms: number }
  | { kind: 'no_answer' }
  | { kind: 'file_too_large'; path: string; limit: number }
  | { kind: 'too_many_reads'; limit: number }
  | { kind: 'too_many_files'; limit: number }
  | { kind: 'by_github'; detail: string }
  | { kind: 'by_model'; detail: string }
  /** Of the package's prompt, or of the skill that it ran. */
  | { kind: 'by_skill'; detail: string }
  | { kind: 'not_kept'; detail: string };

/** @param name of the function that was called */
export function describeRefused(name: string, refused: Refused): string {
  return `${shown(name)}: ${whyRefused(refused)}`;
}

function whyRefused(refused: Refused): string {
  switch (refused.kind) {
    case 'unknown':
      return 'there is no function of this name';
    case 'wrong_argument':
      return `${refused.position === null ? '' : `argument ${refused.position}: `}${refused.detail}`;
    case 'calls_spent':
      return `the budget of ${count(refused.limit)} calls is spent`;
    case 'bytes_spent':
      return `the budget of ${count(refused.limit)} bytes is spent`;
    case 'time_spent':
      return `the budget of ${count(refused.ms)} ms of waiting is spent`;
    case 'no_answer':
      return 'there is no answer at the moment';
    case 'file_too_large':
      return `${shown(refused.path)} is larger than ${count(refused.limit)} bytes`;
    case 'too_many_reads':
      return `no more than ${count(refused.limit)} files are read in one execution`;
    case 'too_many_files':
      return `the pull request changes more than ${count(refused.limit)} files, which are not searched`;
    case 'by_github':
      return `GitHub does not answer this: ${shown(refused.detail)}`;
    case 'by_model':
    case 'not_kept':
      return refused.detail;
    case 'by_skill':
      return shown(refused.detail);
    default:
      return unreachable(refused);
  }
}

export function noPrompt(path: string): string {
  return `the package has no prompt ${path}`;
}

/** A line of a template's log about what it stored. */
export function checkpointNote(number: number, json: string): string {
  return `checkpoint ${number}: ${json}`;
}

function withDetail(text: string): string {
  const words = shown(text);
  return words === '' ? '' : `: ${words}`;
}

/** Untrusted text within a sentence: on one line, redacted and shortened. */
function shown(text: string): string {
  return visible(redact(text).replaceAll(/\s+/g, ' ')).trim().slice(0, 300);
}

function count(value: number): string {
  return value.toLocaleString('en');
}
