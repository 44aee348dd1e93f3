import { isBlocking } from '../../domain/outcome/finding.ts';
import type { Approval } from '../../domain/policy/approval.ts';
import type { RunState } from '../../domain/run/run.ts';
import { worstFirst } from '../cards/review-card.ts';
import { markOf } from '../check-run/check-state.ts';
import { MAX_TITLE, nextStep, sentence } from '../run/run-sentence.ts';
import { type RunSummary, runSummary } from '../run/run-summary.ts';
import { stepsList } from '../run/steps-table.ts';
import { fitting } from '../text/fitting.ts';
import { link } from '../text/link.ts';
import { code, inline } from '../text/markdown.ts';
import { plural, short } from '../text/pretty.ts';
import { withRest } from '../text/section.ts';
import { findingLine } from './finding-issue.ts';

const STEPS = { items: 20, bytes: 8_000 };
/** The check run and the diff have all of them. */
const FINDINGS = { items: 5, bytes: 4_000 };
const CARDS = { items: 50, bytes: 60_000 };

export interface StatusView {
  state: RunState;
  approval: Approval | null;
  /** The page of the run's check run on GitHub, once it is known. */
  checkRunUrl: string | null;
}

/** The state of each run, one below the other. */
export function stateCards(views: readonly StatusView[]): string {
  const { lines, left } = fitting(views, (view) => `${stateCard(view)}\n`, CARDS);
  const rest = left === 0 ? [] : [`… and ${plural(left, 'more chain')}, each with a check run of its own.`];
  return [...lines, ...rest].join('\n').trimEnd();
}

/** The state of a run, with what comes next. */
export function stateCard(view: StatusView): string {
  const { state, approval } = view;
  const where = runSummary(state, approval);
  const next = nextStep(where, state, approval);
  const heading = `${markOf(where)} ${inline(sentence(where, state, approval), MAX_TITLE)}`;
  if (state.run.settings.noise === 'quiet') return `**${heading}** ${aboutRun(view)}`;
  return [
    `### ${heading}`,
    stepsList(state, STEPS),
    ...mustFix(where),
    ...(next === undefined ? [] : [`**Next:** ${next}`]),
    aboutRun(view),
  ].join('\n\n');
}

/** Which run a text is about, with a link to its check run. */
export function aboutRun({ state: { run }, checkRunUrl }: StatusView, more = ''): string {
  const details = checkRunUrl === null ? '' : ` · ${link('details', checkRunUrl)}`;
  return `<sub>Chain ${code(run.chain)} for ${code(short(run.headSha))}${details}${more}</sub>`;
}

/** The worst findings of a review that requests changes. */
function mustFix(where: RunSummary): string[] {
  if (where.kind !== 'changes_requested') return [];
  const blocking = worstFirst(where.review.findings.filter(isBlocking), where.review.learned);
  if (blocking.length === 0) return [];
  return [`#### Must be fixed\n\n${withRest(fitting(blocking, findingLine, FINDINGS), 'in the check run')}`];
}
