import { criterion, type Explanation } from '../explanation/explanation.ts';
import { isAtLeast, type RepositoryRole } from './role.ts';

/** What a run's context may do, the least first. */
export const TRUST_LEVELS = ['sandbox', 'standard', 'elevated', 'privileged'] as const;
export type TrustLevel = (typeof TRUST_LEVELS)[number];

export function isTrusted(level: TrustLevel, needed: TrustLevel): boolean {
  return TRUST_LEVELS.indexOf(level) >= TRUST_LEVELS.indexOf(needed);
}

/** Somebody the run goes back to, as GitHub tells of them at this moment. The login is for people to read; nothing is decided by it. */
export interface Membership {
  login: string;
  /** `undefined`: not read. */
  role: RepositoryRole | undefined;
}

/** What the run works on, and who brought it. */
export type Origin =
  | {
      kind: 'pull_request';
      /** `owner/name` of where the head is; `null` when that was deleted. */
      headRepository: string | null;
      headSha: string;
      author: Membership & { association: string; isPerson: boolean };
    }
  | { kind: 'issue'; author: Membership }
  /** To a branch of the repository itself. */
  | { kind: 'push'; author: Membership };

/** All that the trust of a run rests on, read for one look. */
export interface TrustContext {
  /** What the run is about, as it was when it began. */
  repository: string;
  headSha: string;
  /** `undefined`: it cannot be read. */
  origin: Origin | undefined;
  /** Who fired the run by hand; `undefined` when its trigger did. */
  dispatcher: Membership | undefined;
  /** What the step's own question came to, when it was answered with yes. */
  countersign: { headSha: string; by: readonly string[] } | undefined;
}

export interface Trust {
  level: TrustLevel;
  /** What the level would be if a maintainer fired the run: that helps against a refusal, or does not. */
  ifDispatched: TrustLevel;
  /** The facts it comes from, those that raise it met, the others not. */
  facts: readonly Explanation[];
}

/** What every run has, whatever it works on: no fact is needed for it, so none is read. */
export const LEAST_TRUST: Trust = { level: 'sandbox', ifDispatched: 'sandbox', facts: [] };

/**
 * How GitHub says somebody belongs to a repository. An app that may not see a private membership is told CONTRIBUTOR or NONE
 * for it, so the other words say nothing, and the role decides.
 */
const BELONGS = ['OWNER', 'MEMBER', 'COLLABORATOR'];

export function belongsByAssociation(association: string): boolean {
  return BELONGS.includes(association);
}

/**
 * What a run may do, from its context alone. Every fact that is missing, unknown or about something else leaves it lower.
 *
 * A fork's or an outsider's pull request that a maintainer fires is raised to `standard` and no further: firing says that the
 * chain shall run, not that somebody read the head, which stays an outsider's text. Rejected: `elevated` as for a member's pull
 * request, because one `fire` at the wrong moment would hand a stranger's code to whatever runs commands. What it takes is a
 * countersign, which is for one head by definition.
 */
export function trustOf(context: TrustContext): Trust {
  const { origin } = context;
  if (!origin) return { ...LEAST_TRUST, facts: [criterion('unknown', 'what it works on cannot be read')] };
  const moved = origin.kind === 'pull_request' && origin.headSha !== context.headSha;
  if (moved) {
    const [then, now] = [short(context.headSha), short(origin.headSha)];
    return { ...LEAST_TRUST, facts: [criterion('unmet', `the head moved from ${then} to ${now}`)] };
  }
  const inside = [place(context, origin), author(origin)];
  const dispatch = dispatched(context.dispatcher);
  const countersign = countersigned(context);
  const base = inside.every(isMet) ? 'standard' : 'sandbox';
  const ifDispatched = base === 'standard' ? 'elevated' : 'standard';
  return {
    level: isMet(countersign) ? 'privileged' : isMet(dispatch) ? ifDispatched : base,
    ifDispatched,
    facts: [...inside, dispatch, countersign],
  };
}

/** Where the head is. Compared by the names that GitHub gives now: one that was changed meanwhile counts as a fork (I5). */
function place({ repository }: TrustContext, origin: Origin): Explanation {
  if (origin.kind === 'issue') return criterion('met', 'an issue brings no code');
  if (origin.kind === 'push') return criterion('met', `it was pushed to ${repository} itself`);
  const { headRepository } = origin;
  if (headRepository === null) return criterion('unmet', 'the repository of its head is gone');
  return headRepository.toLowerCase() === repository.toLowerCase()
    ? criterion('met', `its head is in ${repository} itself`)
    : criterion('unmet', `its head is in another repository, ${headRepository}`);
}

const BROUGHT: Readonly<Record<Origin['kind'], string>> = {
  pull_request: 'opened the pull request',
  issue: 'opened the issue',
  push: 'pushed',
};

/** `read` is what anybody has on a public repository, so only more than that makes somebody a collaborator. */
function author({ kind, author }: Origin): Explanation {
  const who = `${author.login}, who ${BROUGHT[kind]},`;
  // Whatever a bot may push here, what it pushes may come from anywhere.
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

function dispatched(dispatcher: Membership | undefined): Explanation {
  if (!dispatcher) return criterion('unmet', 'nobody fired it by hand');
  const { login, role } = dispatcher;
  if (role === undefined) return criterion('unknown', `the access of ${login}, who fired it, is not known`);
  return isAtLeast(role, 'maintain')
    ? criterion('met', `${login}, who fired it, has ${role} access`)
    : criterion('unmet', `${login}, who fired it, has ${role} access, where maintain is needed`);
}

function countersigned({ headSha, countersign }: TrustContext): Explanation {
  if (!countersign || countersign.by.length === 0)
    return criterion('unmet', 'this step is not countersigned');
  const { by } = countersign;
  return countersign.headSha === headSha
    ? criterion('met', `countersigned for ${short(headSha)} by ${by.join(', ')}`)
    : criterion('unmet', `countersigned for ${short(countersign.headSha)}, not for ${short(headSha)}`);
}

const isMet = ({ status }: Explanation) => status === 'met';
const short = (sha: string) => sha.slice(0, 7);
