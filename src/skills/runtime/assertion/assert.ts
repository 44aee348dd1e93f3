import type { Json } from '../../../core/canonical.ts';
import { type Assertion, assertionsOf } from '../../../domain/skill/assertion.ts';
import { pathOf } from '../../../domain/skill/place.ts';
import type { SkillArtifact } from '../../../domain/skill/skill.ts';
import {
  assertionBroken,
  assertionName,
  assertionWarning,
  NO_SUCH_MEMBER,
} from '../../../messages/skills/assertion.ts';
import { askWhether, type Judgement, type ModelAsking } from './ask-model.ts';
import { asText, brokenBecause, lookedAt } from './holds.ts';

export interface Asserted {
  /** How many were judged, and how many of them hold. */
  run: number;
  passed: number;
  /** Soft ones that do not hold or that nobody could judge, as sentences without a full stop. */
  warnings: string[];
  /** The first hard one that does not hold, or that nobody could judge (I5): those after it were not looked at. */
  broken: { because: string; retryable: boolean } | undefined;
}

/** Holds what an artifact gave back against what its package asserts of it. Those that cost nothing come first. */
export async function assertAll(
  artifact: SkillArtifact,
  value: Json,
  asking: ModelAsking,
): Promise<Asserted> {
  const all = assertionsOf(artifact).map((assertion, index) => ({ assertion, index }));
  const cheapFirst = all.toSorted((a, b) => cost(a.assertion) - cost(b.assertion));
  const asserted: Asserted = { run: 0, passed: 0, warnings: [], broken: undefined };
  for (const { assertion, index } of cheapFirst) {
    const judgement = await judge(assertion, value, asking);
    if (judgement.kind !== 'unknown') asserted.run += 1;
    if (judgement.kind === 'holds') {
      asserted.passed += 1;
      continue;
    }
    const { because } = judgement;
    const name = assertionName(index, assertion);
    const isKnown = judgement.kind === 'broken';
    if (assertion.on_failure === 'warn') {
      asserted.warnings.push(assertionWarning(pathOf(artifact), name, because, isKnown));
      continue;
    }
    const retryable = isKnown || judgement.retryable;
    asserted.broken = { because: assertionBroken(pathOf(artifact), name, because), retryable };
    break;
  }
  return asserted;
}

/** The first hard assertion that does not hold, of those that nobody has to be asked about; `undefined` when there is none. */
export function brokenWithoutAsking(artifacts: readonly SkillArtifact[], value: Json): string | undefined {
  for (const artifact of artifacts) {
    for (const [index, assertion] of assertionsOf(artifact).entries()) {
      if (assertion.kind === 'semantic' || assertion.on_failure === 'warn') continue;
      const because = brokenBecause(assertion, value);
      if (because !== undefined)
        return assertionBroken(pathOf(artifact), assertionName(index, assertion), because);
    }
  }
  return undefined;
}

function cost({ kind }: Assertion): number {
  return kind === 'semantic' ? 1 : 0;
}

async function judge(assertion: Assertion, value: Json, asking: ModelAsking): Promise<Judgement> {
  if (assertion.kind === 'semantic') {
    const seen = lookedAt(value, assertion.of);
    return seen === undefined
      ? { kind: 'broken', because: NO_SUCH_MEMBER }
      : askWhether(assertion.question, asText(seen), asking);
  }
  const because = brokenBecause(assertion, value);
  return because === undefined ? { kind: 'holds' } : { kind: 'broken', because };
}
