import { createHash } from 'node:crypto';
import { lstat, mkdtemp, readdir, rm } from 'node:fs/promises';
import { hostname, tmpdir } from 'node:os';
import { join } from 'node:path';

/** Containers can share a folder for temporary files, where a number of a process means another process to each. */
const host = () => createHash('sha256').update(hostname()).digest('hex').slice(0, 8);

/** An empty folder that no other user can enter. Its name says whose it is, because a killed process removes nothing. */
export function temporaryFolder(purpose: string): Promise<string> {
  return mkdtemp(join(tmpdir(), `countersign-${purpose}-${host()}-${process.pid}-`));
}

const NAME = /^countersign-[a-z]+(?:-[a-z]+)?-([0-9a-f]{8})-(\d+)-[A-Za-z0-9]{6}$/;

/** Removes the folders of processes that were killed. What cannot be removed stays, and does no harm. */
export async function removeAbandonedFolders(): Promise<void> {
  const [root, own] = [tmpdir(), host()];
  for (const name of await readdir(root).catch(() => [])) {
    const [, made, pid] = NAME.exec(name) ?? [];
    if (made !== own) continue;
    const folder = join(root, name);
    const found = await lstat(folder).catch(() => undefined);
    // Anybody can create a folder or a link with such a name.
    if (!found?.isDirectory() || found.uid !== process.getuid?.()) continue;
    if (isRunning(Number(pid), found.mtimeMs)) continue;
    await rm(folder, { recursive: true, force: true }).catch(() => {});
  }
}

function isRunning(pid: number, since: number): boolean {
  // A container often gives the same number to each start.
  if (pid === process.pid) return since >= performance.timeOrigin;
  try {
    process.kill(pid, 0);
    return true;
  } catch (error) {
    return !(error instanceof Error && 'code' in error && error.code === 'ESRCH');
  }
}
