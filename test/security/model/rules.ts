/**
 * What a repository asks of a merge, in the oracle's own words. The files that say the same to the app are written
 * from it, so that the oracle never has to read one.
 */
export interface Rules {
  /** The least role that may countersign; `nobody`: only those named, who need write access. */
  least: 'admin' | 'maintain' | 'nobody';
  named: readonly string[];
  count: number;
  approve: readonly string[];
  reject: readonly string[];
  /** What CI must say: nothing at all, nothing red or unfinished, or the check `test` with success among nothing red. */
  ci: 'ignored' | 'not red' | 'test passed';
  /** The settings cannot be read: nothing may be merged by them. */
  broken: boolean;
}

const USUAL: Rules = {
  least: 'maintain',
  named: [],
  count: 1,
  approve: ['rocket', '+1'],
  reject: ['-1'],
  ci: 'not red',
  broken: false,
};

export const RULES = {
  usual: USUAL,
  'no CI': { ...USUAL, ci: 'ignored' },
  'CI required': { ...USUAL, ci: 'test passed' },
  'two of them': { ...USUAL, count: 2 },
  'admins only': { ...USUAL, least: 'admin' },
  'will only': { ...USUAL, least: 'nobody', named: ['will'] },
  hearts: { ...USUAL, approve: ['heart'], reject: ['-1', 'rocket'] },
  broken: { ...USUAL, broken: true },
} as const satisfies Record<string, Rules>;
export type RulesName = keyof typeof RULES;

/** The files of a base branch that say so to the app. */
export function filesOf(rules: Rules): Record<string, string> {
  return {
    '.github/countersign.yml': settings(rules),
    '.github/countersign/chains/pr-review.yaml': chain(rules),
  };
}

function settings({ least, named, count, approve, reject, ci, broken }: Rules): string {
  const list = (words: readonly string[]) => JSON.stringify(words);
  return `countersign:
  permission: ${least === 'nobody' ? 'none' : least}
  users: ${list(named)}
  count: ${broken ? 'none' : count}
  approve: ${list(approve)}
  reject: ${list(reject)}
ci:
  required: ${list(ci === 'test passed' ? ['test'] : [])}
`;
}

/** Under the shipped chain's name, so that this one runs alone; without its review, which takes a process and a second. */
function chain({ ci }: Rules): string {
  const [step, condition] =
    ci === 'ignored' ? ['', ''] : ['  - skill: ci\n', '    condition: "{{ steps[0].outcome.passed }}"\n'];
  return `name: pr-review
trigger: { event: pr.opened, filter: { draft: false } }
steps:
${step}  - action: gh-merge
${condition}    requires_approval: true
`;
}
