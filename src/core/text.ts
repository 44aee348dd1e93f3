const utf8 = new TextDecoder();

/**
 * What a file that people wrote says, for whoever reads it from GitHub or from a disk. Without a byte order mark: some editors write one, nobody
 * sees it, and a file should not be another one for it. U+FFFD stands where the bytes are no UTF-8.
 */
export function textOfFile(bytes: Uint8Array): string {
  return utf8.decode(bytes);
}
