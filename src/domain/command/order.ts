import { z } from 'zod';

/**
 * When a person gave a command, as far as GitHub tells: any two can be put in order, whichever delivery came first. A comment has the
 * second in which it was written and a number that grows. A button has only the time at which its delivery came.
 */
export const givenAtSchema = z.strictObject({
  /** ISO 8601, without a fraction. */
  second: z.iso.datetime(),
  /** Within the second: buttons that let something go on, then comments, then buttons that hold something back. */
  source: z.enum(['loosening_button', 'comment', 'restraining_button']),
  /** Within the source: the number of the comment; of a button, its milliseconds. */
  number: z.int(),
  /** Within a comment: the place of the command among the others. */
  line: z.int(),
});
export type GivenAt = z.infer<typeof givenAtSchema>;

/** A command of a comment. */
export function givenInComment(comment: { comment_id: number; created_at: string }, line: number): GivenAt {
  return {
    second: secondOf(new Date(comment.created_at)),
    source: 'comment',
    number: comment.comment_id,
    line,
  };
}

/** How long the delivery of a button may have been on its way, in milliseconds: GitHub's usual delay, on the safe side. */
export const BUTTON_DELAY_MS = 5_000;

/**
 * A button by the time at which its delivery came. Somebody pressed it before that, and nobody knows how long: what lets something go
 * on is taken to be older, and loses against what was written meanwhile; what holds something back is not.
 */
export function givenByButton(verb: OrderedVerb, came: Date): GivenAt {
  return givenAt(verb, new Date(came.getTime() - (LOOSENING.has(verb) ? BUTTON_DELAY_MS : 0)));
}

/** A command whose moment is known, such as one from the command line. */
export function givenAt(verb: OrderedVerb, at: Date): GivenAt {
  return {
    second: secondOf(at),
    source: LOOSENING.has(verb) ? 'loosening_button' : 'restraining_button',
    number: at.getTime() % 1_000,
    line: 0,
  };
}

function secondOf(at: Date): string {
  return new Date(Math.floor(at.getTime() / 1_000) * 1_000).toISOString();
}

/** Below nought when `a` was given first. */
export function inOrderGiven(a: GivenAt, b: GivenAt): number {
  const sources = givenAtSchema.shape.source.options;
  return (
    Date.parse(a.second) - Date.parse(b.second) ||
    sources.indexOf(a.source) - sources.indexOf(b.source) ||
    a.number - b.number ||
    a.line - b.line
  );
}

/** Commands that others can contradict. */
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
]);
export type OrderedVerb = z.infer<typeof orderedVerbSchema>;

const LOOSENING: ReadonlySet<OrderedVerb> = new Set(['resume', 'rerun', 'review', 'ci', 'fire', 'approve']);

/** What a command does that a later one can take back, or that takes back what an earlier one did. */
export type Deed =
  | { kind: 'hold'; verb: 'pause' | 'resume' }
  /** Ends the runs of a chain, or of all chains. */
  | { kind: 'stop'; verb: 'cancel'; chain: string | null }
  /** Has a chain work again: in the run that is there, or `anew` in one that takes its place. */
  | { kind: 'begin'; verb: 'rerun' | 'review' | 'ci' | 'fire'; chain: string; anew: boolean }
  /** What one person says to the question of a step, by the person's number on GitHub. */
  | { kind: 'answer'; verb: 'approve' | 'reject'; person: number; chain: string; step: string };

/** What a run that a command asks for must still be held against when its turn comes. */
export const askedByCommandSchema = z.strictObject({
  verb: z.enum(['rerun', 'review', 'ci', 'fire']),
  given: givenAtSchema,
  /** The head that it was given for; absent where nobody looked. */
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

/** Where a deed leaves its mark, for those that come after it. */
export function scopesOf(deed: Deed): string[] {
  switch (deed.kind) {
    case 'hold':
      return ['hold'];
    case 'stop':
      return [stopScope(deed.chain)];
    case 'begin':
      return [`begin:${deed.chain}`, ...(deed.anew ? [`anew:${deed.chain}`] : [])];
    case 'answer':
      return [answerScope(deed)];
  }
}

function stopScope(chain: string | null): string {
  return chain === null ? 'stop' : `stop:${chain}`;
}

function answerScope({ person, chain, step }: Extract<Deed, { kind: 'answer' }>): string {
  return `answer:${person}:${chain}/${step}`;
}

/** The marks of what the deed would undo. Two commands that want the same never stand in each other's way. */
function undoes(deed: Deed, { scope, verb }: AppliedCommand): boolean {
  switch (deed.kind) {
    case 'hold':
      return scope === 'hold' && verb !== deed.verb;
    case 'stop':
      return scope === `begin:${deed.chain}`;
    case 'begin':
      return (
        scope === stopScope(null) ||
        scope === stopScope(deed.chain) ||
        // Its run would take the place of the newer one.
        (deed.anew && scope === `anew:${deed.chain}`)
      );
    case 'answer':
      return scope === answerScope(deed) && verb !== deed.verb;
  }
}

/**
 * The one decision on the order of commands: the newest command that was given after this one and that this one would undo.
 * `undefined`: it may be applied. What is applied first is no matter, so the end is the one that people wrote.
 */
export function overtakenBy(
  deed: Deed,
  given: GivenAt,
  applied: readonly AppliedCommand[],
): AppliedCommand | undefined {
  return newest(applied.filter((other) => undoes(deed, other) && inOrderGiven(other.given, given) > 0));
}

/**
 * The same for an answer to a question that is open no more, perhaps for that newer answer.
 * @param step the one that was named, if any was
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
