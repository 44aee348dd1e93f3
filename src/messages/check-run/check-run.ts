import type { CheckRunContent } from '../../domain/effect/effect.ts';
import { shownFindings } from '../../domain/outcome/learned.ts';
import type { ReviewVerdict } from '../../domain/outcome/review-verdict.ts';
import type { Approval } from '../../domain/policy/approval.ts';
import { checkNameOf } from '../../domain/run/child.ts';
import { explain, plainLine } from '../../domain/run/explain.ts';
import type { RunState } from '../../domain/run/run.ts';
import { everyFileLeftOut, reviewCard } from '../cards/review-card.ts';
import { statedCard, statedOutcome } from '../cards/stated-card.ts';
import { artifactsSection } from '../run/artifacts.ts';
import { evidenceUrl, type Pages } from '../run/evidence.ts';
import { explanationList } from '../run/explanation-list.ts';
import { gatesSection } from '../run/gates.ts';
import { nextStep, sentence } from '../run/run-sentence.ts';
import { outcomesOf, runSummary } from '../run/run-summary.ts';
import { stepsTable } from '../run/steps-table.ts';
import { fitting } from '../text/fitting.ts';
import { clipBytes, code, inline } from '../text/markdown.ts';
import { asSentence, plural } from '../text/pretty.ts';
import { annotated, annotations } from './annotations.ts';
import { buttonsOf, conclusionOf } from './check-state.ts';
import { ciMatrix, everyCheck } from './ci-matrix.ts';

/** GitHub's limit for `summary` and for `text`, in bytes. A larger one leaves the check pending forever. */
export const MAX_OUTPUT_BYTES = 65_535;

export interface CheckRunView {
  state: RunState;
  /** The newest approval of the run, if there is one. */
  approval: Approval | null;
  pages: Pages;
  now: Date;
}

/**
 * A run as a check run. Equal facts give equal content, so that nothing is sent to GitHub without a change.
 * `now` is used only if the end was not recorded.
 */
export function checkRunContent({ state, approval, pages, now }: CheckRunView): CheckRunContent {
  const { run } = state;
  const where = runSummary(state, approval);
  const conclusion = conclusionOf(where);
  return {
    name: checkNameOf(run),
    head_sha: run.headSha,
    external_id: run.id,
    state:
      conclusion === undefined
        ? { status: 'in_progress', started_at: run.createdAt.toISOString() }
        : { status: 'completed', conclusion, completed_at: (run.finishedAt ?? now).toISOString() },
    title: plainLine(sentence(where, state, approval)),
    ...output(state, approval, nextStep(where, state, approval), pages),
    annotations: annotations(outcomesOf(state, 'review_verdict')),
    actions: buttonsOf(where, state, approval),
  };
}

function output(
  state: RunState,
  approval: Approval | null,
  next: string | undefined,
  pages: Pages,
): { summary: string; text: string } {
  const reviews = outcomesOf(state, 'review_verdict');
  const results = outcomesOf(state, 'ci_result');
  const allowed = state.run.settings.ci.no_checks === 'allow';
  const tree = explain(state, approval);
  const whereElse = `\`countersign run show ${state.run.id} --json\` prints them all`;
  const cards = reviews.map((review) => ({ review, card: reviewCard(review, whereElse) }));
  const matrices = results.map((ci) => ({ ci, matrix: ciMatrix(ci, allowed) }));
  const sections: string[] = [
    ...(next === undefined ? [] : [`**Next:** ${next}`]),
    `### Why\n\n${inline(asSentence(tree.summary), 400)}\n\n${explanationList(tree, (ref) => evidenceUrl(ref, state.run, pages))}`,
    ...inputsSection(state.run),
    ...cards.map(({ card }) => card.markdown),
    ...matrices.map(({ matrix }) => matrix.markdown),
    ...state.invocations.flatMap(({ outcome }) => {
      const stated = statedOutcome(outcome);
      return stated ? [statedCard(stated)] : [];
    }),
    ...[gatesSection(state)].filter((section) => section !== undefined),
    `### Steps\n\n${stepsTable(state)}`,
    ...[artifactsSection(state)].filter((section) => section !== undefined),
    ...annotationNote(reviews, whereElse),
  ];
  const below = [
    ...cards.filter(({ card }) => card.cut).map(({ review }) => everyFileLeftOut(review, whereElse)),
    ...matrices.filter(({ matrix }) => matrix.cut).map(({ ci }) => everyCheck(ci, whereElse)),
  ];
  return { summary: joinSections(sections, whereElse), text: joinSections(below, whereElse) };
}

/** What somebody gave to the chain, as code: a value can be any text. */
function inputsSection({ facts }: RunState['run']): string[] {
  const lines = Object.entries(facts.inputs ?? {}).map(
    ([name, value]) => `- ${code(name)}: ${code(`${value}`)}`,
  );
  return lines.length === 0 ? [] : [`### Inputs\n\n${lines.join('\n')}`];
}

/** As many whole sections as fit. A section cut in the middle would leave a table or a folded part open. */
function joinSections(sections: readonly string[], whereElse: string): string {
  const { lines, left } = fitting(sections, (section) => `${section}\n`, {
    items: sections.length,
    bytes: MAX_OUTPUT_BYTES - 1_000,
  });
  const rest =
    left === 0 ? [] : [`${plural(left, 'more part', 'more parts')} did not fit here: ${whereElse}.`];
  return clipBytes([...lines, ...rest].join('\n').trimEnd(), MAX_OUTPUT_BYTES);
}

function annotationNote(reviews: readonly ReviewVerdict[], whereElse: string): string[] {
  const shown = annotated(reviews).length;
  const all = reviews.flatMap(shownFindings).length;
  return shown === all
    ? []
    : [`${shown} of ${plural(all, 'finding')} are shown in the diff, the worst first: ${whereElse}.`];
}
