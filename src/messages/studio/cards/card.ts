import { html } from 'hono/html';
import { knownOutcomeSchema } from '../../../domain/outcome/outcome.ts';
import { ownOutcomeSchema } from '../../../domain/outcome/own-outcome.ts';
import type { Html } from '../layout.ts';
import { prose, said } from '../untrusted.ts';
import { ciResultCard } from './ci.ts';
import { type CardFrame, type CardOptions, framed, heading, passedLabel } from './frame.ts';
import { gateVerdictCard } from './gate.ts';
import { jsonViewer } from './json.ts';
import { reviewVerdictCard } from './review.ts';
import { actionResultCard, statedOutcomeCard } from './stated.ts';

/**
 * An outcome as people read it. A kind that this version does not know, and what is no outcome of its kind, is shown as JSON.
 * @param value the parsed content of the artifact
 */
export function card(kind: string, value: unknown, options: CardOptions): Html {
  const frame: CardFrame = { limit: 20, level: 3, ...options };
  const known = knownOutcomeSchema.safeParse(value);
  if (!known.success || known.data.outcome_kind !== kind) return otherCard(kind, value, frame);
  const outcome = known.data;
  switch (outcome.outcome_kind) {
    case 'review_verdict':
      return reviewVerdictCard(outcome, frame);
    case 'gate_verdict':
      return gateVerdictCard(outcome, frame);
    case 'ci_result':
      return ciResultCard(outcome, frame);
    case 'action_result':
      return actionResultCard(outcome, frame);
    case 'lint_result':
    case 'test_result':
    case 'research_analysis':
    case 'impact_report':
    case 'flow_plan':
    case 'show_plan':
    case 'flow_control_verdict':
      return statedOutcomeCard(outcome, frame);
  }
}

function otherCard(kind: string, value: unknown, frame: CardFrame): Html {
  const own = ownOutcomeSchema.safeParse(value);
  if (own.success) {
    const { summary, passed, data } = own.data;
    return framed(frame, {
      name: said(kind, 100),
      labels: passedLabel(passed),
      summary: prose(summary, 1_000),
      body: jsonViewer(data),
    });
  }
  return html`<article class="card">
${heading(frame.level, said(kind, 100))}
${jsonViewer(value)}
</article>`;
}
