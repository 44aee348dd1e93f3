import { type Ended, endedBecause } from './ended.ts';

/** Why a command did not run to its end. */
type Fault = { kind: 'not_started' | 'died'; detail: string } | Ended;

export const SHELL_OFF =
  'commands are turned off on this server; its operator turns them on with COUNTERSIGN_SHELL=allow';
export const SHELL_NOT_IN_SETTINGS =
  'the settings of this repository do not allow commands; "shell: allow" in .github/countersign.yml does';
export const SHELL_OFF_IN_ORGANISATION =
  'the settings of the organisation have turned commands off for all its repositories';
export const NO_SANDBOX = 'this machine does not allow the namespaces that hold a command, so none is run';

/** A clause. */
export function shellFault(fault: Fault): string {
  switch (fault.kind) {
    case 'not_started':
      return `the command could not be started: ${fault.detail}`;
    case 'timed_out':
    case 'too_much_memory':
    case 'too_much_output':
      return endedBecause('the command', fault);
    case 'died':
      return `the sandbox of the command ended with ${fault.detail}`;
  }
}
