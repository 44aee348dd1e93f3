/*
 * What policy-bot decides, by its own documentation and source (https://github.com/palantir/policy-bot). It shares nothing
 * with the code that it tests.
 */

export interface PullRequest {
  files: readonly { name: string; previous?: string }[];
  labels: readonly string[];
  author: string;
  base: string;
  head: string;
  /** The owner of the fork, if it is from one. */
  fork: string | undefined;
  repository: string;
  title: string;
  additions: number;
  deletions: number;
  signed: boolean;
  checks: Readonly<Record<string, string>>;
  /** Who wrote commits, beside the author. */
  contributors: readonly string[];
}

export interface World {
  teams: Readonly<Record<string, readonly string[]>>;
  organizations: Readonly<Record<string, readonly string[]>>;
  permissions: Readonly<Record<string, string>>;
}

type Mapping = Record<string, unknown>;
type Status = 'approved' | 'pending' | 'skipped';

const RANKS = ['none', 'read', 'triage', 'write', 'maintain', 'admin'];

export function policyBot(
  policy: Mapping,
  pull: PullRequest,
  world: World,
  approvers: readonly string[],
): 'approved' | 'disapproved' | 'pending' {
  const { approval = [], disapproval } = (policy.policy ?? {}) as {
    approval?: unknown[];
    disapproval?: Mapping;
  };
  const rules = new Map((policy.approval_rules as Mapping[]).map((rule) => [rule.name, rule]));
  const conditions = Object.entries((disapproval?.if ?? {}) as Mapping);
  if (conditions.some(([key, value]) => predicate(key, value, pull, world))) return 'disapproved';
  if (approval.length === 0) return 'approved';
  return node({ and: approval }) === 'approved' ? 'approved' : 'pending';

  function node(given: unknown): Status {
    if (typeof given === 'string') return rule(rules.get(given) ?? {});
    const [[kind, list] = ['', []]] = Object.entries(given as Record<string, unknown[]>);
    const found = list.map(node).filter((status) => status !== 'skipped');
    if (found.length === 0) return 'skipped';
    const isApproved = (status: Status) => status === 'approved';
    return (kind === 'or' ? found.some(isApproved) : found.every(isApproved)) ? 'approved' : 'pending';
  }

  function rule({ if: when, requires = {} }: Mapping): Status {
    const holds = (conditions: unknown) =>
      Object.entries((conditions ?? {}) as Mapping).every(([key, value]) =>
        predicate(key, value, pull, world),
      );
    if (!holds(when)) return 'skipped';
    const { count = 0, conditions, ...people } = requires as { count?: number; conditions?: Mapping };
    const banned = new Set([pull.author, ...pull.contributors]);
    const counted = approvers.filter((login) => !banned.has(login) && isActor(people, login, world));
    return holds(conditions) && (count <= 0 || counted.length >= count) ? 'approved' : 'pending';
  }
}

export function isActor(people: Mapping, login: string, world: World): boolean {
  const list = (key: string) => (people[key] ?? []) as string[];
  const rank = RANKS.indexOf(world.permissions[login] ?? 'none');
  return (
    list('users').includes(login) ||
    list('teams').some((team) => world.teams[team]?.includes(login)) ||
    list('organizations').some((one) => world.organizations[one]?.includes(login)) ||
    (rank > 0 && list('permissions').some((one) => rank >= RANKS.indexOf(one)))
  );
}

function predicate(key: string, value: unknown, pull: PullRequest, world: World): boolean {
  const mapping = value as Record<string, string[] | undefined> & { pattern?: string };
  const names = pull.files.map(({ name }) => name);
  const matches = (patterns: readonly string[] | undefined, text: string) =>
    (patterns ?? []).some((pattern) => matched(pattern, text));
  const changed = () => names.some((name) => !matches(mapping.ignore, name) && matches(mapping.paths, name));
  switch (key) {
    case 'changed_files':
      return changed();
    case 'no_changed_files':
      return !changed();
    case 'only_changed_files':
      return names.length > 0 && names.every((name) => matches(mapping.paths, name));
    case 'targets_branch':
      return matched(mapping.pattern ?? '', pull.base);
    case 'from_branch':
      return matched(
        mapping.pattern ?? '',
        pull.fork === undefined ? pull.head : `${pull.fork}:${pull.head}`,
      );
    case 'has_labels': {
      const labels = pull.labels.map((label) => label.toLowerCase());
      return (value as string[]).every((label) => labels.includes(label.toLowerCase()));
    }
    case 'has_author_in':
      return isActor(value as Mapping, pull.author, world);
    case 'has_contributor_in':
      return [pull.author, ...pull.contributors].some((one) => isActor(value as Mapping, one, world));
    case 'has_valid_signatures':
      return pull.signed === value;
    case 'modified_lines': {
      const counts: Record<string, number> = {
        additions: pull.additions,
        deletions: pull.deletions,
        total: pull.additions + pull.deletions,
      };
      return Object.entries(value as Record<string, string>).some(([of, text]) => {
        const [, operator, number] = /^([<>=]) *(\d+)$/.exec(text) ?? [];
        const count = counts[of] ?? 0;
        if (operator === '<') return count < Number(number);
        return operator === '>' ? count > Number(number) : count === Number(number);
      });
    }
    case 'has_status': {
      const { conclusions = ['success'], statuses = [] } = mapping;
      return statuses.every((name) => conclusions.includes(pull.checks[name] ?? ''));
    }
    case 'has_successful_status':
      return (value as string[]).every((name) => pull.checks[name] === 'success');
    case 'title':
    case 'repository': {
      const text = key === 'title' ? pull.title : pull.repository;
      const { not_matches: others = [] } = mapping;
      return matches(mapping.matches, text) || (others.length > 0 && !matches(others, text));
    }
    default:
      throw new Error(`the reference does not know ${key}`);
  }
}

/** RE2's patterns that are used here mean the same in JavaScript, but for a flag at the beginning. */
function matched(pattern: string, text: string): boolean {
  const [, flag = '', rest = ''] = /^(?:\(\?(i)\))?(.*)$/s.exec(pattern) ?? [];
  return new RegExp(rest, `${flag}u`).test(text);
}
