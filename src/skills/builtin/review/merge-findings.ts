import { FAMILY } from '../../../analyzers/findings.ts';
import { type Finding, SEVERITIES } from '../../../domain/outcome/finding.ts';
import { weighedHigher } from '../../../messages/cards/review.ts';
import { worstFirst } from '../../../messages/cards/review-card.ts';

const MAX_DESCRIPTION = 2_000;

/**
 * Puts what a model says together with what the analyzers say. A model's finding is the same as an analyzer's when it is on one of
 * its lines and of the same family of causes: then the analyzer's words and rule stay, and the worse of both severities counts. Two of
 * the model are the same on one line and of one category; of a file as a whole, when they say the same. So a model adds findings
 * or weighs them higher, and takes none away.
 * @returns worst first.
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
    FAMILY[analyzer.category] === FAMILY[category] &&
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

/** Without what differs when the same is said twice: case, white space, marks. */
export function normalised(text: string): string {
  return text
    .toLowerCase()
    .replaceAll(/[^\p{L}\p{N}]+/gu, ' ')
    .trim();
}
