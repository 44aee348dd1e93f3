/** Identifiers are ours and at most 20 characters long (GitHub's limit): a verb, and a step where the verb takes one. */
const IDENTIFIER = /^([a-z]+)(?::([a-z0-9_-]+))?$/;

/** The button that answers one question, named by its tag. */
const ANSWER = /^approve:([0-9a-f]{12})$/;

/**
 * The command that a check run's button stands for: `rerun:ci` is `/countersign rerun ci`. `undefined` when the
 * identifier is none of ours. Which verbs exist is the command parser's business: a button is a way to type one.
 */
export function commandOfButton(identifier: string): string | undefined {
  if (questionOfButton(identifier) !== undefined) return '/countersign approve';
  const match = IDENTIFIER.exec(identifier);
  if (!match) return undefined;
  const [, verb, step] = match;
  return step === undefined ? `/countersign ${verb}` : `/countersign ${verb} ${step}`;
}

/** The tag of the question that the button answers, if it is such a button. */
export function questionOfButton(identifier: string): string | undefined {
  return ANSWER.exec(identifier)?.[1];
}
