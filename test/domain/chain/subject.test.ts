import { describe, expect, test } from 'vitest';
import { formatDiagnostic } from '../../../src/core/diagnostic.ts';
import { chainWarnings, parseChain } from '../../../src/domain/chain/parse.ts';
import { readYaml } from '../../../src/domain/chain/positions.ts';
import { KNOWN } from '../../support/chains.ts';

const known = { ...KNOWN, skills: [...KNOWN.skills, 'of-a-package'] };
const MERGE = 'action: gh-merge, requires_approval: true';
const LABEL = 'action: gh-label, with: { labels: [x] }';

/** Of a chain with this trigger and step. */
function saidOf(trigger: string, step: string): { error?: string; warning?: string } {
  const text = `name: flow\ntrigger: ${trigger}\nsteps:\n  - { ${step} }\n`;
  const [error] = parseChain(text, 'flow.yaml', known).diagnostics.map(formatDiagnostic);
  const [warning] = chainWarnings(readYaml(text, 'flow.yaml'), known).map(formatDiagnostic);
  return { ...(error !== undefined && { error }), ...(warning !== undefined && { warning }) };
}

describe('a step that needs something that its run has not', () => {
  test.each([
    [
      'schedule: every 1h',
      'skill: pr-review',
      'pr-review needs a pull request, and a run of a schedule has none',
    ],
    [
      'schedule: every 1h',
      'skill: of-a-package',
      'of-a-package needs a pull request, and a run of a schedule has none',
    ],
    [
      'event: release.published',
      MERGE,
      'gh-merge needs a pull request, and a run of release.published has none',
    ],
    [
      'event: file.changed',
      LABEL,
      'gh-label needs a pull request or an issue, and a run of file.changed has none',
    ],
    [
      'event: issue.created',
      'skill: ci',
      'ci needs a pull request or a commit, and a run of issue.created has none',
    ],
    [
      'event: issue.created',
      `${LABEL}, requires_approval: true`,
      'the approval of gh-label needs a pull request, and a run of issue.created has none',
    ],
  ])('is an error if no trigger has it: %s with %s', (trigger, step, because) => {
    expect(saidOf(`{ ${trigger} }`, step).error).toMatch(/^flow\.yaml:4:\d+: /);
    expect(saidOf(`{ ${trigger} }`, step).error).toContain(because);
  });

  test('is a warning if only some triggers lack it', () => {
    expect(saidOf('[{ event: pr.opened }, { schedule: every 1h }]', LABEL)).toEqual({
      warning:
        'flow.yaml:4:15: warning: gh-label needs a pull request or an issue, and a run of a schedule has none',
    });
  });

  test.each([
    [
      '[{ event: pr.opened }, { schedule: every 1h }]',
      `${LABEL}, condition: "{{ trigger.pr_number is not none }}"`,
    ],
    ['{ event: manual.fired }', MERGE],
    ['[{ schedule: every 1h }, { event: manual.fired }]', 'skill: ci'],
    ['{ event: issue.created }', LABEL],
    ['{ schedule: every 1h }', 'skill: auto'],
  ])(
    'is nothing to say if a condition can tell, or each trigger may have it: %s with %s',
    (trigger, step) => {
      expect(saidOf(trigger, step)).toEqual({});
    },
  );
});
