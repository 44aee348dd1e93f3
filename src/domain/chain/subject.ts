import { actionNamed, type Subject, skillNamed } from '../policy/capability.ts';
import { AUTO_SKILL, type Step } from './chain.ts';
import { dependenciesOf } from './graph.ts';
import type { TriggerSource } from './trigger-schema.ts';

const PULL_REQUEST: readonly Subject[] = ['pull request'];
const COMMIT: readonly Subject[] = ['commit'];

/** What runs of each trigger can be about. People choose it when they fire a chain by hand. */
const SUBJECTS_OF: Readonly<Record<TriggerSource, readonly Subject[]>> = {
  'pr.opened': PULL_REQUEST,
  'pr.updated': PULL_REQUEST,
  'pr.labeled': PULL_REQUEST,
  'pr.review_submitted': PULL_REQUEST,
  'pr.merged': PULL_REQUEST,
  'pr.closed': PULL_REQUEST,
  'issue.created': ['issue'],
  'issue.labeled': ['issue'],
  'file.changed': COMMIT,
  'ci.changed': COMMIT,
  'release.published': COMMIT,
  'schedule.fired': COMMIT,
  'manual.fired': ['pull request', 'commit'],
  'invocation.completed': ['pull request', 'commit'],
};

/** The part of a step that decides what it can work on. */
export interface Working {
  id: string;
  skill: string | undefined;
  action: string | undefined;
  /** Somebody countersigns it, which takes an approval comment. */
  asks: boolean;
}

/** The subjects that the step can work on, and what they are needed for; `undefined` if any is fine. */
function needOf({ skill, action, asks }: Working): { by: string; of: readonly Subject[] } | undefined {
  const declared = action === undefined ? skillNamed(skill) : actionNamed(action);
  const name = action ?? skill ?? '';
  // Every kind of package works on a pull request. Which skill `auto` chooses is not known.
  const isPackage = skill !== undefined && skill !== AUTO_SKILL && !declared;
  const of = isPackage ? PULL_REQUEST : declared?.worksOn;
  const isOnlyPullRequest = of?.every((subject) => subject === 'pull request');
  if (asks && !isOnlyPullRequest) return { by: `the approval of ${name}`, of: PULL_REQUEST };
  return of && { by: name, of };
}

/**
 * Whether the runs of some triggers, or of all, cannot complete the step, and why. `undefined` if each may.
 */
export function misfit(
  step: Working,
  sources: readonly TriggerSource[],
): { of: 'some' | 'all'; because: string } | undefined {
  const need = needOf(step);
  const without = need ? sources.filter((source) => !canGive(source, need.of)) : [];
  if (!need || without.length === 0) return undefined;
  const because = `${needs(need)}, and a run of ${named(without)} has none`;
  return { of: without.length === sources.length ? 'all' : 'some', because };
}

/** Why a run about the subject would fail at one of the steps, whatever its conditions; `undefined` if it need not. */
export function cannotWorkOn(
  subject: Subject,
  steps: readonly (Working & Conditional)[],
): string | undefined {
  for (const step of steps) {
    const need = isUnconditional(step, steps) ? needOf(step) : undefined;
    if (need && !need.of.includes(subject)) return `the step "${step.id}" cannot run: ${needs(need)}`;
  }
  return undefined;
}

export function workingOfStep({
  uses,
  id,
  requiresApproval,
  dependsOn,
  condition,
}: Step): Working & Conditional {
  const [skill, action] = uses.kind === 'skill' ? [uses.name, undefined] : [undefined, uses.name];
  return { id, skill, action, asks: requiresApproval, dependsOn, condition };
}

interface Conditional {
  dependsOn: readonly string[];
  condition?: string | undefined;
}

/** Whether neither the step nor one before it has a condition, which may rule out the triggers that do not fit. */
export function isUnconditional(
  step: { id: string } & Conditional,
  steps: readonly ({ id: string } & Conditional)[],
): boolean {
  const before = new Set([step.id, ...dependenciesOf(steps, step.id)]);
  return steps.every(({ id, condition }) => !before.has(id) || condition === undefined);
}

/** Any run with a pull request has its head. */
function canGive(source: TriggerSource, of: readonly Subject[]): boolean {
  return SUBJECTS_OF[source].some((subject) => of.includes(subject));
}

function needs({ by, of }: { by: string; of: readonly Subject[] }): string {
  return `${by} needs ${of.map((subject) => `${subject === 'issue' ? 'an' : 'a'} ${subject}`).join(' or ')}`;
}

function named(sources: readonly TriggerSource[]): string {
  return [...new Set(sources)]
    .map((source) => (source === 'schedule.fired' ? 'a schedule' : source))
    .join(' or ');
}
