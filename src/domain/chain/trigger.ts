import { unreachable } from '../../core/errors.ts';
import { anyGlobMatches, globMatches, plainGlobMatches } from '../../core/glob.ts';
import { compileTemplate } from '../expression/condition.ts';
import { VERDICTS } from '../outcome/review-verdict.ts';
import { compilePattern, MAX_MATCHED_LENGTH } from '../rule/pattern.ts';
import type { Chain } from './chain.ts';
import {
  type Composite,
  type EventTrigger,
  eventTriggersOf,
  FILTER_KEYS,
  type FilterKey,
  isComposite,
  nameOfTrigger,
  type Trigger,
  type TriggerFilter,
  triggersOf,
} from './trigger-schema.ts';

interface RepositoryFacts {
  full_name: string;
  default_branch: string;
}

/** Facts that a pull request and an issue share. What is missing is unknown, and no filter on it matches. */
interface Written {
  author: string;
  association?: string;
  labels: readonly string[];
  title?: string;
  body?: string;
}

/** The facts of an event for choosing chains. Field names are those of the webhook payloads. */
export interface TriggerFacts {
  /** The kind of event, such as `pr.opened`. Kinds that start no chain never match. */
  event: string;
  repository: RepositoryFacts;
  pull_request?: Written & {
    number: number;
    base: string;
    head: string;
    draft: boolean;
    /** Left out if GitHub did not list them all. A filter on paths then does not match. */
    changed_paths?: readonly string[];
  };
  issue?: Written & { number: number };
  push?: { branch: string; author: string; changed_paths?: readonly string[] };
  /** The chain that a person named. */
  manual?: { chain: string };
  /** The label that was added. */
  label?: string;
  /** What the submitted review says. */
  review?: string;
  check?: { name: string; conclusion: string; branch?: string };
  release?: { tag: string; prerelease: boolean; author: string; title: string; body: string };
  invocation?: { chain: string; step: string; kind: string; verdict: string | null; passed: boolean | null };
}

export type TriggerMatch = { matches: true } | { matches: false; because: string };

/** One thing that a trigger asks of an event, with what the event has: the sentence is true whether it matches or not. */
interface TriggerCheck {
  asks: 'event' | 'chain asked for' | FilterKey;
  matches: boolean;
  because: string;
  /** What the event has of it, as far as that is known; of long lists and texts the beginning. */
  has: string | boolean | readonly string[] | null;
  wants: unknown;
}

/** What one trigger of a chain makes of an event. */
export interface TriggerDecision {
  trigger: string;
  matches: boolean;
  /** Only the event, if that is another one already. */
  checks: TriggerCheck[];
  /** Of a composite: whether the event counts as a part. Absent if no part is such an event. */
  fills?: boolean;
}

/**
 * Whether an event starts a chain: it must be the event of one of the triggers, and every key of that trigger's filter
 * must match. Within a key, one matching entry is enough. A filter whose fact is unknown does not match.
 */
export function triggerMatches(chain: Chain, facts: TriggerFacts): TriggerMatch {
  const reasons: TriggerCheck[] = [];
  for (const trigger of eventTriggersOf(chain)) {
    const unmet = firstUnmet(checksOf(trigger, chain.name, facts));
    if (unmet === undefined) return { matches: true };
    reasons.push(unmet);
  }
  // What other events the chain waits for explains nothing about this one.
  const telling = reasons.filter(({ asks }) => asks !== 'event');
  const told = telling.map(({ because }) => because);
  if (told.length === 0)
    told.push(...triggersOf(chain).flatMap((trigger) => partOf(trigger, chain.name, facts)?.because ?? []));
  if (told.length === 0) told.push(waitsForOther(chain, facts));
  return { matches: false, because: [...new Set(told)].join('; and ') };
}

/** The same decision for each trigger of the chain in order, with everything that it rests on. */
export function explainTriggers(chain: Chain, facts: TriggerFacts): TriggerDecision[] {
  return triggersOf(chain).map((trigger) => {
    const part = partOf(trigger, chain.name, facts);
    const checks =
      'event' in trigger
        ? [...checksOf(trigger, chain.name, facts)]
        : [waitsFor(nameOfTrigger(trigger), false, facts, part?.because)];
    const matches = checks.every((check) => check.matches);
    return { trigger: nameOfTrigger(trigger), matches, checks, ...(part && { fills: part.fills }) };
  });
}

/** Positions of the parts of a composite that the event fills, each judged as a trigger of its own would be. */
export function partsFilledBy(facts: TriggerFacts, { parts }: Composite, chain: string): number[] {
  return [...parts.keys()].filter((index) => {
    const part = parts[index];
    return part !== undefined && firstUnmet(checksOf(part, chain, facts)) === undefined;
  });
}

/**
 * The step of the chain whose outcome can fire this trigger, of the same chain or another.
 * @param outcomes the kind that each skill states; a step whose kind is unknown matches no filter on it
 */
export function stepThatFires(
  trigger: Trigger,
  chain: Chain,
  outcomes: Readonly<Record<string, string>>,
): string | undefined {
  if (!('event' in trigger) || trigger.event !== 'invocation.completed') return undefined;
  const { repository: _, ...filter } = trigger.filter;
  const repository = { full_name: '', default_branch: '' };
  const canFire = (step: string, kind: string) =>
    (kind === 'review_verdict' && filter.verdict ? VERDICTS : [null]).some((verdict) =>
      (filter.passed === undefined ? [null] : [true, false, null]).some((passed) => {
        const invocation = { chain: chain.name, step, kind, verdict, passed };
        const facts = { event: trigger.event, repository, invocation };
        return firstUnmet(checksOf({ ...trigger, filter }, chain.name, facts)) === undefined;
      }),
    );
  return chain.steps.find(({ id, uses: { kind, name } }) =>
    canFire(id, kind === 'action' ? 'action_result' : (outcomes[name] ?? '')),
  )?.id;
}

function waitsForOther(chain: Chain, { event }: TriggerFacts): string {
  const names = triggersOf(chain).map(nameOfTrigger);
  return `it waits for ${[...new Set(names)].join(' or ')}, and this is ${event}`;
}

function firstUnmet(checks: Iterable<TriggerCheck>): TriggerCheck | undefined {
  for (const check of checks) if (!check.matches) return check;
  return undefined;
}

/** Made one by one, so that a decision stops at the first that does not match. */
function* checksOf(
  { event, filter }: EventTrigger,
  chain: string,
  facts: TriggerFacts,
): Generator<TriggerCheck> {
  const isOfThisEvent = firesOn(event, facts.event);
  yield waitsFor(event, isOfThisEvent, facts);
  if (!isOfThisEvent) return;
  if (event === 'manual.fired') {
    const matches = facts.manual?.chain === chain;
    const because = matches ? 'this chain was asked for' : 'another chain was asked for';
    yield { asks: 'chain asked for', matches, because, has: facts.manual?.chain ?? null, wants: chain };
  }
  for (const key of FILTER_KEYS) {
    const compared = filter[key] === undefined ? undefined : compare(key, filter, facts);
    if (compared !== undefined) yield { asks: key, ...compared, wants: filter[key] };
  }
}

/** What the event is to a composite, if it is the event of a part. */
function partOf(
  trigger: Trigger,
  chain: string,
  facts: TriggerFacts,
): { fills: boolean; because: string } | undefined {
  if (!isComposite(trigger)) return undefined;
  const name = nameOfTrigger(trigger);
  if (partsFilledBy(facts, trigger, chain).length > 0)
    return { fills: true, because: `it counts as a part of ${name}` };
  const unmet = trigger.parts
    .map((part) => firstUnmet(checksOf(part, chain, facts)))
    .find((check) => check?.asks !== 'event');
  return unmet && { fills: false, because: `it is no part of ${name}: ${unmet.because}` };
}

function waitsFor(
  name: string,
  matches: boolean,
  { event }: TriggerFacts,
  because = `it waits for ${name}, and this is ${event}`,
): TriggerCheck {
  return { asks: 'event', matches, because, has: event, wants: name };
}

function firesOn(waitsFor: string, event: string): boolean {
  return waitsFor === event || (waitsFor === 'pr.opened' && event === 'pr.updated');
}

type Compared = Omit<TriggerCheck, 'asks' | 'wants'>;

/** How much of a list or a text an explanation repeats. */
const SHOWN = { values: 100, characters: 200 };

/** Whether a key of the filter matches; `undefined` if it is not set. */
function compare(key: FilterKey, filter: TriggerFilter, facts: TriggerFacts): Compared | undefined {
  const { pull_request: pullRequest, issue, push, check, release, invocation, repository } = facts;
  const written = pullRequest ?? issue;
  const paths = (pullRequest ?? push)?.changed_paths;
  switch (key) {
    case 'repository':
      return listed(filter.repository, [repository.full_name], facts, 'the repository', (glob, name) =>
        globMatches(glob, glob.includes('/') ? name : (name.split('/')[1] ?? name)),
      );
    case 'base': {
      const branch = pullRequest?.base ?? push?.branch ?? check?.branch;
      return listed(filter.base, asList(branch), facts, check ? 'the branch' : 'the base branch');
    }
    case 'head':
      return listed(filter.head, asList(pullRequest?.head), facts, 'the head branch');
    case 'author': {
      const author = lower(asList((written ?? push ?? release)?.author));
      return listed(lower(filter.author), author, facts, 'the author', plainGlobMatches);
    }
    case 'association':
      return listed(filter.association, asList(written?.association), facts, 'the author’s association');
    case 'labels':
      return compareLabels(filter.labels, facts, written?.labels);
    case 'label':
      return listed(lower(filter.label), lower(asList(facts.label)), facts, 'the added label');
    case 'paths':
      return listed(filter.paths, paths, facts, 'the changed files');
    case 'paths_ignore': {
      const ignored = filter.paths_ignore?.flatMap((glob) => rendered(glob, repository));
      if (!ignored) return undefined;
      const has = beginningOf(paths);
      if (paths === undefined) {
        const because = 'the changed files are not known, and the filter ignores some';
        return { matches: false, has, because };
      }
      const rest = paths.find((path) => !anyGlobMatches(ignored, path));
      const globs = filter.paths_ignore?.join(' or ');
      return rest === undefined
        ? { matches: false, has, because: `every changed file matches ${globs}` }
        : { matches: true, has, because: `the changed file ${rest} does not match ${globs}` };
    }
    case 'draft': {
      const draft = pullRequest?.draft;
      if (filter.draft === undefined) return undefined;
      const is = `the pull request is ${draft ? 'a' : 'not a'} draft`;
      const because = draft === undefined ? 'it is not known whether this is a draft' : is;
      return { matches: filter.draft === draft, has: draft ?? null, because };
    }
    case 'title':
      return search(filter.title, (written ?? release)?.title, 'the title');
    case 'body':
      return search(filter.body, (written ?? release)?.body, 'the description');
    case 'review':
      return listed(filter.review, asList(facts.review), facts, 'the review');
    case 'check':
      return listed(filter.check, asList(check?.name), facts, 'the check');
    case 'conclusion':
      return listed(filter.conclusion, asList(check?.conclusion), facts, 'the conclusion');
    case 'tag':
      return listed(filter.tag, asList(release?.tag), facts, 'the tag');
    case 'prerelease': {
      if (filter.prerelease === undefined) return undefined;
      const has = release?.prerelease ?? null;
      const because = `the release is ${has ? 'a' : 'no'} prerelease`;
      return { matches: filter.prerelease === has, has, because };
    }
    case 'chain':
      return listed(filter.chain, asList(invocation?.chain), facts, 'the chain');
    case 'step':
      return listed(filter.step, asList(invocation?.step), facts, 'the step');
    case 'kind':
      return listed(filter.kind, asList(invocation?.kind), facts, 'the outcome');
    case 'verdict':
      return listed(filter.verdict, asList(invocation?.verdict ?? undefined), facts, 'the verdict');
    case 'passed': {
      if (filter.passed === undefined) return undefined;
      const has = invocation?.passed ?? null;
      const because = `"passed" is ${has ?? 'not known'}, and the filter wants ${filter.passed}`;
      return { matches: filter.passed === invocation?.passed, has, because };
    }
    default:
      return unreachable(key);
  }
}

function compareLabels(
  filter: TriggerFilter['labels'],
  facts: TriggerFacts,
  found: readonly string[] | undefined,
): Compared | undefined {
  if (filter === undefined) return undefined;
  const { any, all, none } = Array.isArray(filter)
    ? { any: filter, all: undefined, none: undefined }
    : filter;
  const labels = lower(found);
  const having = (globs: readonly string[] | undefined) => listed(lower(globs), labels, facts, 'the labels');
  const parts = [having(any), ...(all ?? []).map((glob) => having([glob]))].flatMap((part) => part ?? []);
  if (none !== undefined) parts.push(withoutLabels(none, labels, facts));
  const unmet = parts.find(({ matches }) => !matches);
  const because = parts.map((part) => part.because).join('; ');
  return unmet ?? { matches: true, has: beginningOf(labels), because };
}

function withoutLabels(
  none: readonly string[],
  labels: readonly string[] | undefined,
  facts: TriggerFacts,
): Compared {
  const has = beginningOf(labels);
  if (labels === undefined)
    return { matches: false, has, because: 'the labels are not known, and the filter excludes some' };
  const excluded = none.flatMap((glob) => rendered(glob.toLowerCase(), facts.repository));
  const bad = labels.find((label) => anyGlobMatches(excluded, label));
  const wants = `the filter wants none of ${none.join(' or ')}`;
  return bad === undefined
    ? { matches: true, has, because: `the labels are ${inWords(labels)}, and ${wants}` }
    : { matches: false, has, because: `the label ${bad} is there, and ${wants}` };
}

function listed(
  filter: readonly string[] | undefined,
  values: readonly string[] | undefined,
  facts: TriggerFacts,
  what: string,
  matches?: (pattern: string, text: string) => boolean,
): Compared | undefined {
  if (filter === undefined) return undefined;
  const verb = /s$/.test(what) ? 'are' : 'is';
  const wants = filter.join(' or ');
  const has = beginningOf(values);
  if (values === undefined)
    return { matches: false, has, because: `${what} ${verb} not known, and the filter wants ${wants}` };
  const globs = filter.flatMap((pattern) => rendered(pattern, facts.repository));
  const isMet = globs.length > 0 && values.some((value) => anyGlobMatches(globs, value, matches));
  return {
    matches: isMet,
    has,
    because: `${what} ${verb} ${inWords(values)}, and the filter wants ${wants}`,
  };
}

function beginningOf(values: readonly string[] | undefined): readonly string[] | null {
  return values?.slice(0, SHOWN.values) ?? null;
}

function inWords(values: readonly string[]): string {
  if (values.length === 0) return 'none';
  return values.slice(0, 3).join(', ') + (values.length > 3 ? ', …' : '');
}

/** The text can be as long as GitHub allows; only its beginning is searched. */
function search(
  patterns: readonly string[] | undefined,
  text: string | undefined,
  what: string,
): Compared | undefined {
  if (patterns === undefined) return undefined;
  const wants = patterns.join(' or ');
  if (text === undefined)
    return { matches: false, has: null, because: `${what} is not known, and the filter wants ${wants}` };
  const searched = text.slice(0, MAX_MATCHED_LENGTH);
  const isFound = patterns.some((pattern) => compilePattern(pattern).isFoundIn(searched));
  return {
    matches: isFound,
    has: text.slice(0, SHOWN.characters),
    because: `${what} has ${isFound ? 'something' : 'nothing'} that matches ${wants}`,
  };
}

/** An entry with its expressions evaluated; an empty or non-string result matches nothing. */
function rendered(pattern: string, repo: RepositoryFacts): string[] {
  const value = compileTemplate(pattern).evaluate({ repo });
  return typeof value === 'string' && value !== '' && value !== '!' ? [value] : [];
}

function asList(value: string | undefined): string[] | undefined {
  return value === undefined ? undefined : [value];
}

/** GitHub preserves the case of logins and labels, but compares them without it. */
function lower(values: readonly string[] | undefined): string[] | undefined {
  return values?.map((value) => value.toLowerCase());
}
