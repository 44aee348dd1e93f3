/**
 * The YAML between the first line `---` and the next, with an empty line in the place of the first, so that every position in
 * it is one in the file. Empty when there is none: then the file says nothing.
 */
export function frontmatterOf(text: string): string {
  return /^---[ \t]*(\r?\n[\s\S]*?\r?\n)---[ \t]*(?:\r?\n|$)/.exec(text)?.[1] ?? '';
}

/** What follows the frontmatter: the words for whoever reads the skill. */
export function bodyOf(text: string): string {
  return text.replace(/^---[ \t]*\r?\n[\s\S]*?\r?\n---[ \t]*(?:\r?\n|$)/, '');
}
