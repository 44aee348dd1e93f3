import type { Json } from '../../core/canonical.ts';
import { ExpressionError } from '../expression/condition.ts';
import { parseExpression } from '../expression/syntax.ts';
import { and, atom, FALSE, type Formula, isExact, not, or, textOf } from './formula.ts';
import { isAnybody, joinedPeople, type People, readPeople } from './people.ts';
import { isMapping, type Place, type PolicyFile, type PolicyNode, type PolicyRule } from './policy.ts';
import {
  all,
  any,
  type Condition,
  eachPredicate,
  type Gap,
  HOLDS,
  negated,
  readPredicates,
} from './predicate.ts';

/** What differs from the policy. Whatever it is, nothing may merge that the policy would not let merge. */
export type Difference =
  /** A condition that Countersign cannot judge. It counts as what is stricter. */
  | ({ kind: 'condition' } & Gap)
  /** People who cannot be named, so that they cannot approve. */
  | {
      kind: 'people';
      place: Place;
      key: string;
      because: People['left'][number]['because'];
      names: readonly string[];
    }
  /** A rule that nobody can approve here: nothing merges that needs it. */
  | { kind: 'nobody'; place: Place; criterion: string }
  | { kind: 'count'; place: Place; criterion: string }
  /** An option of a rule that lets more people approve, or for longer. Countersign never does. */
  | { kind: 'option'; place: Place; key: string }
  /** A way to approve or disapprove. In Countersign, people react. */
  | { kind: 'method'; place: Place }
  /** People who may disapprove, and who may be unable to in Countersign: nothing merges until somebody has decided about them. */
  | { kind: 'disapprovers'; place: Place; criterion: string; names: readonly string[] }
  /** A condition that disapproves, and cannot be judged: nothing merges until somebody has decided about it. */
  | { kind: 'disapproval'; place: Place; key: string; criterion: string }
  /** A rule that needs no approval. In Countersign, each merge needs one. */
  | { kind: 'free'; place: Place }
  /** Only one of several alternatives counts. */
  | { kind: 'first'; place: Place }
  /** A condition that is too long for an expression. Nothing merges. */
  | { kind: 'too_long'; place: Place; criterion: string }
  /** A key that policy-bot does not know either. */
  | { kind: 'unknown'; place: Place; key: string };

export interface Criterion {
  id: string;
  /** An expression, without its braces. */
  if: string;
  because: string;
}

/** Whom a step asks. */
export interface Approval {
  teams: readonly string[];
  users: readonly string[];
  permission: People['permission'];
  count: number;
  /** The rules that it is for. */
  rules: readonly string[];
}

/** A step that asks, and merges unless it only comes before another. */
export interface AskingStep {
  id: string;
  merges: boolean;
  /** `undefined`: always. */
  condition: string | undefined;
  dependsOn: readonly string[];
  /** `undefined`: everybody whom the settings let countersign. */
  approval: Approval | undefined;
  criteria: readonly Criterion[];
}

export interface Translation {
  /** Everybody who may approve or reject anything. */
  people: People;
  requestsReview: boolean;
  /** For every merge. */
  criteria: readonly Criterion[];
  steps: readonly AskingStep[];
  differences: readonly Difference[];
  /** In the order of the file, with whether a difference is about it. */
  rules: readonly { name: string; place: Place; isUsed: boolean }[];
}

const RULE_KEYS: readonly string[] = ['name', 'description', 'if', 'options', 'requires'];
const LOOSER_OPTIONS: readonly string[] = [
  'allow_author',
  'allow_contributor',
  'allow_non_author_contributor',
  'ignore_update_merges',
  'ignore_commits_by',
];
/** Options that change nothing here: reactions cannot be edited, and every push needs a new countersign. */
const KNOWN_OPTIONS: readonly string[] = [
  'invalidate_on_push',
  'ignore_edited_comments',
  'request_review',
  'methods',
];
const MAX_COUNT = 10;

interface Rule {
  rule: PolicyRule;
  /** When it applies. */
  applies: Condition;
  count: number;
  people: People;
  /** What must hold beside the approvals. */
  conditions: Condition;
  differences: readonly Difference[];
}

/** People who must approve if a condition holds. */
interface Ask {
  rules: readonly string[];
  places: readonly Place[];
  guard: Condition;
  people: People;
  count: number;
}

/** Part of an `or`: rules that are one question, or an `and`. */
interface Alternative {
  nodes: PolicyNode[];
  when: Condition;
  key: string | undefined;
  /** Rules that apply at the same time, so that their people will do as well. */
  also: readonly Rule[];
}

/** What must hold if a condition holds. */
interface Demand {
  rule: Rule;
  guard: Condition;
}

/** Says a policy in steps and gates. Each merge that they allow is one that the policy approves of. */
export function translate(policy: PolicyFile): Translation {
  const differences: Difference[] = [];
  const rules = new Map(
    [...policy.rules.values()].map((rule) => [rule.name, readRule(rule, policy.options)]),
  );
  const used = new Set<string>();
  const asks: Ask[] = [];
  const demands: Demand[] = [];
  compile(policy.approval, HOLDS);
  const isEmpty = policy.approval.kind === 'and' && policy.approval.of.length === 0;

  for (const rule of rules.values()) if (used.has(rule.rule.name)) differences.push(...rule.differences);

  for (const one of policy.unknown) differences.push({ kind: 'unknown', ...one });

  const criteria: Criterion[] = [];
  const blocked: Criterion[] = [];
  const conditions = [...rules.values()]
    .filter(({ rule }) => used.has(rule.name))
    .map(({ applies: when }) => when);
  for (const { rule, guard } of demands) {
    const id = `condition-${criteria.length + 1}`;
    const holds = or(not(guard.now.up), rule.conditions.now.low);
    add(criteria, id, holds, `The rule "${rule.rule.name}" has conditions that do not hold`, rule.rule.place);
    conditions.push(rule.conditions);
  }
  if (!isEmpty)
    add(
      criteria,
      'a-rule-applies',
      applies(policy.approval).now.low,
      'No rule of the policy applies to this pull request',
      ['policy', 'approval'],
    );
  const disapprovers = disapproval();
  if (conditions.some((one) => one.needsPlainPaths))
    add(
      criteria,
      'plain-paths',
      atom("(pr.changed_paths | select('contains', '\\n') | length) == 0"),
      'The path of a changed file has a line break',
      [],
    );

  const needed = asks.filter(({ guard }) => textOf(guard.now.up) !== 'false');
  const possible = needed.filter((ask) => {
    const isPossible = isAnybody(ask.people) && ask.count <= MAX_COUNT;
    if (!isPossible) block(ask);
    return isPossible;
  });
  const steps = stepsFor(grouped(possible));
  return {
    people: joinedPeople([...possible.map(({ people }) => people), disapprovers]),
    requestsReview:
      asksForReview({ options: policy.options }) ||
      [...rules.values()].some(({ rule }) => asksForReview(rule.value)),
    criteria: [...criteria, ...blocked],
    steps,
    differences: withoutRepeats(differences),
    rules: [...rules.values()].map(({ rule }) => ({
      name: rule.name,
      place: rule.place,
      isUsed: used.has(rule.name),
    })),
  };

  /** When the node is not skipped. */
  function applies(node: PolicyNode): Condition {
    return node.kind === 'rule' ? ruleOf(node.rule).applies : any(node.of.map(applies));
  }

  /** When the node is satisfied without anybody. Only its lower bound is right. */
  function isFree(node: PolicyNode): Condition {
    switch (node.kind) {
      case 'rule': {
        const { count, applies: when, conditions: what } = ruleOf(node.rule);
        return count === 0 ? all([when, what]) : negated(HOLDS);
      }
      case 'or':
        return any(node.of.map(isFree));
      case 'and':
        return all([
          any(node.of.map(applies)),
          ...node.of.map((one) => any([isFree(one), negated(applies(one))])),
        ]);
    }
  }

  function ruleOf({ name }: PolicyRule): Rule {
    used.add(name);
    const found = rules.get(name);
    if (!found) throw new Error(`there is no rule ${name}`);
    return found;
  }

  /** Asks whatever the node needs while the guard holds. */
  function compile(node: PolicyNode, guard: Condition): void {
    switch (node.kind) {
      case 'rule':
        compileRules([ruleOf(node.rule)], all([guard, applies(node)]));
        return;
      case 'and':
        for (const one of node.of) compile(one, guard);
        return;
      case 'or':
        compileOr(node.of, node.place, guard);
    }
  }

  /**
   * Asks the people of a rule while the guard holds, or of several that then apply and need one approval each: they are one
   * question to all their people.
   */
  function compileRules(several: readonly Rule[], when: Condition): void {
    const [first] = several;
    if (!first) return;
    if (first.conditions !== HOLDS) demands.push({ rule: first, guard: when });
    if (first.count === 0) differences.push({ kind: 'free', place: first.rule.place });
    else
      asks.push({
        rules: several.map(({ rule }) => rule.name),
        places: several.map(({ rule }) => rule.place),
        guard: when,
        people: joinedPeople(several.map(({ people }) => people)),
        count: first.count,
      });
  }

  /**
   * Which alternative is approved, Countersign would know only afterwards. So the first that applies is asked, unless one
   * needs nobody. If none surely applies, all that may apply are asked.
   */
  function compileOr(of: readonly PolicyNode[], place: Place, outer: Condition): void {
    const guard = all([outer, negated(lower(any(of.map(isFree))))]);
    const isForPeople = (one: PolicyNode) => one.kind !== 'rule' || ruleOf(one.rule).count > 0;
    const ordered = withAlways(merged([...of.filter(isForPeople), ...of.filter((one) => !isForPeople(one))]));
    if (ordered.filter(({ nodes }) => nodes.some(isForPeople)).length > 1)
      differences.push({ kind: 'first', place });
    const noneSurely = all(ordered.map(({ when }) => negated(lower(when))));
    const before: Condition[] = [];
    for (const { nodes, when, also } of ordered) {
      const turn = any([all([lower(when), ...before]), all([upper(when), noneSurely])]);
      before.push(negated(lower(when)));
      const several = nodes.flatMap((one) => (one.kind === 'rule' ? [ruleOf(one.rule)] : []));
      const [only] = nodes;
      if (several.length > 0) compileRules([...several, ...also], all([guard, turn]));
      else if (only) compile(only, all([guard, turn]));
    }
  }

  /**
   * Where one rule always applies and another sometimes, and each needs one approval, either people will do while both
   * apply. So the one that sometimes applies is asked first, together with the people of the other.
   */
  function withAlways(alternatives: readonly Alternative[]): Alternative[] {
    const always = alternatives.find(({ key }) => key === 'true');
    if (!always) return [...alternatives];
    const also = always.nodes.flatMap((one) => (one.kind === 'rule' ? [ruleOf(one.rule)] : []));
    const isSimple = ({ nodes: [node] }: Alternative) =>
      node?.kind === 'rule' && isOneApproval(ruleOf(node.rule));
    const sometimes = alternatives.filter((one) => one !== always && isSimple(one));
    const others = alternatives.filter((one) => !sometimes.includes(one));
    const at = others.indexOf(always);
    return [...others.slice(0, at), ...sometimes.map((one) => ({ ...one, also })), ...others.slice(at)];
  }

  function isOneApproval({ count, conditions: what }: Rule): boolean {
    return count === 1 && what === HOLDS;
  }

  /** Joins rules that apply at the same time and need one approval: either of the one's people or of the other's. */
  function merged(nodes: readonly PolicyNode[]): Alternative[] {
    const found: Alternative[] = [];
    for (const node of nodes) {
      const when = applies(node);
      const key = node.kind === 'rule' ? keyOf(ruleOf(node.rule)) : undefined;
      const same = key === undefined ? undefined : found.find((one) => one.key === key);
      if (same) same.nodes.push(node);
      else found.push({ nodes: [node], when, key, also: [] });
    }
    return found;
  }

  /** The same for rules that apply at the same time. Of conditions that are not known exactly, nobody knows that. */
  function keyOf(rule: Rule): string | undefined {
    const { now, start } = rule.applies;
    return isOneApproval(rule) && isExact(now) && isExact(start) ? textOf(now.low) : undefined;
  }

  function disapproval(): People {
    const given = policy.disapproval;
    if (!given) return readPeople(undefined);
    const gaps: Gap[] = [];
    for (const { key, place, condition } of eachPredicate(given.value.if, [...given.place, 'if'], gaps)) {
      conditions.push(condition);
      const holds = not(condition.now.up);
      const id = `disapproval-${criteria.length + blocked.length + 1}`;
      if (textOf(holds) === 'false') differences.push({ kind: 'disapproval', place, key, criterion: id });
      add(criteria, id, holds, `The policy disapproves because of ${key}`, place);
    }
    for (const gap of gaps) differences.push({ kind: 'condition', ...gap });
    const place = [...given.place, 'requires'];
    const people = readPeople(given.value.requires);
    const missing = people.left.flatMap(({ key, names }) => names.map((name) => `${key}: ${name}`));
    if (isMapping(given.value.options))
      differences.push({ kind: 'method', place: [...given.place, 'options'] });
    if (missing.length > 0) {
      const criterion = 'disapprovers';
      differences.push({ kind: 'disapprovers', place, criterion, names: missing });
      blocked.push({
        id: criterion,
        if: 'false',
        because:
          'Some who may disapprove by the policy cannot here. Decide about them, and remove this criterion',
      });
    }
    return people;
  }

  function block({ rules: names, places, people, count, guard }: Ask): void {
    const id = `unmapped-${blocked.length + 1}`;
    const [place = []] = places;
    const isCount = isAnybody(people);
    differences.push({ kind: isCount ? 'count' : 'nobody', place: [...place, 'requires'], criterion: id });
    const because = isCount
      ? `The rule ${quoted(names)} needs ${count} people, and a step can ask for ${MAX_COUNT}`
      : `The rule ${quoted(names)} needs people whom Countersign cannot name`;
    add(blocked, id, not(guard.now.up), because, place);
  }

  /** Adds a criterion that may fail. One that no expression can say never passes. */
  function add(to: Criterion[], id: string, formula: Formula, because: string, place: Place): void {
    const text = textOf(formula);
    if (text === 'true') return;
    const isShort = isSayable(text);
    if (!isShort) differences.push({ kind: 'too_long', place, criterion: id });
    to.push({ id, if: isShort ? text : 'false', because: clipped(because) });
  }

  function stepsFor(groups: readonly Ask[]): AskingStep[] {
    const ids = groups.map((_, index) => (groups.length === 1 ? '' : `-${index + 1}`));
    /** When the people of a group are asked before those of an earlier one merge. */
    const asksBefore = groups.map(({ guard }, index) =>
      and(guard.start.up, or(...groups.slice(0, index).map((one) => one.guard.start.up))),
    );
    const isAsked = (index: number) => textOf(asksBefore[index] ?? FALSE) !== 'false';
    const asking = groups.flatMap((group, index): AskingStep[] => {
      if (!isAsked(index)) return [];
      const condition = conditionText(asksBefore[index] ?? FALSE);
      const approval = approvalOf(group);
      return [{ id: `ask${ids[index]}`, merges: false, condition, dependsOn: [], approval, criteria: [] }];
    });
    const waitsFor = asking.map(({ id }) => id);
    const areOver = waitsFor.map((id) => atom(`steps['${id}'].status in ['completed', 'skipped']`));
    const others = (index: number | undefined): Criterion[] => {
      const found: Criterion[] = [];
      for (const [other, group] of groups.entries()) {
        if (other === index) continue;
        const asked = isAsked(other) ? atom(`steps['ask${ids[other]}'].status == 'completed'`) : FALSE;
        add(
          found,
          `asked${ids[other] || '-1'}`,
          or(not(group.guard.now.up), asked),
          `The rule ${quoted(group.rules)} is not approved`,
          group.places[0] ?? [],
        );
      }
      return found;
    };
    const merging = groups.map((group, index): AskingStep => {
      const earlier = groups.slice(0, index).map((one) => not(one.guard.start.up));
      return {
        id: `merge${ids[index]}`,
        merges: true,
        condition:
          conditionText(and(group.guard.start.up, ...earlier, ...areOver)) ?? conditionText(and(...areOver)),
        dependsOn: waitsFor,
        approval: approvalOf(group),
        criteria: others(index),
      };
    });
    const isAlwaysAsked = groups.some(({ guard }) => textOf(guard.start.up) === 'true');
    if (isAlwaysAsked) return [...asking, ...merging].filter(canRun);
    const free: AskingStep = {
      id: groups.length === 0 ? 'merge' : 'merge-free',
      merges: true,
      condition:
        conditionText(and(...groups.map(({ guard }) => not(guard.start.up)), ...areOver)) ??
        conditionText(and(...areOver)),
      dependsOn: waitsFor,
      approval: undefined,
      criteria: others(undefined),
    };
    return [...asking, ...merging, free].filter(canRun);
  }

  /** A condition that is too long always asks: more is asked than is needed, and the gate decides. */
  function conditionText(formula: Formula): string | undefined {
    const text = textOf(formula);
    return text === 'true' || !isSayable(text) ? undefined : text;
  }
}

function canRun({ condition }: AskingStep): boolean {
  return condition !== 'false';
}

/** Asks for the same people are one, whenever one of them asks. */
function grouped(asks: readonly Ask[]): Ask[] {
  const groups = new Map<string, Ask>();
  for (const ask of asks) {
    const { teams, users, permission } = ask.people;
    const key = JSON.stringify([teams.toSorted(), users.toSorted(), permission, ask.count]);
    const same = groups.get(key);
    groups.set(
      key,
      same
        ? {
            ...same,
            rules: [...new Set([...same.rules, ...ask.rules])],
            places: [...same.places, ...ask.places],
            guard: any([same.guard, ask.guard]),
          }
        : ask,
    );
  }
  // What is always asked is asked by the merge itself.
  return [...groups.values()].toSorted(
    (a, b) => Number(textOf(b.guard.start.up) === 'true') - Number(textOf(a.guard.start.up) === 'true'),
  );
}

function approvalOf({ people, count, rules }: Ask): Approval {
  return { teams: people.teams, users: people.users, permission: people.permission, count, rules };
}

function readRule(rule: PolicyRule, defaults: Readonly<Record<string, Json>>): Rule {
  const differences: Difference[] = [];
  const { value, place } = rule;
  const gaps: Gap[] = [];
  const requires = isMapping(value.requires) ? value.requires : {};
  const count = typeof requires.count === 'number' && requires.count > 0 ? Math.ceil(requires.count) : 0;
  const people = readPeople(requires, ['count', 'conditions']);
  const applies = readPredicates(value.if, [...place, 'if'], gaps);
  const conditions = hasMembers(requires.conditions)
    ? readPredicates(requires.conditions, [...place, 'requires', 'conditions'], gaps)
    : HOLDS;
  for (const gap of gaps) differences.push({ kind: 'condition', ...gap });
  if (count > 0)
    for (const { key, because, names } of people.left)
      differences.push({ kind: 'people', place: [...place, 'requires', key], key, because, names });
  const own = isMapping(value.options) ? value.options : {};
  for (const [key, given] of Object.entries({ ...defaults, ...own })) {
    const at = key in own ? [...place, 'options', key] : ['approval_defaults', 'options', key];
    if (LOOSER_OPTIONS.includes(key)) {
      if (given !== false && given !== null) differences.push({ kind: 'option', place: at, key });
    } else if (key === 'methods') differences.push({ kind: 'method', place: at });
    else if (!KNOWN_OPTIONS.includes(key)) differences.push({ kind: 'unknown', place: at, key });
  }
  for (const key of Object.keys(value))
    if (!RULE_KEYS.includes(key)) differences.push({ kind: 'unknown', place: [...place, key], key });
  return { rule, applies, count, people, conditions, differences };
}

function asksForReview(rule: Readonly<Record<string, Json>>): boolean {
  const options = isMapping(rule.options) ? rule.options : {};
  return isMapping(options.request_review) && options.request_review.enabled === true;
}

function hasMembers(value: Json | undefined): boolean {
  return value !== undefined && value !== null && !(isMapping(value) && Object.keys(value).length === 0);
}

/** Only what surely holds. */
function lower({ now, start, needsPlainPaths }: Condition): Condition {
  return { now: { low: now.low, up: now.low }, start: { low: start.low, up: start.low }, needsPlainPaths };
}

/** Whatever may hold. */
function upper({ now, start, needsPlainPaths }: Condition): Condition {
  return { now: { low: now.up, up: now.up }, start: { low: start.up, up: start.up }, needsPlainPaths };
}

function isSayable(text: string): boolean {
  try {
    parseExpression(text);
    return text.length < 1_900;
  } catch (error) {
    if (error instanceof ExpressionError) return false;
    throw error;
  }
}

function quoted(names: readonly string[]): string {
  return names.map((name) => `"${name}"`).join(' or ');
}

/** As long as a criterion's `because` may be. */
function clipped(text: string): string {
  const plain = text.replaceAll(/[\p{Cc}\p{Cf}]/gu, ' ');
  return plain.length <= 400 ? plain : `${plain.slice(0, 399)}…`;
}

function withoutRepeats(differences: readonly Difference[]): Difference[] {
  return [...new Map(differences.map((one) => [JSON.stringify(one), one])).values()];
}
