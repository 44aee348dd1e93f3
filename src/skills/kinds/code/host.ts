import type { Json } from '../../../core/canonical.ts';
import type { Refused } from '../../../messages/skills/code.ts';

/** A line that holds the text that was searched for. */
export interface SearchHit {
  path: string;
  line: number;
  text: string;
}

/** A commit that touched a path. */
export interface HistoryEntry {
  sha: string;
  message: string;
  author: string | null;
}

/**
 * What stands behind the functions of a template. The arguments have been checked for their form, not for their meaning:
 * a path may be any text. Throw a `HostRefusal` for what the template's author should read; other errors are not told.
 */
export interface CodeHost {
  search(text: string, signal: AbortSignal): Promise<SearchHit[]>;
  /** `null`: there is none, or it is no text. */
  file(path: string, signal: AbortSignal): Promise<string | null>;
  diff(signal: AbortSignal): Promise<string>;
  /** Newest first. */
  history(path: string, signal: AbortSignal): Promise<HistoryEntry[]>;
  /** Absent without a model. */
  ask?: ((prompt: string, signal: AbortSignal) => Promise<string>) | undefined;
  checkpoint(value: Json, signal: AbortSignal): Promise<void>;
}

/** A question that is not answered, for a reason that the template's author may read. */
export class HostRefusal extends Error {
  override readonly name = 'HostRefusal';
  readonly refused: Refused;

  constructor(refused: Refused) {
    super(refused.kind);
    this.refused = refused;
  }
}
