import { html } from 'hono/html';
import type { GateVerdict } from '../../../domain/outcome/gate-verdict.ts';
import type { Html } from '../layout.ts';
import { prose, said } from '../untrusted.ts';
import { type CardFrame, framed, label, listOf, type Tone } from './frame.ts';

const CONSEQUENCES: Readonly<Record<GateVerdict['on_failure'], { tone: Tone; words: string }>> = {
  block: { tone: 'bad', words: 'not passed, so the step is blocked' },
  warn: { tone: 'wait', words: 'not passed, which only warns' },
  degrade: { tone: 'bad', words: 'not passed, so the outcome does not count as passed' },
  require_human: { tone: 'wait', words: 'not passed, so a person is asked' },
};

/** Why the gate blocks and what to do come first, then its criteria as a checklist. */
export function gateVerdictCard(gate: GateVerdict, frame: CardFrame): Html {
  const { gate_passed, blocking_reason, next_action, on_failure, criteria } = gate;
  const { tone, words } = CONSEQUENCES[on_failure];
  return framed(frame, {
    name: `Gate ${said(gate.gate, 100)}`,
    labels: html`${gate_passed ? label('good', 'passed') : label(tone, words)} <span class="quiet">${gate.at === 'pre' ? 'before' : 'after'} <code>${said(gate.step, 100)}</code></span>`,
    summary: prose(gate.feedback === '' ? gate.summary : gate.feedback, 1_000),
    body: html`${
      blocking_reason === null && next_action === null
        ? ''
        : html`<dl class="prominent">
${blocking_reason === null ? '' : html`<dt>Blocked because</dt><dd>${prose(blocking_reason, 1_000)}</dd>`}
${next_action === null ? '' : html`<dt>Next</dt><dd>${prose(next_action, 1_000)}</dd>`}
</dl>`
    }
${listOf(
  criteria,
  ({ passed, description, evidence, may_change }) =>
    html`${passed ? label('good', 'met') : label('bad', may_change ? 'not met yet' : 'not met')} ${prose(description, 500)}${evidence.trim() === '' ? '' : html` <code>${said(evidence, 300)}</code>`}`,
  { ...frame, kind: 'checklist' },
)}
${listOf(gate.notes, (note) => prose(note, 300), frame)}`,
  });
}
