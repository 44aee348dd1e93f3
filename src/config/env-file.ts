import { chmodSync, closeSync, existsSync, openSync, readFileSync, unlinkSync, writeFileSync } from 'node:fs';
import { parseEnv } from 'node:util';

/** Its owner alone: the private key is in it. */
const MODE = 0o600;

/** What an env file sets; nothing when there is none. */
export function readEnvFile(file: string): NodeJS.Dict<string> {
  return existsSync(file) ? parseEnv(readFileSync(file, 'utf8')) : {};
}

/**
 * What keeps the file from being written, as the system names it (`EACCES`); `undefined` when it can be. Tried and not asked for:
 * permissions say nothing of a read-only file system, nor of what root may not write.
 */
export function unwritable(file: string): string | undefined {
  const isNew = !existsSync(file);
  try {
    closeSync(openSync(file, 'a', MODE));
    if (isNew) unlinkSync(file);
    return undefined;
  } catch (error) {
    return error instanceof Error && 'code' in error ? String(error.code) : String(error);
  }
}

/**
 * Sets variables in an env file and leaves its other lines and comments as they are. Line ends of a value are written as `\n`, so that
 * a value is one line and cannot set a variable of its own. Written in place: a file that a container mounts cannot be replaced.
 */
export function setInEnvFile(file: string, values: Readonly<NodeJS.Dict<string>>): void {
  const isSet = (line: string) => Object.keys(values).some((name) => line.startsWith(`${name}=`));
  const kept = existsSync(file)
    ? readFileSync(file, 'utf8')
        .split('\n')
        .filter((line) => !isSet(line))
    : [];
  if (kept.at(-1) === '') kept.pop();
  const added = Object.entries(values).map(
    ([name, value = '']) => `${name}=${value.replaceAll(/\r?\n/g, '\\n')}`,
  );
  // The mode of `writeFileSync` is for a new file only, and nobody else may read one that was there, not even for a moment.
  if (existsSync(file)) chmodSync(file, MODE);
  writeFileSync(file, `${[...kept, ...added].join('\n')}\n`, { mode: MODE });
}
