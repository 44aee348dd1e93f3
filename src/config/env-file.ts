import { chmodSync, closeSync, existsSync, openSync, readFileSync, unlinkSync, writeFileSync } from 'node:fs';
import { parseEnv } from 'node:util';

/** Only for its owner, because it contains the private key. */
const MODE = 0o600;

/** The variables of an env file; none if the file does not exist. */
export function readEnvFile(file: string): NodeJS.Dict<string> {
  return existsSync(file) ? parseEnv(readFileSync(file, 'utf8')) : {};
}

/**
 * The system's error code for writing to the file (`EACCES`); `undefined` if it is writable. Opens the file
 * rather than reading its permissions, which say nothing about a read-only file system or about root.
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
 * Sets variables in an env file and keeps its other lines and comments. Line ends in a value are written as
 * `\n`, so that a value stays on one line and cannot set another variable. Writes in place, because a file
 * mounted into a container cannot be replaced.
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
  // `writeFileSync` sets the mode only on a new file. An existing file must not be readable by others even
  // for a moment.
  if (existsSync(file)) chmodSync(file, MODE);
  writeFileSync(file, `${[...kept, ...added].join('\n')}\n`, { mode: MODE });
}
