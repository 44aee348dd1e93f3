import { realpathSync } from 'node:fs';
import { dirname } from 'node:path';

/**
 * The folder in which a person called the command, if it is not the process's own folder. npm runs a
 * package's scripts in the package's folder and puts the caller's into `INIT_CWD`
 * (https://docs.npmjs.com/cli/commands/npm-run). Used only for scripts of this package: another package's
 * script may have changed the folder on purpose.
 * @param root the package's folder
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
