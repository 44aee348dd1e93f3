import { TRUST_LEVELS, type TrustLevel } from './trust.ts';

/** What a skill or an action declares of itself: what it needs, and what kind of thing it does. */
export interface Capability {
  readonly name: string;
  readonly minimumTrust: TrustLevel;
  /** Whether using it changes anything on GitHub. */
  readonly sideEffects: boolean;
  /** `person`: the maintainers are asked before every use, whether the chain says so or not. */
  readonly confirmation: 'none' | 'person';
  /**
   * Nobody can undo it, so everything that could speak against it is judged before it happens. Its gates are judged together
   * with the answers to its question. No gate can follow it or degrade its outcome, and no step can `expect:` anything of that.
   */
  readonly irreversible?: true;
  /** It merges the pull request of its run: whatever holds up a merge holds it up, and only a reaction countersigns it. */
  readonly merges?: true;
}

/** What the skills that are built in declare. */
const SKILLS = {
  'pr-review': { name: 'pr-review', minimumTrust: 'sandbox', sideEffects: false, confirmation: 'none' },
  ci: { name: 'ci', minimumTrust: 'sandbox', sideEffects: false, confirmation: 'none' },
} as const satisfies Readonly<Record<string, Capability>>;

/** Nothing irreversible compiles that does not ask people first. */
type AsksPeople = { confirmation: 'person' };

/**
 * What the actions declare. A new action needs an entry here and a handler in `engine/actions`; everything else asks `actionOf`
 * what the action does, and never compares names.
 *
 * Labels take no more than comments do. A label can set other automation off, and `standard` would keep that from outsiders'
 * pull requests; but which labels there are to set is written on the base branch, and labelling newcomers' pull requests is
 * what most chains with a label are for. Whoever wants it otherwise puts `requires_approval: true` on the step.
 */
const ACTIONS = {
  'gh-comment': { name: 'gh-comment', minimumTrust: 'sandbox', sideEffects: true, confirmation: 'none' },
  'gh-label': { name: 'gh-label', minimumTrust: 'sandbox', sideEffects: true, confirmation: 'none' },
  'gh-merge': {
    name: 'gh-merge',
    minimumTrust: 'privileged',
    sideEffects: true,
    confirmation: 'person',
    irreversible: true,
    merges: true,
  },
} as const satisfies Readonly<Record<string, Capability & (AsksPeople | { irreversible?: never })>>;

export type ActionName = keyof typeof ACTIONS;

/** Each handler declares its own entry, and a handler without one does not compile. */
export const CAPABILITIES = { ...SKILLS, ...ACTIONS };

/** What the action of that name declares; `undefined` when there is no such action. */
export function actionNamed(name: string | undefined): Capability | undefined {
  return name !== undefined && Object.hasOwn(ACTIONS, name) ? ACTIONS[name as ActionName] : undefined;
}

/** What the action declares that a step names; `undefined` when the step names a skill, which is never irreversible. */
export function actionOf({ kind, name }: { kind: 'skill' | 'action'; name: string }): Capability | undefined {
  return kind === 'action' ? actionNamed(name) : undefined;
}

/** Why no gate and no expectation can follow an irreversible action, in words. */
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
 * What the kinds of a skill package's artifacts need, whatever the package says of itself. Prompts, code and modules work on what
 * strangers wrote, and run where they reach nothing; an agent runs commands.
 */
export const KIND_CAPABILITIES = {
  prompt_template: READS_ONLY,
  code_template: READS_ONLY,
  dspy_module: READS_ONLY,
  analyzer: READS_ONLY,
  agent: { ...READS_ONLY, minimumTrust: 'elevated' },
} as const satisfies Readonly<Record<string, Needs>>;

/**
 * What the functions need that a package's program can call. A program may call any of them, so the kind `code_template` never
 * needs less than the most of these: whoever adds one that writes raises it for all.
 */
export const HOST_CAPABILITIES = {
  search: READS_ONLY,
  get_file: READS_ONLY,
  get_files: READS_ONLY,
  get_diff: READS_ONLY,
  get_history: READS_ONLY,
  // Asking costs money: that is what the model's budgets are for, which hold for members too.
  llm_query: READS_ONLY,
  llm_query_batched: READS_ONLY,
  checkpoint: READS_ONLY,
} as const satisfies Readonly<Record<string, Needs>>;

/** The level that fulfils all of them; `sandbox` when there are none. */
export function highestOf(levels: readonly TrustLevel[]): TrustLevel {
  const ranks = levels.map((level) => TRUST_LEVELS.indexOf(level));
  return TRUST_LEVELS[Math.max(0, ...ranks)] ?? 'privileged';
}
