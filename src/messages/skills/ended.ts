/** Why a program in the sandbox was ended, as a clause. */
export type Ended =
  | { kind: 'timed_out'; ms: number }
  | { kind: 'too_much_memory'; mb: number }
  | { kind: 'too_much_output'; limit: number };

/** @param program such as `the command` */
export function endedBecause(program: string, ended: Ended): string {
  switch (ended.kind) {
    case 'timed_out':
      return `${program} took longer than ${ended.ms / 1_000} s and was ended`;
    case 'too_much_memory':
      return `${program} took more than ${ended.mb} MB of memory and was ended`;
    case 'too_much_output':
      return `${program} wrote more than ${ended.limit} bytes and was ended`;
  }
}
