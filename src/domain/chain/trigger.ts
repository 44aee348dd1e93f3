import { unreachable } from '../../core/errors.ts';
import { anyGlobMatches } from '../../core/glob.ts';
import { compileTemplate } from '../expression/condition.ts';
import type { Chain, FilterKey, TriggerFilter } from './chain.ts';
import { FILTER_KEYS } from './chain.ts';

interface RepositoryFacts {
  full_name: string;
  default_branch: string;
}

/** The facts of an event for choosing chains. Field names are those of the webhook payloads. */
export interface TriggerFacts {
  /** The kind of event, such as `pr.opened`. Kinds that start no chain never match. */
  event: string;
  repository: RepositoryFacts;
  pull_request?: {
    number: number;
    base: string;
    head: string;
    draft: boolean;
    author: string;
    labels: readonly string[];
    /** Left out if GitHub did not list them all. A filter on paths then does not match. */
    changed_paths?: readonly string[];
  };
  issue?: { number: number; author: string; labels: readonly string[] };
  push?: { branch: string; author: string; changed_paths?: readonly string[] };
  /** The chain that a person named. */
  manual?: { chain: string };
}

export type TriggerMatch = { matches: true } | { matches: false; because: string };

/**
 * Whether an event starts a chain: it must be the trigger's event, and every key of the filter must match.
 * Within a key, one matching entry is enough. A filter whose fact is unknown does not match.
 */
export function triggerMatches(chain: Chain, facts: TriggerFacts): TriggerMatch {
  const { event, filter } = chain.trigger;
  if (!firesOn(event, facts.event)) return noMatch(`it waits for ${event}, and this is ${facts.event}`);
  if (event === 'manual.fired' && facts.manual?.chain !== chain.name)
    return noMatch('another chain was asked for');
  for (const key of FILTER_KEYS) {
    const because = mismatch(key, filter, facts);
    if (because !== undefined) return noMatch(because);
  }
  return { matches: true };
}

function firesOn(waitsFor: string, event: string): boolean {
  return waitsFor === event || (waitsFor === 'pr.opened' && event === 'pr.updated');
}

function noMatch(because: string): TriggerMatch {
  return { matches: false, because };
}

/** Why a key of the filter does not match; `undefined` if it does or is not set. */
function mismatch(key: FilterKey, filter: TriggerFilter, facts: TriggerFacts): string | undefined {
  const subject = facts.pull_request ?? facts.issue ?? facts.push;
  switch (key) {
    case 'base':
      return unmatched(
        filter.base,
        asList(facts.pull_request?.base ?? facts.push?.branch),
        facts,
        'the base branch',
      );
    case 'head':
      return unmatched(filter.head, asList(facts.pull_request?.head), facts, 'the head branch');
    case 'author':
      return unmatched(lower(filter.author), lower(asList(subject?.author)), facts, 'the author');
    case 'labels': {
      const { labels } = facts.pull_request ?? facts.issue ?? {};
      return unmatched(lower(filter.labels), lower(labels), facts, 'the labels');
    }
    case 'paths': {
      const { changed_paths } = facts.pull_request ?? facts.push ?? {};
      return unmatched(filter.paths, changed_paths, facts, 'the changed files');
    }
    case 'draft': {
      const draft = facts.pull_request?.draft;
      if (filter.draft === undefined || filter.draft === draft) return undefined;
      if (draft === undefined) return 'it is not known whether this is a draft';
      return draft ? 'the pull request is a draft' : 'the pull request is not a draft';
    }
    default:
      return unreachable(key);
  }
}

function unmatched(
  filter: readonly string[] | undefined,
  values: readonly string[] | undefined,
  facts: TriggerFacts,
  what: string,
): string | undefined {
  if (filter === undefined) return undefined;
  const verb = /s$/.test(what) ? 'are' : 'is';
  const wants = filter.join(' or ');
  if (values === undefined) return `${what} ${verb} not known, and the filter wants ${wants}`;
  const globs = filter.flatMap((pattern) => rendered(pattern, facts.repository));
  if (values.some((value) => anyGlobMatches(globs, value))) return undefined;
  const found =
    values.length === 0 ? 'none' : values.slice(0, 3).join(', ') + (values.length > 3 ? ', …' : '');
  return `${what} ${verb} ${found}, and the filter wants ${wants}`;
}

/** An entry with its expressions evaluated; an empty or non-string result matches nothing. */
function rendered(pattern: string, repo: RepositoryFacts): string[] {
  const value = compileTemplate(pattern).evaluate({ repo });
  return typeof value === 'string' && value !== '' ? [value] : [];
}

function asList(value: string | undefined): string[] | undefined {
  return value === undefined ? undefined : [value];
}

/** GitHub preserves the case of logins and labels, but compares them without it. */
function lower(values: readonly string[] | undefined): string[] | undefined {
  return values?.map((value) => value.toLowerCase());
}
