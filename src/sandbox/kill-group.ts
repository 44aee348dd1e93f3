/** Ends a process and all of its group. There is none any more when it is gone already, which is as good. */
export function killGroup(pid: number | undefined): void {
  if (pid === undefined) return;
  try {
    process.kill(-pid, 'SIGKILL');
  } catch {}
}
