import { z } from 'zod';

/**
 * When a person gave a command, as far as GitHub says. Any two of these can be ordered, whichever delivery
 * arrived first. A comment has the second of its creation and an increasing id. A button has only the time at
 * which its delivery arrived.
 */
export const givenAtSchema = z.strictObject({
  /** ISO 8601, without a fraction. */
  second: z.iso.datetime(),
  /** Within the second: buttons that let work continue, then comments, then buttons that hold work back. */
  source: z.enum(['loosening_button', 'comment', 'restraining_button']),
  /** Within the source: the comment's id, or a button's milliseconds. */
  number: z.int(),
  /** Within a comment: the position of the command among the others. */
  line: z.int(),
});
export type GivenAt = z.infer<typeof givenAtSchema>;

export function givenInComment(comment: { comment_id: number; created_at: string }, line: number): GivenAt {
  return {
    second: secondOf(new Date(comment.created_at)),
    source: 'comment',
    number: comment.comment_id,
    line,
  };
}

/**
 * The longest time, in milliseconds, that a button's delivery is assumed to take: GitHub's usual delay, with
 * a margin.
 */
export const BUTTON_DELAY_MS = 5_000;

/**
 * A button, by the time at which its delivery arrived. The person pressed it some unknown time earlier. A
 * button that lets work continue is assumed to be older, so it loses against a comment from the same seconds.
 * One that holds work back is not.
 */
export function givenByButton(verb: OrderedVerb, came: Date): GivenAt {
  return LOOSENING.has(verb)
    ? givenAt('loosening_button', new Date(came.getTime() - BUTTON_DELAY_MS))
    : givenAt('restraining_button', came);
}

/**
 * A command from the command line, or from Studio. Its time is exact, so two of them count by their milliseconds. It counts
 * after the comments of the same second, because the person who gives it can see them.
 */
export function givenExactly(at: Date): GivenAt {
  return givenAt('restraining_button', at);
}

function givenAt(source: 'loosening_button' | 'restraining_button', at: Date): GivenAt {
  return { second: secondOf(at), source, number: at.getTime() % 1_000, line: 0 };
}

function secondOf(at: Date): string {
  return new Date(Math.floor(at.getTime() / 1_000) * 1_000).toISOString();
}

/** Negative if `a` was given first. */
export function inOrderGiven(a: GivenAt, b: GivenAt): number {
  const sources = givenAtSchema.shape.source.options;
  return (
    Date.parse(a.second) - Date.parse(b.second) ||
    sources.indexOf(a.source) - sources.indexOf(b.source) ||
    a.number - b.number ||
    a.line - b.line
  );
}

/** Commands that another command can contradict. */
const orderedVerbSchema = z.enum([
  'pause',
  'resume',
  'cancel',
  'rerun',
  'review',
  'ci',
  'fire',
  'approve',
  'reject',
  'accept',
  'withdraw',
]);
export type OrderedVerb = z.infer<typeof orderedVerbSchema>;

const LOOSENING: ReadonlySet<OrderedVerb> = new Set([
  'resume',
  'rerun',
  'review',
  'ci',
  'fire',
  'approve',
  'accept',
]);

/** The effect of a command that another one can undo, or that undoes one. */
export type OrderedCommand =
  | { kind: 'hold'; verb: 'pause' | 'resume' }
  /** Ends the runs of a chain, or of all chains. */
  | { kind: 'stop'; verb: 'cancel'; chain: string | null }
  /** Makes a chain work again: in the existing run, or with `newRun` in a new run that replaces it. */
  | { kind: 'begin'; verb: 'rerun' | 'review' | 'ci' | 'fire'; chain: string; newRun: boolean }
  /** One person's answer to the approval comment of a step, by the person's id on GitHub. */
  | { kind: 'answer'; verb: 'approve' | 'reject'; person: number; chain: string; step: string }
  /** Whether a finding, by the hash of its fingerprint, is accepted for a head. */
  | { kind: 'acceptance'; verb: 'accept' | 'withdraw'; headSha: string; finding: string };

/**
 * The command behind a requested run. It is compared with newer commands and the current head when the run's
 * turn comes.
 */
export const askedByCommandSchema = z.strictObject({
  verb: z.enum(['rerun', 'review', 'ci', 'fire']),
  given: givenAtSchema,
  /** The head that the command was given for; absent if nothing read it. */
  head_sha: z.string().optional(),
});

/** The newest command of a scope that was applied. */
export interface AppliedCommand {
  scope: string;
  verb: OrderedVerb;
  /** By login. */
  actor: string;
  given: GivenAt;
}

/** The scopes under which an applied command is recorded, so that later ones can be compared with it. */
export function scopesOf(command: OrderedCommand): string[] {
  switch (command.kind) {
    case 'hold':
      return ['hold'];
    case 'stop':
      return [stopScope(command.chain)];
    case 'begin':
      return [`begin:${command.chain}`, ...(command.newRun ? [`anew:${command.chain}`] : [])];
    case 'answer':
      return [answerScope(command)];
    case 'acceptance':
      return [acceptanceScope(command)];
  }
}

function stopScope(chain: string | null): string {
  return chain === null ? 'stop' : `stop:${chain}`;
}

function answerScope({ person, chain, step }: Extract<OrderedCommand, { kind: 'answer' }>): string {
  return `answer:${person}:${chain}/${step}`;
}

function acceptanceScope({ headSha, finding }: Extract<OrderedCommand, { kind: 'acceptance' }>): string {
  return `acceptance:${headSha}:${finding}`;
}

/** Whether the command would undo an applied one. Two commands with the same effect never conflict. */
function undoes(command: OrderedCommand, { scope, verb }: AppliedCommand): boolean {
  switch (command.kind) {
    case 'hold':
      return scope === 'hold' && verb !== command.verb;
    case 'stop':
      return scope === `begin:${command.chain}`;
    case 'begin':
      return (
        scope === stopScope(null) ||
        scope === stopScope(command.chain) ||
        // Its run would replace the newer one.
        (command.newRun && scope === `anew:${command.chain}`)
      );
    case 'answer':
      return scope === answerScope(command) && verb !== command.verb;
    case 'acceptance':
      return scope === acceptanceScope(command) && verb !== command.verb;
  }
}

/**
 * The only decision on the order of commands: the newest applied command that was given after this one and
 * that this one would undo. `undefined` if it may be applied. The result does not depend on the order in
 * which commands are applied.
 */
export function overtakenBy(
  command: OrderedCommand,
  given: GivenAt,
  applied: readonly AppliedCommand[],
): AppliedCommand | undefined {
  return newest(applied.filter((other) => undoes(command, other) && inOrderGiven(other.given, given) > 0));
}

/**
 * The same for an answer to an approval comment that is no longer open, perhaps because of the newer answer.
 * @param step the step that the command named, if any
 */
export function answerOvertakenBy(
  answer: { verb: 'approve' | 'reject'; person: number; step: string | undefined },
  given: GivenAt,
  applied: readonly AppliedCommand[],
): AppliedCommand | undefined {
  const { verb, person, step } = answer;
  return newest(
    applied.filter(
      (other) =>
        other.scope.startsWith(`answer:${person}:`) &&
        (step === undefined || other.scope.endsWith(`/${step}`)) &&
        other.verb !== verb &&
        inOrderGiven(other.given, given) > 0,
    ),
  );
}

function newest(commands: readonly AppliedCommand[]): AppliedCommand | undefined {
  return commands.toSorted((a, b) => inOrderGiven(a.given, b.given)).at(-1);
}
