import type { Approval } from '../../domain/policy/approval.ts';
import type { RunState } from '../../domain/run/run.ts';
import { markOf } from '../check-run/check-state.ts';
import { MAX_TITLE, nextStep, sentence } from '../run/run-sentence.ts';
import { runSummary } from '../run/run-summary.ts';
import { stepsList } from '../run/steps-table.ts';
import { fitting } from '../text/fitting.ts';
import { link } from '../text/link.ts';
import { clipBytes, code, htmlComment, inline } from '../text/markdown.ts';
import { plural, short } from '../text/pretty.ts';

export const STATUS_MARKER = htmlComment('countersign:status');

/**
 * GitHub's limit for a comment is 65,536 characters. A text has at least as many bytes, so counting bytes
 * stays within it.
 */
export const MAX_COMMENT_BYTES = 65_536;
const STEPS = { items: 20, bytes: 8_000 };

export interface StatusView {
  state: RunState;
  approval: Approval | null;
  /** The page of the run's check run on GitHub, once it is known. */
  checkRunUrl: string | null;
}

/** The one comment on a pull request that shows the current state. It covers the newest run of each chain. */
export function statusComment(views: readonly StatusView[]): string {
  const { lines, left } = fitting(views, (view) => `${card(view)}\n`, { items: 50, bytes: 60_000 });
  const rest = left === 0 ? [] : [`… and ${plural(left, 'more chain')}, each with a check run of its own.`];
  const space = MAX_COMMENT_BYTES - Buffer.byteLength(STATUS_MARKER) - 1;
  return `${STATUS_MARKER}\n${clipBytes([...lines, ...rest].join('\n').trimEnd(), space)}`;
}

function card({ state, approval, checkRunUrl }: StatusView): string {
  const where = runSummary(state, approval);
  const next = nextStep(where, state, approval);
  const heading = `${markOf(where)} ${inline(sentence(where, state, approval), MAX_TITLE)}`;
  const { run } = state;
  const about = `<sub>Chain ${code(run.chain)} for ${code(short(run.headSha))}${
    checkRunUrl === null ? '' : ` · ${link('details', checkRunUrl)}`
  }</sub>`;
  if (run.settings.noise === 'quiet') return `**${heading}** ${about}`;
  return [
    `### ${heading}`,
    stepsList(state, STEPS),
    ...(next === undefined ? [] : [`**Next:** ${next}`]),
    about,
  ].join('\n\n');
}
