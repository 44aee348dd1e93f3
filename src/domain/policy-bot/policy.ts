import type { Json } from '../../core/canonical.ts';

/** A place in the policy file: keys and indexes. */
export type Place = readonly (string | number)[];

/** A policy file whose structure is what policy-bot reads. */
export interface PolicyFile {
  rules: ReadonlyMap<string, PolicyRule>;
  approval: PolicyNode;
  /** `undefined` if the policy has none. */
  disapproval: { value: Readonly<Record<string, Json>>; place: Place } | undefined;
  /** Options of every rule that does not have them itself, at `approval_defaults`. */
  options: Readonly<Record<string, Json>>;
  /** Keys that policy-bot does not know. */
  unknown: readonly { key: string; place: Place }[];
}

export interface PolicyRule {
  name: string;
  place: Place;
  value: Readonly<Record<string, Json>>;
}

export type PolicyNode =
  | { kind: 'rule'; rule: PolicyRule }
  | { kind: 'and' | 'or'; of: readonly PolicyNode[]; place: Place };

export interface PolicyError {
  place: Place;
  message: string;
}

/** As policy-bot allows. */
const MAX_DEPTH = 10;
const MAX_RULES = 200;
const MAX_NODES = 1_000;

/** Reads what policy-bot would, with its errors. */
export function readPolicy(value: Json): PolicyFile | { errors: PolicyError[] } {
  const errors: PolicyError[] = [];
  const fail = (place: Place, message: string) => {
    errors.push({ place, message });
    return undefined;
  };
  if (!isMapping(value))
    return { errors: [{ place: [], message: 'a policy is a mapping with "policy" and "approval_rules"' }] };
  if (typeof value.remote === 'string')
    return {
      errors: [
        {
          place: ['remote'],
          message:
            'this file only names a policy in another repository; import that file, and put the result where it is to hold',
        },
      ],
    };
  if (!('policy' in value) && !('approval_rules' in value))
    return {
      errors: [{ place: [], message: 'this is no policy: it has neither "policy" nor "approval_rules"' }],
    };

  const rules = readRules();
  const policy = value.policy ?? {};
  if (!isMapping(policy)) fail(['policy'], '"policy" is a mapping with "approval" and "disapproval"');
  let nodes = 0;
  const approval = isMapping(policy)
    ? listNode('and', policy.approval ?? [], ['policy', 'approval'], 0)
    : undefined;
  const disapproval = isMapping(policy) ? policy.disapproval : undefined;
  if (disapproval !== undefined && disapproval !== null && !isMapping(disapproval))
    fail(['policy', 'disapproval'], '"disapproval" is a mapping');
  if (errors.length > 0 || !approval) return { errors };
  const defaults = isMapping(value.approval_defaults) ? value.approval_defaults : {};
  return {
    rules,
    options: isMapping(defaults.options) ? defaults.options : {},
    unknown: [
      ...unknownIn(value, [], ['policy', 'approval_rules', 'approval_defaults']),
      ...unknownIn(policy, ['policy'], ['approval', 'disapproval']),
      ...unknownIn(defaults, ['approval_defaults'], ['options']),
    ],
    approval,
    disapproval: isMapping(disapproval)
      ? { value: disapproval, place: ['policy', 'disapproval'] }
      : undefined,
  };

  function readRules(): Map<string, PolicyRule> {
    const found = new Map<string, PolicyRule>();
    const list = isMapping(value) ? (value.approval_rules ?? []) : [];
    if (!Array.isArray(list)) {
      fail(['approval_rules'], '"approval_rules" is a list');
      return found;
    }
    if (list.length > MAX_RULES) fail(['approval_rules'], `there are more than ${MAX_RULES} rules`);
    for (const [index, rule] of list.slice(0, MAX_RULES).entries()) {
      const place = ['approval_rules', index];
      if (!isMapping(rule) || typeof rule.name !== 'string') fail(place, 'a rule is a mapping with a "name"');
      // As in policy-bot, the last rule of a name counts.
      else found.set(rule.name, { name: rule.name, place, value: rule });
    }
    return found;
  }

  function listNode(kind: 'and' | 'or', list: Json, place: Place, depth: number): PolicyNode | undefined {
    if (!Array.isArray(list)) return fail(place, 'this is a list of rules, "and" and "or"');
    if (list.length === 0 && depth > 0) return fail(place, 'an empty list is not allowed');
    const of = list.map((one, index) => node(one, [...place, index], depth + 1));
    return of.every((one) => one !== undefined) ? { kind, of, place } : undefined;
  }

  function node(given: Json, place: Place, depth: number): PolicyNode | undefined {
    nodes += 1;
    if (nodes > MAX_NODES) return fail(place, `the policy has more than ${MAX_NODES} parts`);
    if (depth > MAX_DEPTH) return fail(place, `the policy is nested more than ${MAX_DEPTH} deep`);
    if (typeof given === 'string') {
      const rule = rules.get(given);
      return rule ? { kind: 'rule', rule } : fail(place, `there is no rule "${given}"`);
    }
    const [entry, ...others] = isMapping(given) ? Object.entries(given) : [];
    if (!entry || others.length > 0)
      return fail(place, 'this is the name of a rule, or a mapping with "and" or "or"');
    const [kind, list] = entry;
    if (kind !== 'and' && kind !== 'or') return fail(place, `"${kind}" is neither "and" nor "or"`);
    return listNode(kind, list, [...place, kind], depth);
  }
}

function unknownIn(value: Json, place: Place, known: readonly string[]): { key: string; place: Place }[] {
  return Object.keys(isMapping(value) ? value : {})
    .filter((key) => !known.includes(key))
    .map((key) => ({ key, place: [...place, key] }));
}

/** With merge keys applied, which our own reader of YAML does not: `<<` adds the members of other mappings. */
export function withMergeKeys(value: Json, depth = 0): Json {
  if (depth > 40) return value;
  if (Array.isArray(value)) return value.map((one) => withMergeKeys(one, depth + 1));
  if (!isMapping(value)) return value;
  const merged: Record<string, Json> = {};
  const sources = value['<<'] === undefined ? [] : [value['<<']].flat();
  // The first of several has precedence, and the mapping's own keys before all.
  for (const source of sources.toReversed())
    if (isMapping(source)) Object.assign(merged, withMergeKeys(source, depth + 1));
  for (const [key, member] of Object.entries(value))
    if (key !== '<<') merged[key] = withMergeKeys(member, depth + 1);
  return merged;
}

export function isMapping(value: unknown): value is Readonly<Record<string, Json>> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
