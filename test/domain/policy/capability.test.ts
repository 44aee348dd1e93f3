// @module-tag security

import { readFileSync } from 'node:fs';
import { describe, expect, test } from 'vitest';
import { formatDiagnostic } from '../../../src/core/diagnostic.ts';
import { parseChain } from '../../../src/domain/chain/parse.ts';
import {
  actionOf,
  CAPABILITIES,
  type Capability,
  HOST_CAPABILITIES,
  highestOf,
  KIND_CAPABILITIES,
} from '../../../src/domain/policy/capability.ts';
import { isTrusted, TRUST_LEVELS } from '../../../src/domain/policy/trust.ts';
import { ARTIFACT_KINDS } from '../../../src/domain/skill/skill.ts';
import { createRegistry } from '../../../src/engine/sessions/registry.ts';
import { SHIPPED_SKILLS } from '../../../src/skills/builtin/shipped.ts';
import { HOST_FUNCTIONS } from '../../../src/skills/kinds/code/protocol.ts';
import { chainOfSteps } from '../../support/builders.ts';
import { errorsOf } from '../../support/chains.ts';

const registry = createRegistry(SHIPPED_SKILLS);

function useOf(text: string) {
  const [step] = chainOfSteps(text).steps;
  if (!step) throw new Error('a chain has at least one step');
  return registry.useOf(step);
}

test.each<[string, Capability]>([
  [
    'skill: pr-review',
    {
      name: 'pr-review',
      worksOn: ['pull request'],
      minimumTrust: 'sandbox',
      sideEffects: false,
      confirmation: 'none',
    },
  ],
  [
    'skill: ci',
    {
      name: 'ci',
      worksOn: ['pull request', 'commit'],
      minimumTrust: 'sandbox',
      sideEffects: false,
      confirmation: 'none',
    },
  ],
  [
    'action: gh-comment',
    {
      name: 'gh-comment',
      worksOn: ['pull request', 'issue'],
      minimumTrust: 'sandbox',
      sideEffects: true,
      confirmation: 'none',
    },
  ],
  [
    'action: gh-label',
    {
      name: 'gh-label',
      worksOn: ['pull request', 'issue'],
      minimumTrust: 'sandbox',
      sideEffects: true,
      confirmation: 'none',
    },
  ],
  [
    'action: gh-merge, requires_approval: true',
    {
      name: 'gh-merge',
      worksOn: ['pull request'],
      minimumTrust: 'privileged',
      sideEffects: true,
      confirmation: 'person',
      irreversible: true,
      merges: true,
    },
  ],
])('%s needs what the table of capabilities says', (step, capability) => {
  expect(useOf(`id: a, ${step}`).capability).toEqual(capability);
});

test('the table has an entry for every skill and action that ships, and no other', () => {
  expect(Object.keys(CAPABILITIES).sort()).toEqual([...registry.skills, ...registry.actions].sort());
  for (const [name, capability] of Object.entries(CAPABILITIES)) expect(capability.name).toBe(name);
});

test.each([
  ['id: a, skill: ci', false],
  ['id: a, skill: ci, requires_approval: true', true],
  ['id: a, action: gh-merge, requires_approval: true', true],
])('%s needs an approval first: %s', (step, asks) => {
  expect(useOf(step).needsApproval).toBe(asks);
});

test('a merge needs an approval even if its stored step says otherwise', () => {
  const [step] = chainOfSteps('id: a, action: gh-merge, requires_approval: true').steps;
  expect(step && registry.useOf({ ...step, requiresApproval: false })?.needsApproval).toBe(true);
});

const declared: readonly Capability[] = Object.values(CAPABILITIES);

describe.each(declared.filter(({ irreversible }) => irreversible))(
  'the irreversible action $name',
  ({ name }) => {
    const faultsWith = (more: string, settled = 'requires_approval: true') =>
      parseChain(
        `name: example\ntrigger: { event: pr.opened }\nsteps:\n  - { id: a, action: ${name}, ${settled}${more} }\n`,
        'chain.yaml',
        registry,
      ).diagnostics.map(formatDiagnostic);
    const gate = '[{ id: g, criteria: [{ id: c, if: "true" }] }]';

    test('is allowed in a chain that requires an approval', () => {
      expect(faultsWith('')).toEqual([]);
      expect(faultsWith(`, gates: { pre: ${gate} }`)).toEqual([]);
    });

    test.each([
      ['without asking', faultsWith('', 'requires_approval: false'), 'always needs requires_approval: true'],
      ['with a gate after it', faultsWith(`, gates: { post: ${gate} }`), 'cannot have gates after it'],
      [
        'with a gate that degrades it',
        faultsWith(`, gates: { pre: ${gate.replace('id: g,', 'id: g, on_failure: degrade,')} }`),
        'cannot be degraded',
      ],
      [
        'with an expectation of its outcome',
        faultsWith(', expect: [{ rule_id: r, check: required, field: summary }]'),
        'cannot have "expect"',
      ],
    ])('is not allowed in a chain %s', (_, faults, because) => {
      expect(faults.filter((fault) => fault.includes(`${name} ${because}`))).toHaveLength(1);
    });
  },
);

test('a skill is never irreversible, whatever its name', () => {
  expect(actionOf({ kind: 'skill', name: 'gh-merge' })).toBeUndefined();
  expect(actionOf({ kind: 'action', name: 'gh-merge' })?.irreversible).toBe(true);
});

test('every function that a program can call has a capability', () => {
  expect(Object.keys(HOST_CAPABILITIES).sort()).toEqual(Object.keys(HOST_FUNCTIONS).sort());
});

test('every kind of artifact that a step can run has a capability', () => {
  expect(['description', ...Object.keys(KIND_CAPABILITIES)].sort()).toEqual([...ARTIFACT_KINDS].sort());
});

test('a program needs at least the trust of each function that it can call', () => {
  const levels = Object.values(HOST_CAPABILITIES).map(({ minimumTrust }) => minimumTrust);
  expect(isTrusted(KIND_CAPABILITIES.code_template.minimumTrust, highestOf(levels))).toBe(true);
});

test.each([
  [[], 'sandbox'],
  [['standard'], 'standard'],
  [['elevated', 'sandbox'], 'elevated'],
  [['sandbox', 'privileged', 'standard'], 'privileged'],
] as const)('the highest of %j is %s', (levels, highest) => {
  expect(highestOf(levels)).toBe(highest);
});

const page = readFileSync(new URL('../../../docs/policy.md', import.meta.url), 'utf8');
/** The cells of the table's row that begins with this word. */
const cells = (word: string) =>
  new RegExp(`^\\| \`${word}\` \\|(.*)\\|$`, 'm')
    .exec(page)?.[1]
    ?.split('|')
    .map((cell) => cell.trim());

describe('docs/policy.md', () => {
  test.each(Object.values(CAPABILITIES))(
    'says what $name needs',
    ({ name, minimumTrust, sideEffects, confirmation }) => {
      const asked = confirmation === 'person' ? 'a person, always' : 'none';
      expect(cells(name)).toEqual([`\`${minimumTrust}\``, sideEffects ? 'yes' : 'no', asked]);
    },
  );

  test.each(Object.entries({ ...KIND_CAPABILITIES, ...HOST_CAPABILITIES }))(
    'says what packages with a file of a kind, and functions of programs, need: %s',
    (name, { minimumTrust, sideEffects, confirmation }) => {
      expect(cells(name)).toEqual([`\`${minimumTrust}\``, sideEffects ? 'yes' : 'no', confirmation]);
    },
  );

  test.each(TRUST_LEVELS)('says which runs have %s', (level) => {
    expect(cells(level)).toHaveLength(1);
  });

  test('has a chain that parses', () => {
    const [, text = ''] = /^```yaml chain\n([\s\S]*?)^```$/m.exec(page) ?? [];
    expect(errorsOf(text)).toEqual([]);
  });
});
