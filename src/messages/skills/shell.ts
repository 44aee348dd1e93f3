/** Why a command did not run to its end. */
type Fault =
  | { kind: 'not_started' | 'died'; detail: string }
  | { kind: 'timed_out'; ms: number }
  | { kind: 'too_much_memory'; mb: number }
  | { kind: 'too_much_output'; limit: number };

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
      return `the command took longer than ${fault.ms / 1_000} s and was ended`;
    case 'too_much_memory':
      return `the command took more than ${fault.mb} MB of memory and was ended`;
    case 'too_much_output':
      return `the command wrote more than ${fault.limit} bytes and was ended`;
    case 'died':
      return `the sandbox of the command ended with ${fault.detail}`;
  }
}
