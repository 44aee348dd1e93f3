import type { Json } from '../../core/canonical.ts';
import {
  ALWAYS,
  allOf,
  and,
  anyOf,
  atom,
  exactly,
  FALSE,
  type Formula,
  not,
  notRange,
  or,
  type Range,
  TRUE,
  UNKNOWN,
} from './formula.ts';
import { globOf, type Translated } from './pattern.ts';
import { textsOf } from './people.ts';
import { isMapping, type Place } from './policy.ts';

/** A condition as it is now, from fresh facts, and as it was when the run began, from its trigger. */
export interface Condition {
  now: Range;
  start: Range;
  /** A path is compared with a `.` of a pattern, which matches no line break. */
  needsPlainPaths: boolean;
}

/** What has no counterpart, and so counts as what is stricter. */
export interface Gap {
  place: Place;
  key: string;
  because: 'predicate' | 'pattern' | 'people' | 'value' | 'conclusions';
}

export const HOLDS: Condition = { now: ALWAYS, start: ALWAYS, needsPlainPaths: false };
const NOT_KNOWN: Condition = { now: UNKNOWN, start: UNKNOWN, needsPlainPaths: false };

/** Conditions that must all hold, as `if` and `conditions` list them. */
export function readPredicates(value: Json | undefined, place: Place, gaps: Gap[]): Condition {
  if (value === undefined || value === null) return HOLDS;
  if (!isMapping(value)) {
    gaps.push({ place, key: '', because: 'value' });
    return NOT_KNOWN;
  }
  return all(Object.entries(value).map(([key, given]) => readPredicate(key, given, [...place, key], gaps)));
}

/** Each of the conditions alone: one that holds is enough for a disapproval. */
export function eachPredicate(
  value: Json | undefined,
  place: Place,
  gaps: Gap[],
): { key: string; place: Place; condition: Condition }[] {
  if (!isMapping(value)) return [];
  return Object.entries(value).map(([key, given]) => ({
    key,
    place: [...place, key],
    condition: readPredicate(key, given, [...place, key], gaps),
  }));
}

export function all(conditions: readonly Condition[]): Condition {
  return {
    now: allOf(conditions.map(({ now }) => now)),
    start: allOf(conditions.map(({ start }) => start)),
    needsPlainPaths: conditions.some((one) => one.needsPlainPaths),
  };
}

export function any(conditions: readonly Condition[]): Condition {
  return {
    now: anyOf(conditions.map(({ now }) => now)),
    start: anyOf(conditions.map(({ start }) => start)),
    needsPlainPaths: conditions.some((one) => one.needsPlainPaths),
  };
}

export function negated({ now, start, needsPlainPaths }: Condition): Condition {
  return { now: notRange(now), start: notRange(start), needsPlainPaths };
}

function readPredicate(key: string, value: Json, place: Place, gaps: Gap[]): Condition {
  const gap = (because: Gap['because']) => {
    gaps.push({ place, key, because });
    return NOT_KNOWN;
  };
  switch (key) {
    case 'changed_files':
    case 'no_changed_files':
    case 'only_changed_files': {
      const files = isMapping(value) ? changedFiles(key, value) : undefined;
      if (!files) return gap('value');
      // What is known of it still counts.
      if (!files.isWhole) gap('pattern');
      return files.condition;
    }
    case 'targets_branch':
    case 'from_branch': {
      const pattern = isMapping(value) && typeof value.pattern === 'string' ? value.pattern : undefined;
      const translated = pattern === undefined ? undefined : globOf(pattern);
      if (!translated) return gap(pattern === undefined ? 'value' : 'pattern');
      return key === 'targets_branch' ? targetsBranch(translated) : fromBranch(translated);
    }
    case 'has_labels':
      return hasLabels(textsOf(value));
    case 'modified_lines':
      return (isMapping(value) ? modifiedLines(value) : undefined) ?? gap('value');
    case 'has_author_in': {
      if (!isMapping(value)) return gap('value');
      const isNamed = (of: string) =>
        or(...textsOf(value.users).map((user) => atom(`${of} == ${literal(user)}`)));
      const others = Object.entries(value).some(([name, of]) => name !== 'users' && !isEmpty(of));
      if (others) gap('people');
      const rest = others ? UNKNOWN : exactly(FALSE);
      return {
        now: anyOf([exactly(isNamed('pr.author')), rest]),
        start: anyOf([exactly(isNamed('trigger.author')), rest]),
        needsPlainPaths: false,
      };
    }
    case 'has_valid_signatures':
      return value === true
        ? { now: exactly(atom('pr.signed')), start: UNKNOWN, needsPlainPaths: false }
        : gap('value');
    case 'has_successful_status':
      return { now: hasStatus(textsOf(value), true), start: UNKNOWN, needsPlainPaths: false };
    case 'has_status': {
      if (!isMapping(value)) return gap('value');
      const conclusions = value.conclusions === undefined ? ['success'] : textsOf(value.conclusions);
      const passing = ['success', 'neutral', 'skipped'];
      if (!conclusions.every((one) => passing.includes(one)) || !conclusions.includes('success'))
        return gap('conclusions');
      const isAny = passing.every((one) => conclusions.includes(one));
      return { now: hasStatus(textsOf(value.statuses), !isAny), start: UNKNOWN, needsPlainPaths: false };
    }
    case 'repository':
      return repository(value) ?? gap('pattern');
    default:
      return gap('predicate');
  }
}

interface Files {
  condition: Condition;
  isWhole: boolean;
}

/** A renamed file has both its names among the paths, and only the new one in policy-bot. */
const NO_RENAMES = atom('(pr.changed_paths | length) == pr.changed_files');

function changedFiles(key: string, value: Readonly<Record<string, Json>>): Files | undefined {
  const paths = textsOf(value.paths).map(globOf);
  const ignore = textsOf(value.ignore).map(globOf);
  const known = paths.filter((one) => one !== undefined);
  const isWhole = known.length === paths.length && ignore.every((one) => one !== undefined);
  const ignored = ignore.filter((one) => one !== undefined);
  const needsPlainPaths = [...known, ...ignored].some(({ hasDot }) => hasDot);
  if (Object.keys(value).some((name) => name !== 'paths' && name !== 'ignore')) return undefined;
  if (key === 'only_changed_files') {
    const only = (of: string) =>
      and(atom(`(${of}${rejecting(known)} | length) == 0`), atom(`(${of} | length) > 0`));
    const holds = only('pr.changed_paths');
    return {
      isWhole,
      condition: {
        // Fewer patterns let fewer files through, so what is known is a lower bound.
        now: { low: holds, up: isWhole ? or(holds, not(NO_RENAMES)) : UNKNOWN.up },
        start: { low: only('trigger.paths'), up: isWhole ? only('trigger.paths') : UNKNOWN.up },
        needsPlainPaths,
      },
    };
  }
  const some = (of: string) =>
    known.length === 0 ? FALSE : atom(`(${of}${rejecting(ignored)}${selecting(known)} | length) > 0`);
  const isIgnoreWhole = ignored.length === ignore.length;
  const condition: Condition = {
    now: {
      low: isIgnoreWhole ? and(some('pr.changed_paths'), NO_RENAMES) : FALSE,
      up: known.length === paths.length ? some('pr.changed_paths') : UNKNOWN.up,
    },
    start: {
      low: isIgnoreWhole ? some('trigger.paths') : FALSE,
      up: known.length === paths.length ? some('trigger.paths') : UNKNOWN.up,
    },
    needsPlainPaths,
  };
  return { isWhole, condition: key === 'no_changed_files' ? negated(condition) : condition };
}

function selecting(globs: readonly Translated[]): string {
  return ` | select('glob', ${literal(oneGlob(globs))})`;
}

function rejecting(globs: readonly Translated[]): string {
  return globs.length === 0 ? '' : ` | reject('glob', ${literal(oneGlob(globs))})`;
}

function oneGlob(globs: readonly Translated[]): string {
  const all = [...new Set(globs.map(({ glob }) => glob))];
  return all.length === 1 ? (all[0] ?? '') : `{${all.join(',')}}`;
}

function matching(of: string, { glob }: Translated): Formula {
  return atom(`([${of}] | select('glob', ${literal(glob)}) | length) > 0`);
}

function targetsBranch(translated: Translated): Condition {
  return {
    now: exactly(matching('pr.base_branch', translated)),
    start: exactly(matching('trigger.base', translated)),
    needsPlainPaths: false,
  };
}

/** For a fork, policy-bot compares `owner:branch`. */
function fromBranch(translated: Translated): Condition {
  const fork = atom('pr.fork');
  const own = and(matching('pr.head_branch', translated), not(fork));
  const isNeverFork = translated.beginsWith.every(
    (text) => /^[^:]+[^A-Za-z0-9:-]/.test(text) && !text.includes(':'),
  );
  return {
    now: isNeverFork ? exactly(own) : { low: own, up: or(own, fork) },
    start: exactly(matching('trigger.head', translated)),
    needsPlainPaths: false,
  };
}

/** Case does not count, as in policy-bot. No label has a line break. */
function hasLabels(labels: readonly string[]): Condition {
  const having = (of: string) =>
    and(
      ...labels.map((label) =>
        label.includes('\n')
          ? FALSE
          : atom(
              `${literal(`\n${label.toLowerCase()}\n`)} in ('\\n' ~ (${of} | join('\\n') | lower) ~ '\\n')`,
            ),
      ),
    );
  return {
    now: exactly(having('pr.labels')),
    start: exactly(having('trigger.labels')),
    needsPlainPaths: false,
  };
}

function modifiedLines(value: Readonly<Record<string, Json>>): Condition | undefined {
  const counts: Readonly<Record<string, string>> = {
    additions: 'pr.additions',
    deletions: 'pr.deletions',
    total: '(pr.additions + pr.deletions)',
  };
  const parts: Formula[] = [];
  for (const [key, given] of Object.entries(value)) {
    const count = counts[key];
    const [, operator, number] = /^\s*([<>=])[ \t]*(\d{1,9})\s*$/.exec(String(given)) ?? [];
    if (count === undefined || operator === undefined) return undefined;
    parts.push(atom(`${count} ${operator === '=' ? '==' : operator} ${Number(number)}`));
  }
  return { now: exactly(or(...parts)), start: UNKNOWN, needsPlainPaths: false };
}

function hasStatus(names: readonly string[], isSuccess: boolean): Range {
  const within = (fact: string) => and(...names.map((name) => atom(`${literal(name)} in pr.${fact}`)));
  const others = ['failed_checks', 'pending_checks'].map((fact) =>
    and(...names.map((name) => not(atom(`${literal(name)} in pr.${fact}`)))),
  );
  return {
    low: isSuccess ? within('successful_checks') : and(within('passed_checks'), ...others),
    // Countersign does not list its own checks.
    up: names.some((name) => /^countersign/i.test(name)) ? TRUE : within('passed_checks'),
  };
}

function repository(value: Json): Condition | undefined {
  if (!isMapping(value)) return undefined;
  const patternsOf = (key: string) => textsOf(value[key]).map(globOf);
  const [matches, others] = [patternsOf('matches'), patternsOf('not_matches')];
  if ([...matches, ...others].some((one) => one === undefined)) return undefined;
  const is = (one: Translated | undefined) => (one ? matching('repo.full_name', one) : FALSE);
  const range = exactly(
    or(...matches.map(is), others.length === 0 ? FALSE : and(...others.map((one) => not(is(one))))),
  );
  return { now: range, start: range, needsPlainPaths: false };
}

function isEmpty(value: Json): boolean {
  return value === null || value === false || (Array.isArray(value) && value.length === 0);
}

/** A text in an expression. */
function literal(text: string): string {
  const escaped = text
    .replaceAll('\\', '\\\\')
    .replaceAll("'", "\\'")
    .replaceAll('\n', '\\n')
    .replaceAll('\r', '\\r')
    .replaceAll('\t', '\\t');
  return `'${escaped}'`;
}
