import { html } from 'hono/html';
import { formatDuration } from '../../../core/duration.ts';
import type { ActionResult } from '../../../domain/outcome/action-result.ts';
import type { StatedOutcome } from '../../../domain/outcome/stated.ts';
import { kindInWords } from '../../text/outcome-kind.ts';
import { plural, SEVERITY_MARK } from '../../text/pretty.ts';
import type { Html } from '../layout.ts';
import { outwards, placeLink, prose, said } from '../untrusted.ts';
import { type CardFrame, framed, heading, label, listOf, passedLabel } from './frame.ts';

/** What an action did on GitHub. */
export function actionResultCard({ action, passed, summary, details }: ActionResult, frame: CardFrame): Html {
  const entries = Object.entries(details).slice(0, 50);
  return framed(frame, {
    name: `Result of ${said(action, 100)}`,
    labels: passedLabel(passed),
    summary: prose(summary, 1_000),
    body:
      entries.length === 0
        ? html``
        : html`<dl class="facts">
${entries.map(([name, value]) => html`<dt>${said(name.replaceAll('_', ' '), 100)}</dt><dd>${said(Array.isArray(value) ? value.join(', ') : String(value), 500)}</dd>\n`)}</dl>`,
  });
}

/** What a skill stated: a report or a plan. */
export function statedOutcomeCard(outcome: StatedOutcome, frame: CardFrame): Html {
  return framed(frame, {
    name: kindInWords(outcome.outcome_kind),
    labels: labelsOf(outcome),
    summary: prose(outcome.summary, 1_000),
    body: bodyOf(outcome, frame),
  });
}

function labelsOf(outcome: StatedOutcome): Html {
  switch (outcome.outcome_kind) {
    case 'impact_report':
      return html`${passedLabel(outcome.passed)} ${riskOf(outcome.risk)}`;
    case 'flow_control_verdict':
      return outcome.should_continue
        ? label('good', 'the chain continues')
        : label('wait', 'the chain ends here');
    default:
      return passedLabel(outcome.passed);
  }
}

function riskOf(risk: keyof typeof SEVERITY_MARK): Html {
  return html`<span class="label plain"><span aria-hidden="true">${SEVERITY_MARK[risk]}</span> ${risk} risk</span>`;
}

function bodyOf(outcome: StatedOutcome, frame: CardFrame): Html {
  const { links, level } = frame;
  const titled = (title: string, texts: readonly string[]) =>
    texts.length === 0
      ? html``
      : html`${heading(level + 1, title)}${listOf(texts, (text) => prose(text, 500), frame)}`;
  switch (outcome.outcome_kind) {
    case 'lint_result': {
      const { tool, errors, warnings, messages } = outcome;
      return html`<p>${said(tool, 100)}: ${plural(errors, 'error')}, ${plural(warnings, 'warning')}.</p>
${listOf(
  messages,
  ({ file, line, rule, severity, message }) =>
    html`${label(severity === 'error' ? 'bad' : 'wait', severity)} ${file === null ? '' : html`${placeLink(links, { file, line })} `}${prose(message, 2_000)}${rule === null ? '' : html` <span class="quiet">${said(rule, 200)}</span>`}`,
  { ...frame, kind: 'checklist' },
)}`;
    }
    case 'test_result': {
      const { total, failed, skipped, duration_ms, coverage, failures } = outcome;
      return html`<p>${total - failed - skipped} of ${plural(total, 'test')} passed${duration_ms === null ? '' : ` in ${formatDuration(duration_ms)}`}, ${failed} failed, ${skipped} skipped.${coverage === null ? '' : ` They ran ${coverage} % of the lines.`}</p>
${listOf(
  failures,
  ({ name, message, file }) =>
    html`${label('bad', 'failed')} <b>${said(name, 300)}</b>${file === null ? '' : html` ${placeLink(links, { file })}`}: ${prose(message, 2_000)}`,
  { ...frame, kind: 'checklist' },
)}`;
    }
    case 'research_analysis':
      return html`<p><b>Question:</b> ${prose(outcome.question, 2_000)}</p>
${listOf(
  outcome.conclusions,
  ({ statement, confidence, evidence }) =>
    html`${prose(statement, 2_000)} <span class="quiet">${confidence} confidence: ${prose(evidence, 2_000)}</span>`,
  frame,
)}
${titled('Open questions', outcome.open_questions)}
${
  outcome.sources.length === 0
    ? ''
    : html`${heading(level + 1, 'Sources')}${listOf(outcome.sources, ({ title, url }) => outwards(url, said(title, 500)), frame)}`
}`;
    case 'impact_report':
      return html`${listOf(
        outcome.areas,
        ({ name, risk, description, files }) =>
          html`${riskOf(risk)} <b>${said(name, 300)}</b>: ${prose(description, 2_000)}${files.slice(0, 10).map((file) => html` ${placeLink(links, { file })}`)}${files.length > 10 ? ' …' : ''}`,
        { ...frame, kind: 'checklist' },
      )}
${titled('Breaking changes', outcome.breaking_changes)}
${titled('Recommendations', outcome.recommendations)}`;
    case 'flow_plan':
      return html`<p><b>Goal:</b> ${prose(outcome.goal, 2_000)}</p>
${listOf(
  outcome.steps,
  ({ id, title, description, depends_on }) =>
    html`<code>${id}</code> <b>${said(title, 500)}</b>${after(depends_on)}: ${prose(description, 2_000)}`,
  frame,
)}`;
    case 'show_plan':
      return html`<p><b>Topic:</b> ${prose(outcome.topic, 2_000)}</p>
${listOf(
  outcome.plays,
  ({ id, intent, depends_on, acceptance_criteria }) =>
    html`<code>${id}</code>${after(depends_on)}: ${prose(intent, 2_000)}${listOf(acceptance_criteria, (criterion) => prose(criterion, 500), frame)}`,
  frame,
)}`;
    case 'flow_control_verdict':
      return html`<p>${prose(outcome.reason, 2_000)}</p>${titled('Next', outcome.next_steps)}`;
  }
}

function after(ids: readonly string[]): Html {
  return ids.length === 0
    ? html``
    : html` <span class="quiet">after ${ids.map((id, at) => html`${at === 0 ? '' : ', '}<code>${id}</code>`)}</span>`;
}
