/**
 * The first items that fit, rendered, and the number of remaining ones. Lists are cut between items, so that
 * no table, list or folded section is cut in the middle. Limits are bytes of UTF-8, as GitHub counts; each
 * item costs one more for its line break.
 */
export function fitting<T>(
  items: readonly T[],
  render: (item: T, index: number) => string,
  limit: { items: number; bytes: number },
): { lines: string[]; left: number } {
  const lines: string[] = [];
  let bytes = 0;
  for (const [index, item] of items.slice(0, limit.items).entries()) {
    const line = render(item, index);
    bytes += Buffer.byteLength(line) + 1;
    if (bytes > limit.bytes) break;
    lines.push(line);
  }
  return { lines, left: items.length - lines.length };
}
