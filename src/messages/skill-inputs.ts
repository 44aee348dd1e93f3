/** @param message what the input is, such as `is true or false`. */
export function wrongInput(name: string, message: string): string {
  return `its input "${name}" ${message}`;
}

/** What the inputs of the built-in skills may be. */
export const INPUT = {
  effort: 'is one of "low", "medium" and "high"',
  model: 'is true or false',
  scope: 'can only be "full": every check counts, and settings say which ones to ignore',
} as const;
