const utf8 = new TextDecoder();

/**
 * The text of a file that a person wrote, from GitHub or from a disk. Drops a byte order mark: some editors
 * write one, it is invisible, and it must not change a file's content hash. Invalid UTF-8 becomes U+FFFD.
 */
export function textOfFile(bytes: Uint8Array): string {
  return utf8.decode(bytes);
}
