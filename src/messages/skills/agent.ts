import { unreachable } from '../../core/errors.ts';
import { type Ended, endedBecause } from './ended.ts';

/** Why an agent gave no answer. */
export type AgentFault =
  | { kind: 'not_turned_on'; agent: string }
  | { kind: 'no_sandbox' }
  | { kind: 'no_model'; agent: string; needs: readonly string[] }
  | { kind: 'no_head'; detail: string }
  | { kind: 'head_too_large'; what: string }
  | { kind: 'not_started'; detail: string }
  | Ended
  | { kind: 'died'; detail: string; refused?: string | undefined }
  | { kind: 'no_answer'; detail: string };

/** One sentence without its full stop, for the reason of a step. */
export function describeAgentFault(diagnostic: AgentFault): string {
  switch (diagnostic.kind) {
    case 'not_turned_on':
      return `the agent ${diagnostic.agent} is not turned on here; whoever runs Countersign turns it on with COUNTERSIGN_AGENTS`;
    case 'no_sandbox':
      return 'this machine does not allow the namespaces that agents are walled in with, so none is run';
    case 'no_model':
      return `the agent ${diagnostic.agent} needs a model of ${diagnostic.needs.join(' or ')}, and none is configured`;
    case 'no_head':
      return `the head could not be fetched: ${diagnostic.detail}`;
    case 'head_too_large':
      return `the head is too large for an agent: ${diagnostic.what}`;
    case 'not_started':
      return `the agent could not be started: ${diagnostic.detail}`;
    case 'timed_out':
    case 'too_much_memory':
    case 'too_much_output':
      return endedBecause('the agent', diagnostic);
    case 'died':
      return diagnostic.refused === undefined
        ? `the agent ended with ${diagnostic.detail}`
        : `the agent ended with ${diagnostic.detail}, after a call to the model was refused: ${diagnostic.refused}`;
    case 'no_answer':
      return `the agent gave no answer of the form that it was asked for: ${diagnostic.detail}`;
    default:
      return unreachable(diagnostic);
  }
}

/** The files of the head that an agent could not read, for the log. */
export function notSeen(paths: readonly string[]): string {
  return paths.length === 0 ? '' : `Files of the head that the agent did not see: ${paths.join(', ')}\n`;
}
