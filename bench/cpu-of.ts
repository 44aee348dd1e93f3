import { readdirSync, readFileSync } from 'node:fs';

/** `CLK_TCK`, the same on every Linux of today: https://man7.org/linux/man-pages/man5/proc_pid_stat.5.html */
const MS_PER_TICK = 10;

/** CPU time in milliseconds of a process, and of its descendants, dead or alive. */
export function cpuOf(pid: number): { own: number; children: number } {
  const all = readdirSync('/proc')
    .filter((name) => /^\d+$/.test(name))
    .flatMap((name) => statOf(Number(name)) ?? []);
  const root = all.find((one) => one.pid === pid);
  let children = root?.reaped ?? 0;
  const open = [pid];
  for (let parent = open.pop(); parent !== undefined; parent = open.pop()) {
    for (const child of all.filter((one) => one.parent === parent)) {
      children += child.own + child.reaped;
      open.push(child.pid);
    }
  }
  return { own: (root?.own ?? 0) * MS_PER_TICK, children: children * MS_PER_TICK };
}

function statOf(pid: number) {
  try {
    const fields = readFileSync(`/proc/${pid}/stat`, 'utf8').split(') ').at(-1)?.split(' ') ?? [];
    const at = (index: number) => Number(fields[index]);
    return { pid, parent: at(1), own: at(11) + at(12), reaped: at(13) + at(14) };
  } catch {
    // It ended while it was being read; its parent has its time now.
    return undefined;
  }
}

/** CPU time in milliseconds of the threads of a process, by name. */
export function cpuOfThreads(pid: number): Record<string, number> {
  const tasks = `/proc/${pid}/task`;
  const times: Record<string, number> = {};
  for (const id of readdirSync(tasks)) {
    const name = Number(id) === pid ? 'main' : readFileSync(`${tasks}/${id}/comm`, 'utf8').trim();
    const [nanoseconds] = readFileSync(`${tasks}/${id}/schedstat`, 'utf8').split(' ');
    times[name] = (times[name] ?? 0) + Number(nanoseconds) / 1e6;
  }
  return times;
}
