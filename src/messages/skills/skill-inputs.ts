/** @param message a requirement, such as `is true or false` */
export function wrongInput(name: string, message: string): string {
  return `its input "${name}" ${message}`;
}

/** The requirements on the inputs of the built-in skills. */
export const INPUT = {
  effort: 'is one of "low", "medium" and "high"',
  model: 'is true or false',
  artifacts: 'is a list of at most 5 names of workflow artifacts',
  days: 'is a number of days from 1 to 3650',
  drafts: 'is true or false',
  exceptLabels: 'is a list of at most 20 names of labels',
  scope: 'can only be "full": every check counts, and settings say which ones to ignore',
} as const;
