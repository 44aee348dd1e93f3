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
import { asText, brokenBecause, memberAt } from './holds.ts';

export interface Asserted {
  /** The number of evaluated assertions, and of those that hold. */
  run: number;
  passed: number;
  /** Soft assertions that fail or could not be judged, as sentences without a full stop. */
  warnings: string[];
  /**
   * The first hard assertion that fails or could not be judged (I5). The ones after it were not evaluated.
   */
  broken: { because: string; retryable: boolean } | undefined;
}

/** Checks a result against the assertions of its package, those without cost first. */
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

/** The first hard assertion that fails, among those that need no model; `undefined` if there is none. */
export function brokenWithoutModel(artifacts: readonly SkillArtifact[], value: Json): string | undefined {
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
    const seen = memberAt(value, assertion.of);
    return seen === undefined
      ? { kind: 'broken', because: NO_SUCH_MEMBER }
      : askWhether(assertion.question, asText(seen), asking);
  }
  const because = brokenBecause(assertion, value);
  return because === undefined ? { kind: 'holds' } : { kind: 'broken', because };
}
