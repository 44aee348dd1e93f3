import { combined, criterion, type Explanation } from '../explanation/explanation.ts';
import type { AnsweringPerson, Saying } from './approval.ts';
import { type Contributors, countersignsNeeded, unattributedSaid } from './authorship.ts';
import type { CountersignRules } from './countersign-rules.ts';
import type { MergedBy } from './gate-check.ts';
import { isAtLeast } from './role.ts';

/** What is to be merged: fixed when the question was put to the maintainers. */
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

/** Somebody who answered, as GitHub tells of them for this one attempt. */
export interface Answerer {
  id: number;
  login: string;
  /** GitHub's account type; only `User` is a person. */
  type: string;
  role: string;
  /** Those of the rules' teams (`org/slug`) that this person is an active member of. */
  teams: readonly string[];
}

/** By a reaction to the approval comment. */
export interface Reactor extends Answerer {
  content: string;
}

/** In words, by a command or a button. */
export interface Speaker extends Answerer {
  says: Saying;
}

/** What governs the pull request now, beside what its question was asked under. */
export type ConfigurationStatus =
  | { kind: 'as_asked' }
  /** The question is void: what it was asked under is no more. */
  | { kind: 'changed'; what: 'settings' | 'chain' | 'trigger'; because: string }
  /** Nobody can say what governs. The question stays, as the files may come back as they were. */
  | { kind: 'unreadable'; because: string };

/** Everything the verdict rests on, read from GitHub for this one attempt. */
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
  /** The approval comment as it stands: only the one this app wrote, with the words it wrote, can be answered. */
  comment: 'as_written' | 'missing' | 'edited' | 'not_ours';
  /** Who had a hand in the commits; `undefined` when that cannot be known. */
  contributors: Contributors | undefined;
  /** Everybody whose reaction approves or rejects. */
  reactors: readonly Reactor[];
  /** Everybody who answered in words; absent when the question is whether to merge, which words never answer. */
  speakers?: readonly Speaker[];
  /** They rejected this head and base when they were asked before; each of them has to countersign now. */
  rejectedBefore: readonly AnsweringPerson[];
  /** The step's own conditions, evaluated again. */
  conditions: readonly Explanation[];
  pausedBy: string | null;
}

export interface MergeDecision {
  why: Explanation;
  countersignedBy: string[];
  rejectedBy: AnsweringPerson[];
  /** The question itself is void: another head, base or settings, closed or draft. Asking again needs a new run. */
  void: boolean;
  proof: MergeProof | undefined;
}

/** How long a proof may be used, in milliseconds: the merge call follows the reads at once or not at all. */
const PROOF_LIFETIME_MS = 10_000;

/**
 * That a merge is allowed, for one head, one base and a few seconds. Only `judgeMerge` makes them: every proof it made is
 * in a set that nothing else can write to, so a look-alike, a copy or one made through `constructor` is none. What it is
 * about is a frozen copy, and its time a number, so neither can be changed afterwards: invariant I1 in the type system.
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

/** That every pull request of a merge group may be merged; as hard to come by as the proofs that it is made of. */
class ProofOfGroup {
  readonly gate: Readonly<Gate>;
  readonly members: readonly MergeProof[];
  /** Of the oldest member. */
  readonly mintedAt: number;

  constructor(gate: Gate, members: readonly MergeProof[]) {
    this.gate = Object.freeze({ ...gate });
    this.members = Object.freeze([...members]);
    this.mintedAt = Math.min(...members.map((member) => member.mintedAt));
    Object.freeze(this);
  }
}
export type GroupProof = ProofOfGroup;

/** What turns a gate check green. */
export type GateProof = MergeProof | GroupProof;

/** The gate that a proof opens, and no other. */
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

/** Whether this is a proof the gate minted, and not too long ago; one from the future, after a clock was set back, is none. */
export function isFreshProof(value: object, now: Date): value is GateProof {
  if (!minted.has(value)) return false;
  const age = now.getTime() - (value as GateProof).mintedAt;
  return age >= 0 && age <= PROOF_LIFETIME_MS;
}

/** A pull request in a merge group, with what the gate says of it at this moment. */
export interface GroupMember {
  number: number;
  headSha: string;
  /** `undefined` when no chain has asked anybody about this head and base. */
  decision: Pick<MergeDecision, 'why' | 'proof'> | undefined;
}

/**
 * May this merge group land? Only when the gate proved each of its pull requests, for the head that the queue took and the
 * branch that it merges into. A group without members is one that nobody could read, and proves nothing.
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

/** Why this person's reaction does not count, or `undefined` when it does. */
export function ineligibleBecause(
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
  const named = rules.users.some((user) => user.toLowerCase() === login) || person.teams.length > 0;
  const least = rules.least ?? 'write';
  if (named && isAtLeast(person.role, least)) return undefined;
  if (named) return `is named in the settings with only ${person.role} access, where ${least} is needed`;
  return `has ${person.role} access`;
}

/**
 * May this pull request be merged, or the step go on that asks, on these facts? Pure, and the only maker of proofs. The answer
 * is a tree in which every criterion stands, met or not, so that a person can read what is missing.
 *
 * Facts with a place for words are none of a merge: a yes on them is no proof, whoever reacted besides.
 */
export function judgeMerge(question: MergeQuestion, facts: MergeFacts): MergeDecision {
  const { rules } = question;
  const approving = answering(facts, 'approve', rules.approve);
  const rejecting = answering(facts, 'reject', rules.reject);
  const eligible = (person: Answerer) => ineligibleBecause(person, rules, facts) === undefined;
  const countersigners = approving.filter(eligible);
  const countersignedBy = unique(countersigners.map((person) => person.login));
  const rejectedBy = onceEach(rejecting.filter(eligible));
  const stillRejecting = facts.rejectedBefore.filter(({ id }) =>
    countersigners.every((one) => one.id !== id),
  );

  const about = aboutPullRequest(question, facts);
  const reasons: Explanation[] = [
    ...about,
    countersigns(question, facts, approving, countersignedBy),
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

function answering(
  { reactors, speakers = [] }: MergeFacts,
  saying: Saying,
  reactions: readonly string[],
): (Reactor | Speaker)[] {
  return [
    ...reactors.filter(({ content }) => reactions.includes(content)),
    ...speakers.filter(({ says }) => says === saying),
  ];
}

function aboutPullRequest(question: MergeQuestion, facts: MergeFacts): Explanation[] {
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

function countersigns(
  question: MergeQuestion,
  facts: MergeFacts,
  approving: readonly (Reactor | Speaker)[],
  countersignedBy: readonly string[],
): Explanation {
  const count = countersignsNeeded(question.rules, facts.contributors);
  const unattributed = unattributedSaid(facts.contributors?.unattributed ?? []);
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
    : criterion('pending', missing(countersignedBy.length, count), details);
}

/** Whether the settings take no commits that nobody can be credited with. */
export function refusesUnattributed(
  { unattributed }: Pick<CountersignRules, 'unattributed'>,
  contributors: Pick<Contributors, 'unattributed'> | undefined,
): Explanation[] {
  const said = unattributedSaid(contributors?.unattributed ?? []);
  return unattributed === 'refuse' && said !== undefined
    ? [criterion('unmet', `${said}, which the settings refuse`)]
    : [];
}

function missing(given: number, count: number): string {
  return given === 0 ? 'nobody has countersigned yet' : `${given} of ${count} countersigns given`;
}

/** A step that merges nothing does not speak of merging. */
function blocked(merges: boolean): string {
  return merges ? 'not merging' : 'not going on';
}

/**
 * How a question stands right after it was asked: nothing is known yet but that nobody can have answered.
 * @param blockedBy what was found to hold the step up before anybody was asked
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

/** Whether two looks found the same things missing, so that there is nothing new to tell. */
export function sameAnswer(a: Explanation | null, b: Explanation): boolean {
  return a !== null && openEnds(a).join('\n') === openEnds(b).join('\n');
}

/** Everything below the root that is not met; the root only repeats one of them. */
function openEnds(tree: Explanation): string[] {
  return tree.reasons.flatMap((reason) => [
    ...(reason.status === 'met' ? [] : [`${reason.status} ${reason.summary}`]),
    ...openEnds(reason),
  ]);
}

const short = (sha: string) => sha.slice(0, 7);
const unique = (logins: readonly string[]) => [...new Set(logins)];
const onceEach = (people: readonly AnsweringPerson[]): AnsweringPerson[] => [
  ...new Map(people.map(({ id, login }) => [id, { id, login }])).values(),
];
