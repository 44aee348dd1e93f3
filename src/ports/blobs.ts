/**
 * The store of large artifacts. Paths are relative, use `/`, and cannot lead out of the store; every call
 * refuses others with `blobs.unsafe_path`. A problem that only the store's owner can fix is
 * `storage.unavailable`.
 *
 * The store keeps each blob's SHA-256 beside it and checks it at every read. Lost or changed bytes are the
 * error `blobs.damaged`, never data. Rejected: a column in the artifact's row. A store with its own hashes
 * can be copied, moved and checked without the database, and writes bytes and hash in one step.
 */
export interface Blobs {
  /**
   * Writes the blob completely or not at all, and replaces a blob at the same path. Takes bytes rather than a
   * stream, because redaction needs the complete text.
   */
  put(path: string, data: Uint8Array | string): Promise<StoredBlob>;
  /** The blob's bytes, or `undefined` if there is none. */
  get(path: string): Promise<Uint8Array | undefined>;
  /**
   * The same in pieces, with little memory for any size. The last piece follows only after the hash was
   * verified, so a caller that reads to the end has the stored bytes. Damage throws before that.
   */
  open(path: string): Promise<AsyncIterable<Uint8Array> | undefined>;
  has(path: string): Promise<boolean>;
  /** The metadata, without reading the blob; `undefined` if there is none. */
  stat(path: string): Promise<BlobFacts | undefined>;
  /**
   * Every blob, in no particular order. A blob that is created or deleted meanwhile may or may not be
   * included.
   */
  list(): AsyncIterable<BlobFacts>;
  /** Deletes the blob, if there is one. Must not run at the same time as a write to the same path. */
  delete(path: string): Promise<void>;
}

interface StoredBlob {
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
  /** When it was last written, by the clock of the store. */
  modifiedAt: Date;
}
