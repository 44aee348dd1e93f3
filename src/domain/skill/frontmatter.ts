/**
 * The YAML between the first line `---` and the next. The first line is replaced by an empty one, so that
 * positions in it are positions in the file. Empty if there is no frontmatter.
 */
export function frontmatterOf(text: string): string {
  return /^---[ \t]*(\r?\n[\s\S]*?\r?\n)---[ \t]*(?:\r?\n|$)/.exec(text)?.[1] ?? '';
}
