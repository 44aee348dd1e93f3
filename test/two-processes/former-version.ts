import { execFileSync } from 'node:child_process';
import { mkdtempSync, rmSync, symlinkSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';

const ROOT = fileURLToPath(new URL('../..', import.meta.url));

/** The versions that this one is tested beside. There is no release yet; after one, it is that of the last. */
const COMMITS = {
  /** The last one that does all of the work alone. */
  alone: 'ed0a820a76336b0fd5ac5635ac4257f930e81435',
  /** The last one that divides the work with others and has fewer columns than this one. */
  sharing: 'e02626f47dea7eed815a32a6a8eb8bcbadd2daf9',
};

/** Whether this is a checkout that has those versions. */
export const hasFormerVersion: boolean = Object.values(COMMITS).every((commit) => {
  try {
    execFileSync('git', ['cat-file', '-e', `${commit}^{commit}`], { cwd: ROOT, stdio: 'ignore' });
    return true;
  } catch {
    return false;
  }
});

/** Why tests beside it are skipped, for their names. */
export const WITHOUT_FORMER_VERSION = hasFormerVersion
  ? ''
  : ' (skipped: this is no checkout with its history)';

/** Writes its files to a folder of their own. They run with the packages of this version. */
export function checkOutFormerVersion(which: keyof typeof COMMITS): { root: string; remove(): void } {
  const root = mkdtempSync(join(tmpdir(), 'countersign-former-'));
  const archive = execFileSync('git', ['archive', COMMITS[which]], { cwd: ROOT, maxBuffer: 1024 ** 3 });
  execFileSync('tar', ['-x', '-C', root], { input: archive });
  symlinkSync(join(ROOT, 'node_modules'), join(root, 'node_modules'));
  return { root, remove: () => rmSync(root, { recursive: true, force: true }) };
}
