import type { Json } from '../../../core/canonical.ts';
import type { Refused } from '../../../messages/skills/code.ts';

/** A line that contains the searched text. */
export interface SearchHit {
  path: string;
  line: number;
  text: string;
}

/** A commit that changed a path. */
interface HistoryEntry {
  sha: string;
  message: string;
  author: string | null;
}

/**
 * The implementation of a program's functions. The arguments have the right types, but arbitrary values: a
 * path can be any text. Throw a `HostRefusal` for messages to the program's author; the texts of other errors
 * are not passed on.
 */
export interface CodeHost {
  search(text: string, signal: AbortSignal): Promise<SearchHit[]>;
  /** `null` if the file does not exist or is not text. */
  file(path: string, signal: AbortSignal): Promise<string | null>;
  diff(signal: AbortSignal): Promise<string>;
  /** Newest first. */
  history(path: string, signal: AbortSignal): Promise<HistoryEntry[]>;
  /** Absent without a model. */
  ask?: ((prompt: string, signal: AbortSignal) => Promise<string>) | undefined;
  checkpoint(value: Json, signal: AbortSignal): Promise<void>;
  /** The texts of a workflow artifact of the head; `null` if CI left none. Absent without CI. */
  ciFiles?(name: string, signal: AbortSignal): Promise<{ path: string; content: string }[] | null>;
  /** A prompt of the package with the run's values and these, fenced. Absent without a package. */
  renderPrompt?(path: string, values: { [name: string]: Json }, signal: AbortSignal): Promise<string>;
  /** The outcome of a skill, or of another file of the package. Absent without a package. */
  runSkill?(target: string, inputs: { [name: string]: Json }, signal: AbortSignal): Promise<Json>;
  /** Leaves a file. Absent where nothing is kept. */
  leave?: ((path: string, text: string) => Promise<void>) | undefined;
}

/** A refused call, with a reason that the program's author may read. */
export class HostRefusal extends Error {
  override readonly name = 'HostRefusal';
  readonly refused: Refused;

  constructor(refused: Refused) {
    super(refused.kind);
    this.refused = refused;
  }
}
