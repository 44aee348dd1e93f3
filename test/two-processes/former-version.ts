import { execFileSync } from 'node:child_process';
import { mkdtempSync, rmSync, symlinkSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';

const ROOT = fileURLToPath(new URL('../..', import.meta.url));

/** The version that this one is tested beside. There is no release yet; after one, it is that of the last. */
const COMMIT = 'ed0a820a76336b0fd5ac5635ac4257f930e81435';

/** Whether this is a checkout that has that version. */
export const hasFormerVersion: boolean = (() => {
  try {
    execFileSync('git', ['cat-file', '-e', `${COMMIT}^{commit}`], { cwd: ROOT, stdio: 'ignore' });
    return true;
  } catch {
    return false;
  }
})();

/** Why tests beside it are skipped, for their names. */
export const WITHOUT_FORMER_VERSION = hasFormerVersion
  ? ''
  : ' (skipped: this is no checkout with its history)';

/** Writes its files to a folder of their own. They run with the packages of this version. */
export function checkOutFormerVersion(): { root: string; remove(): void } {
  const root = mkdtempSync(join(tmpdir(), 'countersign-former-'));
  const archive = execFileSync('git', ['archive', COMMIT], { cwd: ROOT, maxBuffer: 1024 ** 3 });
  execFileSync('tar', ['-x', '-C', root], { input: archive });
  symlinkSync(join(ROOT, 'node_modules'), join(root, 'node_modules'));
  return { root, remove: () => rmSync(root, { recursive: true, force: true }) };
}
