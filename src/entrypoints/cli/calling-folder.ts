import { realpathSync } from 'node:fs';
import { dirname } from 'node:path';

/**
 * The folder in which a person called the command, when that is another than the process's: npm runs the scripts of a package in the
 * package's own folder, and says in `INIT_CWD` where it was called (https://docs.npmjs.com/cli/commands/npm-run). Believed for
 * scripts of this package alone: another package's script may have changed to a folder on purpose before it called this command.
 * @param root the package's folder.
 */
export function callingFolder(env: Readonly<NodeJS.Dict<string>>, root: string): string | undefined {
  const { INIT_CWD: called, npm_package_json: manifest } = env;
  if (!called || !manifest) return undefined;
  try {
    return realpathSync(dirname(manifest)) === realpathSync(root) ? realpathSync(called) : undefined;
  } catch {
    return undefined;
  }
}
