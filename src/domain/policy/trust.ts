import { criterion, type Explanation } from '../explanation/explanation.ts';
import { isAtLeast, type RepositoryRole } from './role.ts';

/** The trust levels of runs, lowest first. */
export const TRUST_LEVELS = ['sandbox', 'standard', 'elevated', 'privileged'] as const;
export type TrustLevel = (typeof TRUST_LEVELS)[number];

export function isTrusted(level: TrustLevel, needed: TrustLevel): boolean {
  return TRUST_LEVELS.indexOf(level) >= TRUST_LEVELS.indexOf(needed);
}

/**
 * A person behind the run, as GitHub describes them now. The login is only for display; no decision uses it.
 */
export interface Membership {
  login: string;
  /** `undefined`: not read. */
  role: RepositoryRole | undefined;
}

/** The subject of a run, and who brought it. */
export type Origin =
  | {
      kind: 'pull_request';
      /** `owner/name` of the repository with the head; `null` if it was deleted. */
      headRepository: string | null;
      headSha: string;
      author: Membership & { association: string; isPerson: boolean };
    }
  | { kind: 'issue'; author: Membership }
  /** To a branch of the repository itself. */
  | { kind: 'push'; author: Membership }
  /** A release of the repository itself. */
  | { kind: 'release'; author: Membership }
  /** The default branch as it is; nobody brought anything. */
  | { kind: 'branch'; branch: string }
  /** Another branch of the repository, to which anybody with write access may have pushed anything. */
  | { kind: 'other_branch'; branch: string };

/** Everything that the trust of a run depends on, read for one decision. */
export interface TrustContext {
  /** The run's subject at its start. */
  repository: string;
  headSha: string;
  /** `undefined`: it cannot be read. */
  origin: Origin | undefined;
  /** Who fired the run by hand; `undefined` if its trigger did. */
  dispatcher: Membership | undefined;
  /** Whose activity started the run, or one before it, where that can be anybody's, such as a review. `null`: not known. */
  broughtBy?: readonly (Membership | null)[];
  /** The countersigns of the step's own approval comment, once it is approved. */
  countersign: { headSha: string; by: readonly string[] } | undefined;
}

export interface Trust {
  level: TrustLevel;
  /** The level if a maintainer fired the run, to tell whether that would resolve a refusal. */
  ifDispatched: TrustLevel;
  /** The facts behind the level: met if they raise it, otherwise unmet. */
  facts: readonly Explanation[];
}

/** The level of every run. It depends on no fact, so nothing is read for it. */
export const LEAST_TRUST: Trust = { level: 'sandbox', ifDispatched: 'sandbox', facts: [] };

/**
 * The associations that mean belonging to a repository. GitHub reports CONTRIBUTOR or NONE to an app that may
 * not see a private membership. For those and all other values, the role decides.
 */
const BELONGS = ['OWNER', 'MEMBER', 'COLLABORATOR'];

export function belongsByAssociation(association: string): boolean {
  return BELONGS.includes(association);
}

/**
 * The trust of a run, from its context alone. A fact that is missing, unknown or about something else never
 * raises the level.
 *
 * If a maintainer fires a pull request of a fork or an outsider, the level is `standard` at most: firing says
 * that the chain should run, not that somebody read the head. Rejected: `elevated`, as for a member's pull
 * request, because one `fire` at the wrong moment would give untrusted code to a skill that runs commands.
 * That needs a countersign, which is for one head.
 */
export function trustOf(context: TrustContext): Trust {
  const { origin } = context;
  if (!origin) return { ...LEAST_TRUST, facts: [criterion('unknown', 'what it works on cannot be read')] };
  const headMoved = origin.kind === 'pull_request' && origin.headSha !== context.headSha;
  if (headMoved) {
    const [then, now] = [short(context.headSha), short(origin.headSha)];
    return { ...LEAST_TRUST, facts: [criterion('unmet', `the head moved from ${then} to ${now}`)] };
  }
  const inside = [
    headCriterion(context, origin),
    authorCriterion(origin),
    ...(context.broughtBy ?? []).map(activityCriterion),
  ];
  const dispatch = dispatchCriterion(context.dispatcher);
  const countersign = countersignCriterion(context);
  const base = inside.every(isMet) ? 'standard' : 'sandbox';
  const ifDispatched = base === 'standard' ? 'elevated' : 'standard';
  return {
    level: isMet(countersign) ? 'privileged' : isMet(dispatch) ? ifDispatched : base,
    ifDispatched,
    facts: [...inside, dispatch, countersign],
  };
}

/**
 * Whether the head is in the repository. Compared by current names: a repository renamed meanwhile counts as
 * a fork (I5).
 */
function headCriterion({ repository }: TrustContext, origin: Origin): Explanation {
  if (origin.kind === 'issue') return criterion('met', 'an issue brings no code');
  if (origin.kind === 'push') return criterion('met', `it was pushed to ${repository} itself`);
  if (origin.kind === 'release') return criterion('met', `it is a release of ${repository} itself`);
  if (origin.kind === 'branch' || origin.kind === 'other_branch')
    return criterion('met', `it is the branch ${origin.branch} of ${repository}`);
  const { headRepository } = origin;
  if (headRepository === null) return criterion('unmet', 'the repository of its head is gone');
  return headRepository.toLowerCase() === repository.toLowerCase()
    ? criterion('met', `its head is in ${repository} itself`)
    : criterion('unmet', `its head is in another repository, ${headRepository}`);
}

const ACTIVITY: Readonly<Record<Exclude<Origin['kind'], 'branch' | 'other_branch'>, string>> = {
  pull_request: 'opened the pull request',
  issue: 'opened the issue',
  push: 'pushed',
  release: 'published the release',
};

/** On a public repository everybody has `read`, so only a higher role makes a person a collaborator. */
function authorCriterion(origin: Origin): Explanation {
  if (origin.kind === 'branch') return criterion('met', 'nobody brought anything that is not on it');
  if (origin.kind === 'other_branch')
    return criterion('unmet', `who pushed to the branch ${origin.branch} is not known`);
  const { kind, author } = origin;
  const who = `${author.login}, who ${ACTIVITY[kind]},`;
  // A bot may be allowed to push here, but the content that it pushes can come from anybody.
  if ('isPerson' in author && !author.isPerson) return criterion('unmet', `${who} is not a person`);
  if ('association' in author && belongsByAssociation(author.association)) {
    return criterion('met', `${who} belongs to the repository (${author.association})`);
  }
  if (author.role === undefined)
    return criterion('unknown', `whether ${who} belongs to the repository is not known`);
  return isAtLeast(author.role, 'triage')
    ? criterion('met', `${who} has ${author.role} access`)
    : criterion('unmet', `${who} is no member or collaborator (${author.role} access)`);
}

function activityCriterion(person: Membership | null): Explanation {
  if (!person) return criterion('unknown', 'whose activity started the run is not known');
  const { login, role } = person;
  const who = `${login}, whose activity started the run,`;
  if (role === undefined)
    return criterion('unknown', `whether ${who} belongs to the repository is not known`);
  return isAtLeast(role, 'triage')
    ? criterion('met', `${who} has ${role} access`)
    : criterion('unmet', `${who} is no member or collaborator (${role} access)`);
}

function dispatchCriterion(dispatcher: Membership | undefined): Explanation {
  if (!dispatcher) return criterion('unmet', 'nobody fired it by hand');
  const { login, role } = dispatcher;
  if (role === undefined) return criterion('unknown', `the access of ${login}, who fired it, is not known`);
  return isAtLeast(role, 'maintain')
    ? criterion('met', `${login}, who fired it, has ${role} access`)
    : criterion('unmet', `${login}, who fired it, has ${role} access, where maintain is needed`);
}

function countersignCriterion({ headSha, countersign }: TrustContext): Explanation {
  if (!countersign || countersign.by.length === 0)
    return criterion('unmet', 'this step is not countersigned');
  const { by } = countersign;
  return countersign.headSha === headSha
    ? criterion('met', `countersigned for ${short(headSha)} by ${by.join(', ')}`)
    : criterion('unmet', `countersigned for ${short(countersign.headSha)}, not for ${short(headSha)}`);
}

const isMet = ({ status }: Explanation) => status === 'met';
const short = (sha: string) => sha.slice(0, 7);
