import { type Finding, SEVERITIES } from '../../../domain/outcome/finding.ts';
import { familyOf } from '../../../domain/outcome/fingerprint.ts';
import { weighedHigher } from '../../../messages/cards/review.ts';
import { worstFirst } from '../../../messages/cards/review-card.ts';

const MAX_DESCRIPTION = 2_000;

/**
 * Combines the findings of a model with those of the analyzers. A model's finding equals an analyzer's if it
 * is on one of its lines and in the same family of causes. Then the analyzer's text and rule stay, and the
 * higher severity counts. Two findings of the model are equal on one line and of one category; for a whole
 * file, if their texts are equal. So a model adds findings or raises severities, and removes none.
 * @returns worst first
 */
export function mergeFindings(analyzers: readonly Finding[], model: readonly Finding[]): Finding[] {
  const merged = [...analyzers];
  const added = new Map<string, Finding>();
  for (const finding of worstFirst(model)) {
    const index = merged.findIndex((other) => isSame(other, finding));
    const same = merged[index];
    if (same) merged[index] = isWorse(finding, same) ? raised(same, finding) : same;
    else {
      const key = JSON.stringify([
        finding.file,
        finding.category,
        finding.line ?? normalised(finding.description),
      ]);
      if (!added.has(key)) added.set(key, finding);
    }
  }
  return worstFirst([...merged, ...added.values()]);
}

function isSame(analyzer: Finding, { file, line, category }: Finding): boolean {
  return (
    analyzer.file === file &&
    familyOf(analyzer.category) === familyOf(category) &&
    line !== undefined &&
    analyzer.line !== undefined &&
    analyzer.line <= line &&
    line <= (analyzer.end_line ?? analyzer.line)
  );
}

function isWorse(a: Finding, b: Finding): boolean {
  return SEVERITIES.indexOf(a.severity) < SEVERITIES.indexOf(b.severity);
}

function raised(same: Finding, { severity, description }: Finding): Finding {
  const words = weighedHigher(same.description, severity, description);
  return { ...same, severity, description: words.slice(0, MAX_DESCRIPTION) };
}

/** Removes what differs between equal statements: case, white space, punctuation. */
function normalised(text: string): string {
  return text
    .toLowerCase()
    .replaceAll(/[^\p{L}\p{N}]+/gu, ' ')
    .trim();
}
