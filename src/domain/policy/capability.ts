import { TRUST_LEVELS, type TrustLevel } from './trust.ts';

/** Something a step can do, and what it takes. */
export interface Capability {
  readonly name: string;
  readonly minimumTrust: TrustLevel;
  /** Whether using it changes anything on GitHub. */
  readonly sideEffects: boolean;
  /** `person`: the maintainers are asked before every use, whether the chain says so or not. */
  readonly confirmation: 'none' | 'person';
}

/**
 * The one table of what the shipped skills and actions need; each of them declares its own entry, and a handler without one does
 * not compile.
 *
 * Labels take no more than comments do. A label can set other automation off, and `standard` would keep that from outsiders'
 * pull requests; but which labels there are to set is written on the base branch, and labelling newcomers' pull requests is
 * what most chains with a label are for. Whoever wants it otherwise puts `requires_approval: true` on the step.
 */
export const CAPABILITIES = {
  'pr-review': { name: 'pr-review', minimumTrust: 'sandbox', sideEffects: false, confirmation: 'none' },
  ci: { name: 'ci', minimumTrust: 'sandbox', sideEffects: false, confirmation: 'none' },
  'gh-comment': { name: 'gh-comment', minimumTrust: 'sandbox', sideEffects: true, confirmation: 'none' },
  'gh-label': { name: 'gh-label', minimumTrust: 'sandbox', sideEffects: true, confirmation: 'none' },
  'gh-merge': { name: 'gh-merge', minimumTrust: 'privileged', sideEffects: true, confirmation: 'person' },
} as const satisfies Readonly<Record<string, Capability>>;

type Needs = Omit<Capability, 'name'>;

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
