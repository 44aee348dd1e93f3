import { combined, criterion, type Explanation } from '../explanation/explanation.ts';
import type { AnsweringPerson, Saying } from './approval.ts';
import { type ApprovingReviews, reviewCriterion } from './approving-reviews.ts';
import { type Contributors, countersignsNeeded, unattributedSentence } from './authorship.ts';
import { type CountersignRules, needsReview, wantedByStep } from './countersign-rules.ts';
import type { MergedBy } from './gate-check.ts';
import { isAtLeast } from './role.ts';

/** The merge in question, as the approval comment stated it. */
export interface MergeQuestion {
  runId: string;
  owner: string;
  repo: string;
  pullRequest: number;
  headSha: string;
  baseRef: string;
  method: 'merge' | 'squash' | 'rebase';
  by: MergedBy;
  rules: CountersignRules;
}

/** A person who answered, as read from GitHub for this attempt. */
export interface Answerer {
  id: number;
  login: string;
  /** GitHub's account type; only `User` is a person. */
  type: string;
  role: string;
  /** The teams of the rules (`org/slug`) of which this person is an active member. */
  teams: readonly string[];
}

/** By a reaction to the approval comment. */
export interface Reactor extends Answerer {
  content: string;
}

/** By a command or a button. */
export interface Speaker extends Answerer {
  says: Saying;
}

/** Whether the configuration that governs the pull request is still the one of the approval comment. */
export type ConfigurationStatus =
  | { kind: 'as_asked' }
  /** The approval comment is void, because its configuration no longer applies. */
  | { kind: 'changed'; what: 'settings' | 'chain' | 'trigger' | 'rollout'; because: string }
  /**
   * The configuration cannot be read. The approval comment stays open, because the files may become readable
   * again unchanged.
   */
  | { kind: 'unreadable'; because: string };

/** Everything that the decision uses, read from GitHub for this attempt. */
export interface MergeFacts {
  readAt: Date;
  pullRequest: {
    state: 'open' | 'closed';
    merged: boolean;
    draft: boolean;
    headSha: string;
    baseRef: string;
    author: { id: number; login: string };
  };
  configuration: ConfigurationStatus;
  /**
   * The state of the approval comment. Only a comment that this app wrote, with its original text, can be
   * answered.
   */
  comment: 'as_written' | 'missing' | 'edited' | 'not_ours';
  /** Who contributed to the commits; `undefined` if that cannot be determined. */
  contributors: Contributors | undefined;
  /** Everybody whose reaction approves or rejects. */
  reactors: readonly Reactor[];
  /** Everybody who answered by command or button. Absent for a merge, where such answers never count. */
  speakers?: readonly Speaker[];
  /**
   * People who rejected an earlier approval comment for this head and base. Each of them has to countersign
   * now.
   */
  rejectedBefore: readonly AnsweringPerson[];
  /** The reviews that approve the head; absent if this attempt did not read them. */
  approvingReviews?: ApprovingReviews<Answerer>;
  /** The step's own conditions, evaluated again. */
  conditions: readonly Explanation[];
  pausedBy: string | null;
}

export interface MergeDecision {
  why: Explanation;
  countersignedBy: string[];
  rejectedBy: AnsweringPerson[];
  /**
   * The approval comment is void: another head, base or settings, closed or draft. Only a new run can ask
   * again.
   */
  void: boolean;
  proof: MergeProof | undefined;
}

/** In milliseconds. The merge call follows the reads immediately or not at all. */
const PROOF_LIFETIME_MS = 10_000;

/**
 * Permission for a merge: for one head, one base and a few seconds. Only `judgeMerge` makes proofs. It
 * registers each one in a set that no other code can write to, so a lookalike, a copy, or one made through
 * `constructor` is not valid. The question is a frozen copy and the time a number, so neither can be changed
 * afterwards. This is invariant I1 in the type system.
 */
class Proof {
  readonly question: Readonly<MergeQuestion>;
  readonly countersignedBy: readonly string[];
  /** Milliseconds since 1970. */
  readonly mintedAt: number;

  constructor(question: MergeQuestion, countersignedBy: readonly string[], mintedAt: number) {
    this.question = Object.freeze(structuredClone(question));
    this.countersignedBy = Object.freeze([...countersignedBy]);
    this.mintedAt = mintedAt;
    Object.freeze(this);
  }
}
export type MergeProof = Proof;

/** The commit and branch that a gate check is about. */
export interface Gate {
  owner: string;
  repo: string;
  headSha: string;
  baseRef: string;
}

/** Permission to merge every pull request of a merge group. It needs a valid proof of each. */
class ProofOfGroup {
  readonly gate: Readonly<Gate>;
  readonly members: readonly MergeProof[];
  /** That of the oldest member. */
  readonly mintedAt: number;

  constructor(gate: Gate, members: readonly MergeProof[]) {
    this.gate = Object.freeze({ ...gate });
    this.members = Object.freeze([...members]);
    this.mintedAt = Math.min(...members.map((member) => member.mintedAt));
    Object.freeze(this);
  }
}
export type GroupProof = ProofOfGroup;

/** The kinds of proof that turn a gate check green. */
export type GateProof = MergeProof | GroupProof;

/** The only gate that a proof opens. */
export function gateOf(proof: GateProof): Gate {
  if (proof instanceof ProofOfGroup) return proof.gate;
  const { owner, repo, headSha, baseRef } = proof.question;
  return { owner, repo, headSha, baseRef };
}

const minted = new WeakSet<object>();

function mint(question: MergeQuestion, countersignedBy: readonly string[], at: Date): Proof {
  const proof = new Proof(question, countersignedBy, at.getTime());
  minted.add(proof);
  return proof;
}

/**
 * Whether the gate minted this proof, at most 10 s ago. A proof from the future, after a clock was set back,
 * is not fresh.
 */
export function isFreshProof(value: object, now: Date): value is GateProof {
  if (!minted.has(value)) return false;
  const age = now.getTime() - (value as GateProof).mintedAt;
  return age >= 0 && age <= PROOF_LIFETIME_MS;
}

/** A pull request in a merge group, with the current decision of the gate. */
export interface GroupMember {
  number: number;
  headSha: string;
  /** `undefined` if no chain has asked for a countersign of this head and base. */
  decision: Pick<MergeDecision, 'why' | 'proof'> | undefined;
}

/**
 * Decides whether a merge group may be merged: only if the gate proved each of its pull requests, for the
 * head that the queue took and the branch that it merges into. A group without members could not be read, and
 * is refused.
 */
export function judgeGroup(
  gate: Gate,
  members: readonly GroupMember[],
  now: Date,
): { why: Explanation; proof: GroupProof | undefined } {
  const reasons = members.map(({ number, headSha, decision }) => {
    if (!decision) return criterion('unmet', `#${number}: nobody was asked to countersign ${short(headSha)}`);
    const { proof } = decision;
    const isProved =
      proof !== undefined &&
      isFreshProof(proof, now) &&
      proof instanceof Proof &&
      proof.question.pullRequest === number &&
      proof.question.headSha === headSha &&
      proof.question.baseRef === gate.baseRef &&
      proof.question.owner === gate.owner &&
      proof.question.repo === gate.repo;
    if (isProved) return criterion('met', `#${number}: countersigned by ${proof.countersignedBy.join(', ')}`);
    return criterion('unmet', `#${number}: ${decision.why.summary}`, decision.why.reasons);
  });
  const proofs = members.flatMap(({ decision }) => decision?.proof ?? []);
  if (members.length === 0) {
    return { why: criterion('unmet', 'no pull request of this merge group is known'), proof: undefined };
  }
  const open = reasons.find(({ status }) => status !== 'met');
  if (open) return { why: criterion('unmet', open.summary, reasons), proof: undefined };
  const proof = new ProofOfGroup(gate, proofs);
  minted.add(proof);
  const list = members.map(({ number }) => `#${number}`).join(', ');
  return {
    why: criterion('met', `every pull request of this group is countersigned: ${list}`, reasons),
    proof,
  };
}

/** Why this person's countersign does not count, or `undefined` if it does: the settings and the step must both let them. */
export function ineligibleBecause(
  person: Answerer,
  rules: CountersignRules,
  facts: Pick<MergeFacts, 'contributors'> & { pullRequest: Pick<MergeFacts['pullRequest'], 'author'> },
): string | undefined {
  return ineligibleBySettings(person, rules, facts) ?? ineligibleByStep(person, rules);
}

function ineligibleByStep({ login, role, teams }: Answerer, rules: CountersignRules): string | undefined {
  const wanted = wantedByStep(rules);
  if (wanted === undefined) return undefined;
  const { permission, users = [], teams: named = [] } = rules.step ?? {};
  const isWanted =
    (permission !== undefined && isAtLeast(role, permission)) ||
    users.some((user) => user.toLowerCase() === login.toLowerCase()) ||
    named.some((team) => teams.includes(team));
  return isWanted ? undefined : `this step asks for ${wanted}`;
}

/** Why this person's answer does not count by the settings. A step can ask for more, and never lets anybody else. */
function ineligibleBySettings(
  person: Answerer,
  rules: CountersignRules,
  facts: Pick<MergeFacts, 'contributors'> & { pullRequest: Pick<MergeFacts['pullRequest'], 'author'> },
): string | undefined {
  if (person.type !== 'User') return 'is not a person';
  if (person.id === facts.pullRequest.author.id) return 'wrote this pull request';
  if (!facts.contributors) return 'could have written some of the commits: not all authors are known';
  const login = person.login.toLowerCase();
  if (
    facts.contributors.ids.includes(person.id) ||
    facts.contributors.logins.some((name) => name.toLowerCase() === login)
  ) {
    return 'wrote or co-wrote some of the commits';
  }
  if (facts.contributors.pushers.includes(person.id)) return 'pushed some of the commits';
  if (rules.permission !== 'none' && isAtLeast(person.role, rules.permission)) return undefined;
  const named =
    rules.users.some((user) => user.toLowerCase() === login) ||
    rules.teams.some((team) => person.teams.includes(team));
  const least = rules.least ?? 'write';
  if (named && isAtLeast(person.role, least)) return undefined;
  if (named) return `is named in the settings with only ${person.role} access, where ${least} is needed`;
  return `has ${person.role} access`;
}

/**
 * Decides whether this pull request may be merged, or whether another step that asks may continue. Pure, and
 * the only maker of proofs. The result is a tree with every criterion, met or not, so that a person can see
 * what is missing.
 *
 * Facts with `speakers` are not about a merge: they never result in a proof, whatever the reactions.
 */
export function judgeMerge(question: MergeQuestion, facts: MergeFacts): MergeDecision {
  const { rules } = question;
  const approving = answerersFor(facts, 'approve', rules.approve);
  const rejecting = answerersFor(facts, 'reject', rules.reject);
  const eligible = (person: Answerer) => ineligibleBecause(person, rules, facts) === undefined;
  const countersigners = approving.filter(eligible);
  const countersignedBy = unique(countersigners.map((person) => person.login));
  // A step that asks for particular people takes nobody's rejection away, nor the way to take one back.
  const heard = (person: Answerer) => ineligibleBySettings(person, rules, facts) === undefined;
  const rejectedBy = uniquePeople(rejecting.filter(heard));
  const stillRejecting = facts.rejectedBefore.filter(({ id }) =>
    approving.every((one) => one.id !== id || !heard(one)),
  );

  const about = pullRequestCriteria(question, facts);
  const reasons: Explanation[] = [
    ...about,
    countersignCriterion(question, facts, approving, countersignedBy),
    ...(needsReview(rules)
      ? [
          reviewCriterion(question.headSha, facts.approvingReviews, (person) =>
            ineligibleBecause(person, rules, facts),
          ),
        ]
      : []),
    rejectedBy.length > 0
      ? criterion('unmet', `rejected by ${rejectedBy.map(({ login }) => login).join(', ')}`)
      : criterion('met', 'nobody who may countersign rejects it'),
    ...stillRejecting.map(({ login }) =>
      criterion(
        'unmet',
        `${login} rejected this head before; only ${login} can take that back, by countersigning it`,
      ),
    ),
    ...facts.conditions,
    ...refusesUnattributed(rules, facts.contributors),
    ...(facts.configuration.kind === 'unreadable' ? [criterion('unmet', facts.configuration.because)] : []),
    facts.pausedBy === null
      ? criterion('met', 'not paused')
      : criterion('unmet', `paused by ${facts.pausedBy}; \`/countersign resume\` goes on`),
  ];
  const status = combined(reasons);
  const tree = criterion(
    status,
    status === 'met'
      ? `countersigned by ${countersignedBy.join(', ')}; ${facts.speakers ? 'going on' : AFTERWARDS[question.by]}`
      : `${blocked(facts.speakers === undefined)}: ${reasons.find((reason) => reason.status === status)?.summary ?? 'unknown'}`,
    reasons,
  );
  return {
    why: tree,
    countersignedBy,
    rejectedBy,
    void: about.some((reason) => reason.status === 'unmet'),
    proof:
      status === 'met' && facts.speakers === undefined
        ? mint(question, countersignedBy, facts.readAt)
        : undefined,
  };
}

const AFTERWARDS: Readonly<Record<MergedBy, string>> = {
  app: 'merging',
  people: 'the merge button is open',
  queue: 'in the merge queue',
};

function answerersFor(
  { reactors, speakers = [] }: MergeFacts,
  saying: Saying,
  reactions: readonly string[],
): (Reactor | Speaker)[] {
  return [
    ...reactors.filter(({ content }) => reactions.includes(content)),
    ...speakers.filter(({ says }) => says === saying),
  ];
}

function pullRequestCriteria(question: MergeQuestion, facts: MergeFacts): Explanation[] {
  const { pullRequest } = facts;
  return [
    pullRequest.state === 'open'
      ? criterion('met', 'the pull request is open')
      : criterion('unmet', pullRequest.merged ? 'the pull request is merged' : 'the pull request is closed'),
    pullRequest.draft
      ? criterion('unmet', 'the pull request is a draft')
      : criterion('met', 'it is not a draft'),
    pullRequest.headSha === question.headSha
      ? criterion('met', `the head is still ${short(question.headSha)}`)
      : criterion('unmet', `the head moved from ${short(question.headSha)} to ${short(pullRequest.headSha)}`),
    pullRequest.baseRef === question.baseRef
      ? criterion('met', `the base is still ${question.baseRef}`)
      : criterion('unmet', `the base changed from ${question.baseRef} to ${pullRequest.baseRef}`),
    ...(facts.configuration.kind === 'changed' ? [criterion('unmet', facts.configuration.because)] : []),
  ];
}

function countersignCriterion(
  question: MergeQuestion,
  facts: MergeFacts,
  approving: readonly (Reactor | Speaker)[],
  countersignedBy: readonly string[],
): Explanation {
  const count = countersignsNeeded(question.rules, facts.contributors);
  const unattributed = unattributedSentence(facts.contributors?.unattributed ?? []);
  const more =
    unattributed !== undefined && count > question.rules.count
      ? [criterion('met', `${unattributed}, so ${count} countersigns are needed instead of ${count - 1}`)]
      : [];
  const details = approving.map((person) => {
    const because = ineligibleBecause(person, question.rules, facts);
    return because === undefined
      ? criterion('met', `${person.login} may countersign and did`)
      : criterion('unmet', `${person.login} ${'says' in person ? 'approved' : 'reacted'}, but ${because}`);
  });
  details.push(...more);
  switch (facts.comment) {
    case 'missing':
      return criterion('unmet', 'the approval comment is gone, so nobody can countersign', details);
    case 'not_ours':
      return criterion(
        'unmet',
        'the comment is not the one this app wrote, so its reactions do not count',
        details,
      );
    case 'edited':
      return criterion(
        'unmet',
        'somebody edited the approval comment, so its reactions do not count',
        details,
      );
    case 'as_written':
      break;
  }
  return countersignedBy.length >= count
    ? criterion('met', `countersigned by ${countersignedBy.join(', ')}`, details)
    : criterion('pending', missing(countersignedBy.length, count, wantedByStep(question.rules)), details);
}

/** The criterion that fails if the settings refuse unattributed commits and there are some. */
export function refusesUnattributed(
  { unattributed }: Pick<CountersignRules, 'unattributed'>,
  contributors: Pick<Contributors, 'unattributed'> | undefined,
): Explanation[] {
  const sentence = unattributedSentence(contributors?.unattributed ?? []);
  return unattributed === 'refuse' && sentence !== undefined
    ? [criterion('unmet', `${sentence}, which the settings refuse`)]
    : [];
}

/** Logins of those who may countersign and whose review approves the head; empty if the reviews are not known. */
export function approvedOnGitHubBy(rules: CountersignRules, facts: MergeFacts): string[] {
  const { approvingReviews } = facts;
  if (!approvingReviews?.known) return [];
  const counted = approvingReviews.by.filter(
    (person) => ineligibleBecause(person, rules, facts) === undefined,
  );
  return counted.map(({ login }) => login).sort();
}

function missing(given: number, count: number, wanted?: string): string {
  const words = given === 0 ? 'nobody has countersigned yet' : `${given} of ${count} countersigns given`;
  if (wanted === undefined) return words;
  return `${words}; this step asks for ${count === 1 ? 'one' : count}, each by ${wanted}`;
}

/** A step that merges nothing does not mention merging. */
function blocked(merges: boolean): string {
  return merges ? 'not merging' : 'not going on';
}

/**
 * The decision right after the approval comment was written: nobody can have answered yet.
 * @param blockedBy what already blocks the step before anybody was asked
 */
export function justAsked(
  { merges }: { merges: boolean },
  blockedBy: readonly Explanation[] = [],
): Explanation {
  const reasons = [criterion('pending', missing(0, 1)), ...blockedBy];
  const status = combined(reasons);
  const first = reasons.find((reason) => reason.status === status);
  return criterion(status, `${blocked(merges)}: ${first?.summary ?? 'unknown'}`, reasons);
}

/** Whether two polls found the same things missing, so that there is nothing new to show. */
export function sameAnswer(a: Explanation | null, b: Explanation): boolean {
  return a !== null && unmetReasons(a).join('\n') === unmetReasons(b).join('\n');
}

/** Everything below the root that is not met. The root only repeats one of them. */
function unmetReasons(tree: Explanation): string[] {
  return tree.reasons.flatMap((reason) => [
    ...(reason.status === 'met' ? [] : [`${reason.status} ${reason.summary}`]),
    ...unmetReasons(reason),
  ]);
}

const short = (sha: string) => sha.slice(0, 7);
const unique = (logins: readonly string[]) => [...new Set(logins)];
const uniquePeople = (people: readonly AnsweringPerson[]): AnsweringPerson[] => [
  ...new Map(people.map(({ id, login }) => [id, { id, login }])).values(),
];
