import { readdirSync, readFileSync } from 'node:fs';

/** The children of this process whose command contains this name, from the system's list. */
export function ownChildren(named: string): number[] {
  return readdirSync('/proc')
    .filter((pid) => {
      if (!/^\d+$/.test(pid)) return false;
      try {
        const [command, parent] = [
          readFileSync(`/proc/${pid}/cmdline`, 'utf8'),
          readFileSync(`/proc/${pid}/stat`, 'utf8'),
        ];
        return command.includes(named) && parent.split(') ')[1]?.split(' ')[1] === String(process.pid);
      } catch {
        return false;
      }
    })
    .map(Number);
}
