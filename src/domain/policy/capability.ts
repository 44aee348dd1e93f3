import { TRUST_LEVELS, type TrustLevel } from './trust.ts';

/** What a run is about. */
export type Subject = 'pull request' | 'issue' | 'commit';

/** The declaration of a skill or action: what it needs and what it does. */
export interface Capability {
  readonly name: string;
  /** What it can work on; absent if that does not matter to it. */
  readonly worksOn?: readonly Subject[];
  readonly minimumTrust: TrustLevel;
  /** Whether using it changes anything on GitHub or elsewhere. */
  readonly sideEffects: boolean;
  /** `person`: the maintainers are asked before every use, whatever the chain says. */
  readonly confirmation: 'none' | 'person';
  /**
   * Nobody can undo it, so every objection is judged before it happens. Its gates are judged together with
   * the answers to its approval comment. No gate can follow it or degrade its outcome, and a step with it
   * cannot have `expect:`.
   */
  readonly irreversible?: true;
  /**
   * It merges the pull request of its run. Everything that blocks a merge blocks it, and only a reaction
   * countersigns it.
   */
  readonly merges?: true;
}

/** The declarations of the built-in skills. */
const SKILLS = {
  'pr-review': {
    name: 'pr-review',
    worksOn: ['pull request'],
    minimumTrust: 'sandbox',
    sideEffects: false,
    confirmation: 'none',
  },
  'codex-pr-review': {
    name: 'codex-pr-review',
    worksOn: ['pull request'],
    minimumTrust: 'sandbox',
    sideEffects: false,
    confirmation: 'none',
  },
  ci: {
    name: 'ci',
    worksOn: ['pull request', 'commit'],
    minimumTrust: 'sandbox',
    sideEffects: false,
    confirmation: 'none',
  },
  'stale-pull-requests': {
    name: 'stale-pull-requests',
    minimumTrust: 'sandbox',
    sideEffects: false,
    confirmation: 'none',
  },
} as const satisfies Readonly<Record<string, Capability>>;

/** An irreversible action that does not ask people first does not compile. */
type AsksPeople = { confirmation: 'person' };

/**
 * The declarations of the actions. A new action needs an entry here and a handler in `engine/actions`. All
 * other code asks `actionOf` what the action does, and never compares names.
 *
 * A label needs no more trust than a comment. A label can trigger other automation, and `standard` would keep
 * that from outsiders' pull requests. But the base branch says which labels a chain sets, and most chains
 * with a label use it for pull requests of newcomers. A chain that wants more sets `requires_approval: true`
 * on the step.
 */
const ACTIONS = {
  // Its steps need what they need, and are asked about one by one.
  chain: { name: 'chain', minimumTrust: 'sandbox', sideEffects: false, confirmation: 'none' },
  'gh-assign': {
    name: 'gh-assign',
    worksOn: ['pull request', 'issue'],
    minimumTrust: 'sandbox',
    sideEffects: true,
    confirmation: 'none',
  },
  // Whose change it was does not matter any more: it is merged.
  'gh-backport': {
    name: 'gh-backport',
    worksOn: ['pull request'],
    minimumTrust: 'sandbox',
    sideEffects: true,
    confirmation: 'none',
  },
  'gh-close': {
    name: 'gh-close',
    worksOn: ['pull request', 'issue'],
    minimumTrust: 'sandbox',
    sideEffects: true,
    confirmation: 'none',
  },
  'gh-comment': {
    name: 'gh-comment',
    worksOn: ['pull request', 'issue'],
    minimumTrust: 'sandbox',
    sideEffects: true,
    confirmation: 'none',
  },
  // A workflow runs with the repository's secrets.
  'gh-dispatch': { name: 'gh-dispatch', minimumTrust: 'standard', sideEffects: true, confirmation: 'none' },
  // It writes outside of the run's subject, so an outsider's pull request must not fill the list of issues.
  'gh-issue': { name: 'gh-issue', minimumTrust: 'standard', sideEffects: true, confirmation: 'none' },
  'gh-label': {
    name: 'gh-label',
    worksOn: ['pull request', 'issue'],
    minimumTrust: 'sandbox',
    sideEffects: true,
    confirmation: 'none',
  },
  'gh-merge': {
    name: 'gh-merge',
    worksOn: ['pull request'],
    minimumTrust: 'privileged',
    sideEffects: true,
    confirmation: 'person',
    irreversible: true,
    merges: true,
  },
  'gh-milestone': {
    name: 'gh-milestone',
    worksOn: ['pull request', 'issue'],
    minimumTrust: 'sandbox',
    sideEffects: true,
    confirmation: 'none',
  },
  // Watchers are notified, and packages are often published, so it is not for outsiders' pull requests. Most releases
  // follow a merge or a schedule, where nobody can be asked any more.
  'gh-release': { name: 'gh-release', minimumTrust: 'standard', sideEffects: true, confirmation: 'none' },
  'gh-request-reviewers': {
    name: 'gh-request-reviewers',
    worksOn: ['pull request'],
    minimumTrust: 'sandbox',
    sideEffects: true,
    confirmation: 'none',
  },
  'gh-review': {
    name: 'gh-review',
    worksOn: ['pull request'],
    minimumTrust: 'sandbox',
    sideEffects: true,
    confirmation: 'none',
  },
  'gh-status': { name: 'gh-status', minimumTrust: 'sandbox', sideEffects: true, confirmation: 'none' },
  // A push by this app can start workflows that a push by an outsider would not start without a maintainer.
  'gh-update-branch': {
    name: 'gh-update-branch',
    worksOn: ['pull request'],
    minimumTrust: 'standard',
    sideEffects: true,
    confirmation: 'none',
  },
  notify: { name: 'notify', minimumTrust: 'sandbox', sideEffects: true, confirmation: 'none' },
  // As an agent: code of the head runs, and only the sandbox holds it.
  shell: {
    name: 'shell',
    worksOn: ['pull request', 'commit'],
    minimumTrust: 'elevated',
    sideEffects: false,
    confirmation: 'none',
  },
  wait: { name: 'wait', minimumTrust: 'sandbox', sideEffects: false, confirmation: 'none' },
} as const satisfies Readonly<Record<string, Capability & (AsksPeople | { irreversible?: never })>>;

export type ActionName = keyof typeof ACTIONS;

/** Each handler declares its own entry. A handler without one does not compile. */
export const CAPABILITIES = { ...SKILLS, ...ACTIONS };

/** The declaration of an action; `undefined` if there is no action of that name. */
export function actionNamed(name: string | undefined): Capability | undefined {
  return name !== undefined && Object.hasOwn(ACTIONS, name) ? ACTIONS[name as ActionName] : undefined;
}

/** The declaration of a built-in skill; `undefined` for a package. */
export function skillNamed(name: string | undefined): Capability | undefined {
  return name !== undefined && Object.hasOwn(SKILLS, name) ? SKILLS[name as keyof typeof SKILLS] : undefined;
}

/** The declaration of a step's action; `undefined` if the step uses a skill, which is never irreversible. */
export function actionOf({ kind, name }: { kind: 'skill' | 'action'; name: string }): Capability | undefined {
  return kind === 'action' ? actionNamed(name) : undefined;
}

/** Whether the step runs another chain. */
export function runsChain(step: { uses: { kind: 'skill' | 'action'; name: string } } | undefined): boolean {
  return step?.uses.kind === 'action' && step.uses.name === ACTIONS.chain.name;
}

/** Why no gate and no expectation can follow an irreversible action, as a clause. */
export function byThen({ merges }: Capability): string {
  return merges ? 'by then it is merged' : 'by then it is done';
}

type Needs = Pick<Capability, 'minimumTrust' | 'sideEffects' | 'confirmation'>;

const READS_ONLY = {
  minimumTrust: 'sandbox',
  sideEffects: false,
  confirmation: 'none',
} as const satisfies Needs;

/**
 * The needs of each kind of file in a skill package, whatever the package declares. Prompts, code and modules
 * process untrusted text and run in a sandbox. An agent runs commands.
 */
export const KIND_CAPABILITIES = {
  prompt_template: READS_ONLY,
  code_template: READS_ONLY,
  dspy_module: READS_ONLY,
  analyzer: READS_ONLY,
  agent: { ...READS_ONLY, minimumTrust: 'elevated' },
} as const satisfies Readonly<Record<string, Needs>>;

/**
 * The needs of the functions that a package's program can call. A program may call any of them, so the kind
 * `code_template` needs the maximum of all. Adding a function that writes therefore raises the level for
 * every program.
 */
export const HOST_CAPABILITIES = {
  search: READS_ONLY,
  get_file: READS_ONLY,
  get_files: READS_ONLY,
  get_diff: READS_ONLY,
  get_history: READS_ONLY,
  // Asking costs money. The model's budgets limit that, for members too.
  llm_query: READS_ONLY,
  llm_query_batched: READS_ONLY,
  checkpoint: READS_ONLY,
  get_ci_files: READS_ONLY,
  render_prompt: READS_ONLY,
  // The step requires the trust of every skill that it can run.
  run_skill: READS_ONLY,
  // It writes to the session's own folder, within limits, and nothing of it goes to GitHub.
  write_artifact: READS_ONLY,
} as const satisfies Readonly<Record<string, Needs>>;

/** The highest of the levels; `sandbox` if there are none. */
export function highestOf(levels: readonly TrustLevel[]): TrustLevel {
  const ranks = levels.map((level) => TRUST_LEVELS.indexOf(level));
  return TRUST_LEVELS[Math.max(0, ...ranks)] ?? 'privileged';
}
