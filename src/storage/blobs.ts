/** Where large artifacts lie. Paths are relative, with `/`, and cannot lead out of the store. */
export interface Blobs {
  /**
   * Writes the blob whole or not at all; what was at the path is replaced.
   * @throws CountersignError `blobs.unsafe_path` for a path that is not inside the store.
   */
  put(path: string, data: Uint8Array | string): Promise<StoredBlob>;
  /** The blob's bytes, or `undefined` when there is none. */
  get(path: string): Promise<Uint8Array | undefined>;
  has(path: string): Promise<boolean>;
}

export interface StoredBlob {
  path: string;
  /** In bytes. */
  size: number;
  /** In hex. */
  sha256: string;
}
