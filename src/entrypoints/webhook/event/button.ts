/**
 * Identifiers that this app gives to buttons: a verb and, if the verb takes one, a step. GitHub allows 20
 * characters.
 */
const IDENTIFIER = /^([a-z]+)(?::([a-z0-9_-]+))?$/;

/** A button that answers one approval comment, identified by its tag. */
const ANSWER = /^approve:([0-9a-f]{12})$/;

/**
 * The command that a check run's button stands for: `rerun:ci` is `/countersign rerun ci`. `undefined` if the
 * identifier is not one of this app's. It does not check that the verb exists; the command parser does, as
 * for typed commands.
 */
export function commandOfButton(identifier: string): string | undefined {
  if (questionOfButton(identifier) !== undefined) return '/countersign approve';
  const match = IDENTIFIER.exec(identifier);
  if (!match) return undefined;
  const [, verb, step] = match;
  return step === undefined ? `/countersign ${verb}` : `/countersign ${verb} ${step}`;
}

/** The tag of the approval comment that the button answers, if it is such a button. */
export function questionOfButton(identifier: string): string | undefined {
  return ANSWER.exec(identifier)?.[1];
}
