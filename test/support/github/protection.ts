import type { State } from './state.ts';
import type { MergeQueueRule, Protection, RequiredCheck, Requirements, Restriction, Role } from './world.ts';

/** A required check; `app` is the slug of the only app whose check counts, any by default. */
export type CheckInput = string | { context: string; app?: string };

interface RequirementsInput {
  checks?: readonly CheckInput[];
  /** The head must contain everything of the base. */
  strict?: boolean;
  /** How many approving reviews are required; none by default. */
  approvals?: number;
  /** "Require conversation resolution before merging"; off by default. */
  conversations?: boolean;
}

interface ProtectionInput extends RequirementsInput {
  /** "Do not allow bypassing the above settings"; off by default, as on GitHub. */
  enforceAdmins?: boolean;
}

interface RulesetInput extends RequirementsInput {
  /** Names of branches, in which `*` matches any text; `~DEFAULT_BRANCH` by default. */
  branches?: readonly string[];
  /** Roles that may bypass it; none by default, as on GitHub. */
  bypass?: readonly Role[];
  /** "Restrict creations" and the like; nothing by default. */
  restrict?: readonly Restriction[];
  /** Every merge goes through a merge queue; omitted settings are GitHub's defaults. */
  mergeQueue?: Partial<MergeQueueRule>;
}

/** How people who administer a repository protect its branches. GitHub sends the app no webhook for it. */
export interface ProtectionDesk {
  /** Checks that must be green before a merge into the branch; the rest of its protection stays unchanged. */
  requireChecks(repo: string, branch: string, checks: readonly CheckInput[]): void;
  /** Sets the branch's protection, or with `undefined` removes it. */
  protectBranch(repo: string, branch: string, protection: ProtectionInput | undefined): void;
  /** Adds a ruleset, the newer way to protect branches. @returns its id. */
  addRuleset(repo: string, ruleset: RulesetInput): number;
  removeRuleset(repo: string, id: number): void;
  /** "Allow auto-merge", which is off in a new repository. */
  allowAutoMerge(repo: string): void;
}

const UNGUARDED: Protection = {
  checks: [],
  strict: false,
  approvals: 0,
  conversations: false,
  enforceAdmins: false,
};

/**
 * https://docs.github.com/en/repositories/configuring-branches-and-merges-in-your-repository/configuring-pull-request-merges/managing-a-merge-queue
 */
const USUAL_QUEUE: MergeQueueRule = {
  method: 'merge',
  checkResponseTimeoutMinutes: 60,
  maxEntriesToBuild: 5,
  groupingStrategy: 'ALLGREEN',
};

export function createProtectionDesk(state: State): ProtectionDesk {
  return {
    requireChecks(repo, branch, checks) {
      const { protections } = state.repository(repo);
      protections.set(branch, {
        ...UNGUARDED,
        ...protections.get(branch),
        checks: checksOf(state, checks),
      });
    },
    protectBranch(repo, branch, input) {
      const { protections } = state.repository(repo);
      if (!input) protections.delete(branch);
      else
        protections.set(branch, {
          ...requirementsOf(state, input),
          enforceAdmins: input.enforceAdmins ?? false,
        });
    },
    addRuleset(repo, input) {
      const id = state.nextId('ruleset');
      state.repository(repo).rulesets.push({
        id,
        name: `Ruleset ${id}`,
        branches: input.branches ?? ['~DEFAULT_BRANCH'],
        bypass: input.bypass ?? [],
        restrict: input.restrict ?? [],
        mergeQueue: input.mergeQueue && { ...USUAL_QUEUE, ...input.mergeQueue },
        ...requirementsOf(state, input),
      });
      return id;
    },
    removeRuleset(repo, id) {
      const { rulesets } = state.repository(repo);
      const index = rulesets.findIndex((ruleset) => ruleset.id === id);
      if (index < 0) throw new Error(`${repo} has no ruleset ${id}.`);
      rulesets.splice(index, 1);
    },
    allowAutoMerge(repo) {
      state.repository(repo).autoMergeAllowed = true;
    },
  };
}

function requirementsOf(state: State, input: RequirementsInput): Requirements {
  return {
    checks: checksOf(state, input.checks ?? []),
    strict: input.strict ?? false,
    approvals: input.approvals ?? 0,
    conversations: input.conversations ?? false,
  };
}

function checksOf(state: State, checks: readonly CheckInput[]): RequiredCheck[] {
  return checks.map((check) => {
    if (typeof check === 'string') return { context: check, appId: null };
    return { context: check.context, appId: check.app === undefined ? null : state.addApp(check.app).id };
  });
}
