import { formatDiagnostic } from '../../src/core/diagnostic.ts';
import type { Chain } from '../../src/domain/chain/chain.ts';
import type { KnownNames } from '../../src/domain/chain/known-names.ts';
import { parseChain } from '../../src/domain/chain/parse.ts';
import { createRegistry } from '../../src/engine/sessions/registry.ts';

export const KNOWN = {
  skills: ['pr-review', 'ci'],
  actions: [
    'gh-merge',
    'gh-comment',
    'gh-dispatch',
    'gh-issue',
    'gh-label',
    'gh-release',
    'gh-request-reviewers',
    'gh-status',
    'notify',
    'shell',
    'wait',
  ],
  inputOf: createRegistry([]).inputOf,
  outcomes: { 'pr-review': 'review_verdict', ci: 'ci_result' },
} satisfies KnownNames;

/** The errors of a chain file, as an editor lists them. */
export function errorsOf(text: string): string[] {
  return parseChain(text, 'chain.yaml', KNOWN).diagnostics.map(formatDiagnostic);
}

/** A chain that must parse. */
export function chainOf(text: string): Chain {
  const { chain, diagnostics } = parseChain(text, 'chain.yaml', KNOWN);
  if (!chain)
    throw new Error(`the test's own chain has errors:\n${diagnostics.map(formatDiagnostic).join('\n')}`);
  return chain;
}

/** A chain file around the given steps, which start on line 5. */
export function withSteps(steps: string): string {
  return `name: example\ntrigger:\n  event: pr.opened\nsteps:\n${steps}`;
}
