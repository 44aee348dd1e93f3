import { unreachable } from '../../core/errors.ts';
import { anyGlobMatches, globMatches, plainGlobMatches } from '../../core/glob.ts';
import { compileTemplate } from '../expression/condition.ts';
import { compilePattern, MAX_MATCHED_LENGTH } from '../rule/pattern.ts';
import type { Chain } from './chain.ts';
import {
  type EventTrigger,
  eventTriggersOf,
  FILTER_KEYS,
  type FilterKey,
  nameOfTrigger,
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

/**
 * Whether an event starts a chain: it must be the event of one of the triggers, and every key of that trigger's filter
 * must match. Within a key, one matching entry is enough. A filter whose fact is unknown does not match.
 */
export function triggerMatches(chain: Chain, facts: TriggerFacts): TriggerMatch {
  const reasons: { because: string; isOfThisEvent: boolean }[] = [];
  for (const trigger of eventTriggersOf(chain)) {
    const because = mismatchOf(trigger, chain.name, facts);
    if (because === undefined) return { matches: true };
    reasons.push({ because, isOfThisEvent: firesOn(trigger.event, facts.event) });
  }
  // What other events the chain waits for explains nothing about this one.
  const telling = reasons.filter(({ isOfThisEvent }) => isOfThisEvent);
  const told = telling.length > 0 ? telling.map(({ because }) => because) : [waitsForOther(chain, facts)];
  return { matches: false, because: [...new Set(told)].join('; and ') };
}

function waitsForOther(chain: Chain, { event }: TriggerFacts): string {
  const names = triggersOf(chain).map(nameOfTrigger);
  return `it waits for ${[...new Set(names)].join(' or ')}, and this is ${event}`;
}

/** Why one trigger does not fire; `undefined` if it does. */
function mismatchOf({ event, filter }: EventTrigger, chain: string, facts: TriggerFacts): string | undefined {
  if (!firesOn(event, facts.event)) return `it waits for ${event}, and this is ${facts.event}`;
  if (event === 'manual.fired' && facts.manual?.chain !== chain) return 'another chain was asked for';
  for (const key of FILTER_KEYS) {
    const because = mismatch(key, filter, facts);
    if (because !== undefined) return because;
  }
  return undefined;
}

function firesOn(waitsFor: string, event: string): boolean {
  return waitsFor === event || (waitsFor === 'pr.opened' && event === 'pr.updated');
}

/** Why a key of the filter does not match; `undefined` if it does or is not set. */
function mismatch(key: FilterKey, filter: TriggerFilter, facts: TriggerFacts): string | undefined {
  const { pull_request: pullRequest, issue, push, check, release, invocation, repository } = facts;
  const written = pullRequest ?? issue;
  const paths = (pullRequest ?? push)?.changed_paths;
  switch (key) {
    case 'repository':
      return unmatched(filter.repository, [repository.full_name], facts, 'the repository', (glob, name) =>
        globMatches(glob, glob.includes('/') ? name : (name.split('/')[1] ?? name)),
      );
    case 'base': {
      const branch = pullRequest?.base ?? push?.branch ?? check?.branch;
      return unmatched(filter.base, asList(branch), facts, check ? 'the branch' : 'the base branch');
    }
    case 'head':
      return unmatched(filter.head, asList(pullRequest?.head), facts, 'the head branch');
    case 'author': {
      const author = lower(asList((written ?? push ?? release)?.author));
      return unmatched(lower(filter.author), author, facts, 'the author', plainGlobMatches);
    }
    case 'association':
      return unmatched(filter.association, asList(written?.association), facts, 'the author’s association');
    case 'labels':
      return labelsMismatch(filter.labels, facts, written?.labels);
    case 'label':
      return unmatched(lower(filter.label), lower(asList(facts.label)), facts, 'the added label');
    case 'paths':
      return unmatched(filter.paths, paths, facts, 'the changed files');
    case 'paths_ignore': {
      const ignored = filter.paths_ignore?.flatMap((glob) => rendered(glob, repository));
      if (!ignored) return undefined;
      const isRest = (path: string) => !anyGlobMatches(ignored, path);
      if (paths === undefined) return 'the changed files are not known, and the filter ignores some';
      return paths.some(isRest)
        ? undefined
        : `every changed file matches ${filter.paths_ignore?.join(' or ')}`;
    }
    case 'draft': {
      const draft = pullRequest?.draft;
      if (filter.draft === undefined || filter.draft === draft) return undefined;
      if (draft === undefined) return 'it is not known whether this is a draft';
      return draft ? 'the pull request is a draft' : 'the pull request is not a draft';
    }
    case 'title':
      return unfound(filter.title, (written ?? release)?.title, 'the title');
    case 'body':
      return unfound(filter.body, (written ?? release)?.body, 'the description');
    case 'review':
      return unmatched(filter.review, asList(facts.review), facts, 'the review');
    case 'check':
      return unmatched(filter.check, asList(check?.name), facts, 'the check');
    case 'conclusion':
      return unmatched(filter.conclusion, asList(check?.conclusion), facts, 'the conclusion');
    case 'tag':
      return unmatched(filter.tag, asList(release?.tag), facts, 'the tag');
    case 'prerelease': {
      if (filter.prerelease === undefined || filter.prerelease === release?.prerelease) return undefined;
      return `the release is ${filter.prerelease ? 'no' : 'a'} prerelease`;
    }
    case 'chain':
      return unmatched(filter.chain, asList(invocation?.chain), facts, 'the chain');
    case 'step':
      return unmatched(filter.step, asList(invocation?.step), facts, 'the step');
    case 'kind':
      return unmatched(filter.kind, asList(invocation?.kind), facts, 'the outcome');
    case 'verdict':
      return unmatched(filter.verdict, asList(invocation?.verdict ?? undefined), facts, 'the verdict');
    case 'passed': {
      if (filter.passed === undefined || filter.passed === invocation?.passed) return undefined;
      return `"passed" is ${invocation?.passed ?? 'not known'}, and the filter wants ${filter.passed}`;
    }
    default:
      return unreachable(key);
  }
}

function labelsMismatch(
  filter: TriggerFilter['labels'],
  facts: TriggerFacts,
  found: readonly string[] | undefined,
): string | undefined {
  if (filter === undefined) return undefined;
  const { any, all, none } = Array.isArray(filter)
    ? { any: filter, all: undefined, none: undefined }
    : filter;
  const labels = lower(found);
  const unmet = (globs: readonly string[] | undefined) =>
    unmatched(lower(globs), labels, facts, 'the labels');
  const because = unmet(any) ?? all?.map((glob) => unmet([glob])).find((reason) => reason !== undefined);
  if (because !== undefined || none === undefined) return because;
  if (labels === undefined) return 'the labels are not known, and the filter excludes some';
  const excluded = none.flatMap((glob) => rendered(glob.toLowerCase(), facts.repository));
  const bad = labels.find((label) => anyGlobMatches(excluded, label));
  return bad && `the label ${bad} is there, and the filter wants none of ${none.join(' or ')}`;
}

function unmatched(
  filter: readonly string[] | undefined,
  values: readonly string[] | undefined,
  facts: TriggerFacts,
  what: string,
  matches?: (pattern: string, text: string) => boolean,
): string | undefined {
  if (filter === undefined) return undefined;
  const verb = /s$/.test(what) ? 'are' : 'is';
  const wants = filter.join(' or ');
  if (values === undefined) return `${what} ${verb} not known, and the filter wants ${wants}`;
  const globs = filter.flatMap((pattern) => rendered(pattern, facts.repository));
  if (globs.length > 0 && values.some((value) => anyGlobMatches(globs, value, matches))) return undefined;
  const found =
    values.length === 0 ? 'none' : values.slice(0, 3).join(', ') + (values.length > 3 ? ', …' : '');
  return `${what} ${verb} ${found}, and the filter wants ${wants}`;
}

/** The text can be as long as GitHub allows; only its beginning is searched. */
function unfound(
  patterns: readonly string[] | undefined,
  text: string | undefined,
  what: string,
): string | undefined {
  if (patterns === undefined) return undefined;
  const wants = patterns.join(' or ');
  if (text === undefined) return `${what} is not known, and the filter wants ${wants}`;
  const searched = text.slice(0, MAX_MATCHED_LENGTH);
  return patterns.some((pattern) => compilePattern(pattern).isFoundIn(searched))
    ? undefined
    : `${what} has nothing that matches ${wants}`;
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
