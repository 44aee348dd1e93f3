import { formatDuration } from '../../core/duration.ts';
import type { Outcome } from '../../domain/outcome/outcome.ts';
import type { OwnOutcome } from '../../domain/outcome/own-outcome.ts';
import type { StatedOutcome } from '../../domain/outcome/stated.ts';
import { fitting } from '../text/fitting.ts';
import { clipBytes, code, codeBlock, inline, prose } from '../text/markdown.ts';
import { kindInWords } from '../text/outcome-kind.ts';
import { clip, plural, SEVERITY_MARK } from '../text/pretty.ts';

const LIST = { items: 20, bytes: 6_000 };
const MAX_JSON_BYTES = 8_000;

/** An outcome that `statedCard` shows, if it is one. */
export function statedOutcome(outcome: Outcome | null): StatedOutcome | OwnOutcome | undefined {
  switch (outcome?.outcome_kind) {
    case undefined:
    case 'review_verdict':
    case 'ci_result':
    case 'gate_verdict':
    case 'action_result':
      return undefined;
    default:
      return outcome ?? undefined;
  }
}

/** What a skill stated: its summary, then the members of its kind. A kind of a package is shown as JSON. */
export function statedCard(outcome: StatedOutcome | OwnOutcome, heading = '###'): string {
  const mark = outcome.passed === null ? '' : outcome.passed ? '✅ ' : '❌ ';
  return [
    `${heading} ${kindInWords(outcome.outcome_kind)}: ${mark}${inline(outcome.summary, 300)}`,
    ...details(outcome),
  ].join('\n\n');
}

function details(outcome: StatedOutcome | OwnOutcome): string[] {
  switch (outcome.outcome_kind) {
    case 'lint_result': {
      const { tool, errors, warnings, messages } = outcome;
      return [
        `${inline(tool, 100)}: ${plural(errors, 'error')}, ${plural(warnings, 'warning')}.`,
        ...list(messages, ({ file, line, rule, severity, message }) => {
          const place = file === null ? '' : `${code(clip(line === null ? file : `${file}:${line}`, 200))} `;
          const by = rule === null ? '' : ` (${inline(rule, 100)})`;
          return `${severity === 'error' ? '❌' : '⚠️'} ${place}${prose(message, 300)}${by}`;
        }),
      ];
    }
    case 'test_result': {
      const { total, failed, skipped, duration_ms, coverage, failures } = outcome;
      const took = duration_ms === null ? '' : ` in ${formatDuration(duration_ms)}`;
      const covered = coverage === null ? '' : ` They ran ${coverage} % of the lines.`;
      return [
        `${total - failed - skipped} of ${plural(total, 'test')} passed${took}, ${failed} failed, ${skipped} skipped.${covered}`,
        ...list(failures, ({ name, message, file }) => {
          const place = file === null ? '' : ` (${code(clip(file, 200))})`;
          return `❌ **${inline(name, 200)}**${place}: ${prose(message, 300)}`;
        }),
      ];
    }
    case 'research_analysis': {
      const { question, conclusions, sources, open_questions } = outcome;
      return [
        `**Question:** ${prose(question, 500)}`,
        ...list(
          conclusions,
          ({ statement, confidence, evidence }) =>
            `${prose(statement, 500)} (${confidence} confidence: ${prose(evidence, 300)})`,
        ),
        ...titled('Open questions', open_questions),
        ...titled(
          'Sources',
          sources.map(({ title, url }) => (url === null ? title : `${title}: ${url}`)),
        ),
      ];
    }
    case 'impact_report': {
      const { risk, areas, breaking_changes, recommendations } = outcome;
      return [
        `**Risk:** ${SEVERITY_MARK[risk]} ${risk}`,
        ...list(
          areas,
          ({ name, risk, description, files }) =>
            `${SEVERITY_MARK[risk]} **${inline(name, 100)}**: ${prose(description, 300)}${fileList(files)}`,
        ),
        ...titled('Breaking changes', breaking_changes),
        ...titled('Recommendations', recommendations),
      ];
    }
    case 'flow_plan':
      return [
        `**Goal:** ${prose(outcome.goal, 500)}`,
        ...list(
          outcome.steps,
          ({ id, title, description, depends_on }) =>
            `${code(id)} **${inline(title, 100)}**: ${prose(description, 300)}${after(depends_on)}`,
        ),
      ];
    case 'show_plan':
      return [
        `**Topic:** ${prose(outcome.topic, 500)}`,
        ...list(outcome.plays, ({ id, intent, depends_on, acceptance_criteria }) => {
          const criteria = acceptance_criteria.map((criterion) => `  - ${prose(criterion, 200)}`);
          return [`${code(id)}: ${prose(intent, 300)}${after(depends_on)}`, ...criteria].join('\n');
        }),
      ];
    case 'flow_control_verdict': {
      const { should_continue, reason, next_steps } = outcome;
      return [
        `**${should_continue ? 'The chain goes on' : 'The chain ends here'}:** ${prose(reason, 500)}`,
        ...titled('Next', next_steps),
      ];
    }
    default:
      return [codeBlock(clipBytes(JSON.stringify(outcome.data, null, 2), MAX_JSON_BYTES), 'json')];
  }
}

function list<T>(items: readonly T[], render: (item: T) => string): string[] {
  if (items.length === 0) return [];
  const { lines, left } = fitting(items, (item) => `- ${render(item)}`, LIST);
  return [[...lines, ...(left === 0 ? [] : [`- … and ${left} more`])].join('\n')];
}

function titled(title: string, texts: readonly string[]): string[] {
  return texts.length === 0 ? [] : [`**${title}:**`, ...list(texts, (text) => prose(text, 300))];
}

function fileList(files: readonly string[]): string {
  if (files.length === 0) return '';
  const shown = files.slice(0, 5).map((file) => code(clip(file, 120)));
  return ` (${shown.join(', ')}${files.length > shown.length ? ', …' : ''})`;
}

function after(ids: readonly string[]): string {
  return ids.length === 0 ? '' : ` (after ${ids.map((id) => code(id)).join(', ')})`;
}
