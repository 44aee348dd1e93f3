/**
 * What a repository requires of a merge, in the oracle's own terms. The files that say the same to the app are written from it,
 * so that the oracle never has to read one.
 */
export interface Rules {
  /** The lowest role that may countersign; `nobody`: only named people, who need write access. */
  least: 'admin' | 'maintain' | 'nobody';
  named: readonly string[];
  count: number;
  approve: readonly string[];
  reject: readonly string[];
  /** What CI must show: nothing at all, nothing red or unfinished, or the check `test` with success and nothing red. */
  ci: 'ignored' | 'not red' | 'test passed';
  by: 'app' | 'people' | 'queue';
  /** Why nothing may be merged at all; `undefined` if something may. */
  stopped: 'broken settings' | 'a freeze' | 'no chain' | 'merging switched off' | undefined;
}

const USUAL: Rules = {
  least: 'maintain',
  named: [],
  count: 1,
  approve: ['rocket', '+1'],
  reject: ['-1'],
  ci: 'not red',
  by: 'app',
  stopped: undefined,
};

export const RULES = {
  usual: USUAL,
  'no CI': { ...USUAL, ci: 'ignored' },
  'CI required': { ...USUAL, ci: 'test passed' },
  'two of them': { ...USUAL, count: 2 },
  'admins only': { ...USUAL, least: 'admin' },
  'will only': { ...USUAL, least: 'nobody', named: ['will'] },
  hearts: { ...USUAL, approve: ['heart'], reject: ['-1', 'rocket'] },
  people: { ...USUAL, by: 'people' },
  'people without CI': { ...USUAL, by: 'people', ci: 'ignored' },
  'two, then people': { ...USUAL, by: 'people', count: 2 },
  queue: { ...USUAL, by: 'queue' },
  broken: { ...USUAL, stopped: 'broken settings' },
  frozen: { ...USUAL, by: 'people', stopped: 'a freeze' },
  'no chain': { ...USUAL, by: 'people', stopped: 'no chain' },
  'switched off': { ...USUAL, by: 'people', stopped: 'merging switched off' },
} as const satisfies Record<string, Rules>;
export type RulesName = keyof typeof RULES;

/** The files of a base branch that say so to the app. */
export function filesOf(rules: Rules): Record<string, string> {
  return {
    '.github/countersign.yml': settings(rules),
    '.github/countersign/chains/pr-review.yaml': chain(rules),
  };
}

/** What somebody writes on a branch of their own, where only the default branch governs. */
export const LAX_FILES: Record<string, string> = {
  '.github/countersign.yml':
    'countersign: { permission: write, approve: [heart, rocket, "+1", "-1"], reject: [] }\n',
  '.github/countersign/chains/pr-review.yaml':
    'name: pr-review\ntrigger: { event: pr.opened }\nsteps:\n  - action: gh-merge\n    requires_approval: true\n',
};

function settings({ least, named, count, approve, reject, ci, by, stopped }: Rules): string {
  const list = (words: readonly string[]) => JSON.stringify(words);
  return `${stopped === 'no chain' ? 'chains: []\n' : ''}countersign:
  permission: ${least === 'nobody' ? 'none' : least}
  users: ${list(named)}
  count: ${stopped === 'broken settings' ? 'none' : count}
  approve: ${list(approve)}
  reject: ${list(reject)}
ci:
  required: ${list(ci === 'test passed' ? ['test'] : [])}
merge: { by: ${by} }
merging: ${stopped === 'merging switched off' ? 'off' : 'on'}
`;
}

/** Under the shipped chain's name, so that only this one runs; without its review, which takes a process and a second. */
function chain({ ci, stopped }: Rules): string {
  const [step, condition] =
    ci === 'ignored' ? ['', ''] : ['  - skill: ci\n', '    condition: "{{ steps[0].outcome.passed }}"\n'];
  return `name: pr-review
trigger: { event: pr.opened, filter: { draft: false } }
steps:
${step}  - action: gh-merge
${condition}    requires_approval: true
${stopped === 'a freeze' ? FREEZE : ''}`;
}

/** Every play is in the first week of March 2026. */
const FREEZE = `    gates:
      pre:
        - id: freeze
          criteria: [{ id: week, freeze: { from: 2026-03-01, until: 2026-03-08, reason: A release is out } }]
`;
