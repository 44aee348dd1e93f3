import { z } from 'zod';
import { shown } from '../../../../analyzers/mask.ts';
import { placeInWords, SEVERITIES, type Severity } from '../../../../domain/outcome/finding.ts';
import type { RememberedFinding } from '../../../../domain/outcome/model-memory.ts';
import type { Purpose } from '../../../../ports/model.ts';
import { tokensOf } from './budget.ts';
import { shippedPrompt } from './prompt.ts';
import type { Ask, ShownPiece } from './questions.ts';

/** What a second question made of a model's findings. */
export interface Checked {
  /** Those that hold, and those that were not checked, in the given order. */
  said: RememberedFinding[];
  refuted: Refuted[];
  /** Why the second question has no answer. Then all findings stand. */
  failure: string | undefined;
  log: string;
}

export interface Refuted {
  finding: RememberedFinding['finding'];
  because: string;
}

/** Low findings and information block nothing, and are not worth another question. */
const CHECKED: ReadonlySet<Severity> = new Set(['critical', 'high', 'medium']);
/** More than that is not read by anybody. */
const MAX_CHECKED = 20;
/** The code beside the findings: as much as one question of the review holds. */
const MAX_TOKENS = 24_000;
const MAX_WORDS = 500;

/** @param findings how many the question lists */
function judgementsSchema(findings: number) {
  return z.strictObject({
    judgements: z
      .array(
        z.strictObject({
          finding: z.int().min(1).max(findings).describe('The number of the finding.'),
          holds: z.boolean(),
          because: z.string().trim().min(1).max(MAX_WORDS).describe('The evidence, in one sentence.'),
        }),
      )
      .max(findings),
  });
}

/**
 * Asks a model to refute what it said about a change, in one further question, before anybody reads it. A finding falls only
 * if the answer says so: one without a judgement, or with two that differ, stands.
 * @param read what the model read, with the text that it was shown
 * @throws the signal's reason if aborted
 */
export async function refute(
  ask: Ask,
  said: readonly RememberedFinding[],
  read: readonly ShownPiece[],
  frame: {
    repository: string;
    baseBranch: string;
    mask: (text: string) => string;
    purpose: Purpose;
    signal: AbortSignal;
  },
): Promise<Checked> {
  const { asked, texts } = chosen(said, read);
  if (asked.length === 0) return { said: [...said], refuted: [], failure: undefined, log: '' };
  const output = await ask(shippedPrompt('refute.md'), {
    trusted: { repository: frame.repository, base_branch: frame.baseBranch },
    untrusted: { findings: asked.map(({ finding }) => inWords(finding)), files: texts },
    schema: judgementsSchema(asked.length),
    purpose: frame.purpose,
    signal: frame.signal,
  });
  if (output.kind === 'failed')
    return {
      said: [...said],
      refuted: [],
      failure: output.because,
      log: `second question: ${output.because}`,
    };
  const { judgements } = judgementsSchema(asked.length).parse(output.value);
  const byFinding = Map.groupBy(judgements, ({ finding }) => asked[finding - 1]);
  const because = (text: string) => shown(frame.mask(text.replaceAll(/\s+/g, ' ')), MAX_WORDS);
  const refuted: Refuted[] = [];
  const left = said.flatMap((one): RememberedFinding[] => {
    const [judgement, ...others] = byFinding.get(one) ?? [];
    if (!judgement || others.some(({ holds }) => holds !== judgement.holds)) return [one];
    const words = because(judgement.because);
    if (judgement.holds) return [{ ...one, finding: { ...one.finding, confirmed: words } }];
    refuted.push({ finding: one.finding, because: words });
    return [];
  });
  return {
    said: left,
    refuted,
    failure: undefined,
    log: `second question: ${output.log}\n${frame.mask(JSON.stringify(output.value))}`,
  };
}

/** The worst findings, with the code that they are about, as far as one question holds it. */
function chosen(
  said: readonly RememberedFinding[],
  read: readonly ShownPiece[],
): { asked: RememberedFinding[]; texts: string[] } {
  const texts = new Map<ShownPiece, string>();
  const asked: RememberedFinding[] = [];
  let left = MAX_TOKENS;
  const worst = said
    .filter(({ finding }) => CHECKED.has(finding.severity))
    .toSorted((a, b) => SEVERITIES.indexOf(a.finding.severity) - SEVERITIES.indexOf(b.finding.severity));
  for (const one of worst) {
    if (asked.length === MAX_CHECKED) break;
    const about = read.filter(({ piece }) =>
      one.offset === null ? piece.path === one.finding.file : piece.print === one.of,
    );
    const fresh = about.filter((piece) => !texts.has(piece));
    const tokens = fresh.reduce((sum, { text }) => sum + tokensOf(text), 0);
    if (about.length === 0 || tokens > left) continue;
    left -= tokens;
    for (const piece of fresh) texts.set(piece, `${piece.piece.path}\n${piece.text}`);
    asked.push(one);
  }
  return { asked, texts: [...texts.values()] };
}

function inWords(finding: RememberedFinding['finding']): string {
  const { severity, category, description, evidence } = finding;
  const line = evidence === undefined ? '' : `\nThe line: ${evidence}`;
  return `${severity}, ${category}, ${placeInWords(finding)}: ${description}${line}`;
}
