import { unfitPathReason } from './place.ts';

/** A file that a step leaves, by its path in the folder of its session. */
export interface LeftFile {
  path: string;
  bytes: Uint8Array;
}

export const MAX_LEFT_FILES = 20;
export const MAX_LEFT_FILE_BYTES = 1_000_000;
const MAX_LEFT_BYTES = 5_000_000;

/** Files that Countersign writes itself. */
export const OWN_FILES = {
  package: 'skill.log',
  review: 'analyzers.log',
  ci: 'artifacts.log',
  shell: 'shell.log',
  refusedOutcome: 'refused-outcome.json',
} as const;
const OWN_NAMES: readonly string[] = Object.values(OWN_FILES);

/**
 * The files that one session leaves. Names and content come from models, programs and CI, so they are hostile:
 * a name cannot leave the folder, replace a file of ours or be a folder of another file, on any file system.
 */
export class LeftFiles {
  readonly #files = new Map<string, LeftFile>();

  /** @returns why the file is refused, as a clause; `undefined` if it is kept. The same path again replaces it. */
  add(path: string, bytes: Uint8Array): string | undefined {
    const unfit = unfitPathReason(path);
    if (unfit !== undefined) return unfit;
    const key = path.toLowerCase().normalize('NFC');
    if (OWN_NAMES.includes(key)) return 'Countersign writes a file of this name itself';
    if (bytes.length === 0) return 'it is empty';
    if (bytes.length > MAX_LEFT_FILE_BYTES) return `it has more than ${MAX_LEFT_FILE_BYTES} bytes`;
    const others = [...this.#files].filter(([other]) => other !== key);
    if (others.some(([other]) => other.startsWith(`${key}/`) || key.startsWith(`${other}/`)))
      return 'it is a folder of another file, or a file where another one has a folder';
    if (OWN_NAMES.some((own) => key.startsWith(`${own}/`)))
      return 'Countersign writes a file of this name itself';
    if (others.length >= MAX_LEFT_FILES) return `there are more than ${MAX_LEFT_FILES} files`;
    const total = others.reduce((sum, [, file]) => sum + file.bytes.length, bytes.length);
    if (total > MAX_LEFT_BYTES) return `the files have more than ${MAX_LEFT_BYTES} bytes together`;
    this.#files.set(key, { path, bytes });
    return undefined;
  }

  all(): LeftFile[] {
    return [...this.#files.values()];
  }
}
