/**
 * Where large artifacts lie. Paths are relative, with `/`, and cannot lead out of the store; every call refuses another
 * one with `blobs.unsafe_path`. What only the owner of the store can mend is `storage.unavailable`.
 *
 * Each blob's SHA-256 lies in the store with it and is checked whenever it is read: a store that lost or changed bytes is
 * an error, `blobs.damaged`, and never data. Rejected: a column in the row of the artifact. A store that knows its own hashes
 * can be copied, moved and checked without the database, and bytes and hash come into being in one step.
 */
export interface Blobs {
  /**
   * Writes the blob whole or not at all; what was at the path is replaced. Takes the bytes and no stream, because secrets
   * can be hidden only in a text that is seen whole.
   */
  put(path: string, data: Uint8Array | string): Promise<StoredBlob>;
  /** The blob's bytes, or `undefined` when there is none. */
  get(path: string): Promise<Uint8Array | undefined>;
  /**
   * The same piece by piece, in little memory whatever the size. The last piece comes only after the hash of all was found
   * right, so whoever read to the end has what was stored; damage ends it with an error before.
   */
  open(path: string): Promise<AsyncIterable<Uint8Array> | undefined>;
  has(path: string): Promise<boolean>;
  /** What is known without reading it, or `undefined` when there is none. */
  stat(path: string): Promise<BlobFacts | undefined>;
  /** Every blob, in no particular order; one that comes or goes meanwhile may be among them or not. */
  list(): AsyncIterable<BlobFacts>;
  /** Afterwards there is none at the path; that there was none before is no error. Nobody may be writing there. */
  delete(path: string): Promise<void>;
}

export interface StoredBlob {
  path: string;
  /** In bytes. */
  size: number;
  /** In hex. */
  sha256: string;
}

export interface BlobFacts {
  path: string;
  /** In bytes. */
  size: number;
  /** When it was last put, by the clock of the store. */
  modifiedAt: Date;
}
