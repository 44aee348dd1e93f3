/** Cuts what a process writes into lines. */
export interface Lines {
  /** The lines that are whole now; what follows the last line break waits for the rest of its line. */
  add(text: string): string[];
  /** How many characters wait. */
  waiting(): number;
}

export function cutLines(): Lines {
  let rest = '';
  return {
    add(text) {
      rest += text;
      // Splitting a long line again with each piece of it would take quadratic time.
      if (!text.includes('\n')) return [];
      const lines = rest.split('\n');
      rest = lines.pop() ?? '';
      return lines;
    },
    waiting: () => rest.length,
  };
}
