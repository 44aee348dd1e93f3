import {
  type Finding,
  isBlocking,
  KNOWN_CATEGORIES,
  placeInWords,
  SEVERITIES,
} from '../../domain/outcome/finding.ts';
import { findingId } from '../../domain/outcome/fingerprint.ts';
import { isLearned, shownFindings } from '../../domain/outcome/learned.ts';
import type {
  Accepted,
  AnalyzerReport,
  LeftOut,
  ReviewVerdict,
  Since,
} from '../../domain/outcome/review-verdict.ts';
import { severities } from '../run/run-sentence.ts';
import { fitting } from '../text/fitting.ts';
import { code, inline, prose } from '../text/markdown.ts';
import { capital, clip, plural, SEVERITY_MARK, short, VERDICT_WORDS } from '../text/pretty.ts';
import { BELOW, type Section, withRest } from '../text/section.ts';
import { nothingFound } from './accepted.ts';
import { notShownPart } from './learned.ts';
import { sinceWords } from './review.ts';

/**
 * Findings shown in full, of both kinds together: people start to fix before they have read more
 * (docs/adr/0015).
 */
export const MAX_SHOWN = 9;
const MUST_FIX_BYTES = 14_000;
const SUGGESTIONS_BYTES = 7_000;
const ACCEPTED = { items: 20, bytes: 4_000 };
const FIXED = { items: 20, bytes: 3_000 };
const NOTES = { items: 5, bytes: 1_000 };
const LEFT_OUT = { items: 10, bytes: 2_000 };
const FAULTY = { items: 10, bytes: 2_000 };
const WORKERS = { items: 20, bytes: 1_000 };

/**
 * The review: the number of findings, those that must be fixed, suggestions, and what was not examined.
 * @param whereElse where all findings are shown
 */
export function reviewCard(review: ReviewVerdict, whereElse: string): Section {
  const shown = worstFirst(shownFindings(review), review.learned);
  const blocking = shown.filter(isBlocking);
  const others = shown.filter((finding) => !isBlocking(finding));
  const mustFix = fitting(blocking, fullFinding, { items: MAX_SHOWN, bytes: MUST_FIX_BYTES });
  const space = MAX_SHOWN - mustFix.lines.length;
  const suggested = fitting(others, fullFinding, { items: space, bytes: SUGGESTIONS_BYTES });
  const leftOut = fitting(review.left_out, leftOutLine, LEFT_OUT);
  const faulty = fitting(
    review.analyzers.filter((analyzer) => analyzer.status !== 'ok'),
    analyzerLine,
    FAULTY,
  );
  const workers = fitting(
    review.analyzers,
    ({ name, version }) => inline(`${name} ${version}`, 100),
    WORKERS,
  );
  const notes = fitting(review.notes ?? [], (note) => inline(note, 200), NOTES);
  const verdict = review.verdict === null ? 'no verdict, it is incomplete' : VERDICT_WORDS[review.verdict];
  const parts = [
    `### Review: ${verdict}`,
    `Round ${review.round}: ${plural(review.files_reviewed, 'file')} reviewed at ${code(short(review.head_sha))}.${
      review.since ? ` ${capital(sinceWords(review.since))}.` : ''
    }`,
    review.findings.length === 0 ? nothingFound(review) : counts(review.findings),
    ...(blocking.length === 0 ? [] : ['#### Must be fixed', withRest(mustFix, whereElse)]),
    ...acceptedPart(review),
    ...(others.length === 0
      ? []
      : [
          `<details><summary>${plural(others.length, 'suggestion')}: ${severities(others)}</summary>`,
          withRest(suggested, whereElse),
          '</details>',
        ]),
    ...notShownPart(review),
    ...(review.since ? fixedPart(review.since) : []),
    ...(faulty.lines.length === 0 ? [] : ['#### Did not work', withRest(faulty, BELOW)]),
    ...(review.left_out.length === 0 ? [] : ['#### Not reviewed', withRest(leftOut, BELOW)]),
    ...(workers.lines.length === 0 ? [] : [`<sub>Checked by ${workers.lines.join(', ')}.</sub>`]),
    ...notes.lines.map((note) => `<sub>${note}</sub>`),
  ];
  return { markdown: parts.join('\n\n'), cut: leftOut.left > 0 };
}

/** The findings that people accepted, with their reasons. */
function acceptedPart({ accepted = [] }: ReviewVerdict): string[] {
  if (accepted.length === 0) return [];
  const { lines, left } = fitting(accepted, acceptedFinding, ACCEPTED);
  const rest = left === 0 ? [] : [`- … and ${left} more`];
  return ['#### Accepted for this commit', [...lines, ...rest].join('\n')];
}

function acceptedFinding({ finding, by, because }: Accepted): string {
  return `- ☑️ **${finding.severity}** · ${placed(finding)}: ${prose(finding.description, 200)} ${code(findingId(finding))} accepted by ${code(by.login)}: ${inline(because, 300)}`;
}

function fixedPart({ fixed, fixed_findings }: Since): string[] {
  if (fixed === 0) return [];
  const { lines } = fitting(fixed_findings, fixedFinding, FIXED);
  const rest = lines.length === fixed ? [] : [`- … and ${fixed - lines.length} more`];
  return [`<details><summary>${fixed} fixed</summary>`, [...lines, ...rest].join('\n'), '</details>'];
}

/** Without its line, which was a line of another version of the file. */
function fixedFinding({ file, description }: Finding): string {
  return `- ✅ ${placed({ file })} ${prose(description, 200)}`;
}

function placed(place: Pick<Finding, 'file' | 'line'>): string {
  const words = placeInWords(place);
  return place.file === null ? words : code(clip(words, 200));
}

function counts(findings: readonly Finding[]): string {
  const of = (key: 'severity' | 'category', value: string) =>
    findings.filter((finding) => finding[key] === value).length;
  return [
    `| ${SEVERITIES.map((severity) => `${SEVERITY_MARK[severity]} ${severity}`).join(' | ')} |`,
    `|${'---:|'.repeat(SEVERITIES.length)}`,
    `| ${SEVERITIES.map((severity) => of('severity', severity)).join(' | ')} |`,
    '',
    `By kind: ${categoriesOf(findings)
      .map((category) => `${inline(category, 50)} ${of('category', category)}`)
      .join(', ')}.`,
  ].join('\n');
}

const MAX_CATEGORIES = 30;

/** The known ones first, then the others by name; of very many, the first. */
function categoriesOf(findings: readonly Finding[]): string[] {
  const said = new Set(findings.map(({ category }) => category));
  const known = KNOWN_CATEGORIES.filter((category) => said.delete(category));
  return [...known, ...[...said].sort()].slice(0, MAX_CATEGORIES);
}

/**
 * Most severe first. Of equal severity, those that people mostly accept come last, and the others are in the order of the files.
 */
export function worstFirst(findings: readonly Finding[], learned?: ReviewVerdict['learned']): Finding[] {
  const late = new Set(findings.filter((finding) => isLearned(finding, learned)));
  return [...findings].sort(
    (a, b) =>
      SEVERITIES.indexOf(a.severity) - SEVERITIES.indexOf(b.severity) ||
      Number(late.has(a)) - Number(late.has(b)) ||
      compared(a.file ?? '', b.file ?? '') ||
      (a.line ?? 0) - (b.line ?? 0),
  );
}

function compared(a: string, b: string): number {
  return a < b ? -1 : a > b ? 1 : 0;
}

function fullFinding(finding: Finding): string {
  const { severity, category, description, suggestion, evidence, confirmed, rule } = finding;
  return [
    `- ${SEVERITY_MARK[severity]} **${severity}** · ${inline(category, 50)} · ${placed(finding)}`,
    prose(description, 400),
    ...(evidence === undefined || evidence.trim() === '' ? [] : [code(clip(evidence, 160))]),
    ...(confirmed === undefined ? [] : [`**Checked again:** ${prose(confirmed, 300)}`]),
    ...(suggestion === null || suggestion === ''
      ? []
      : [`**${isBlocking(finding) ? 'Fix' : 'Suggestion'}:** ${prose(suggestion, 400)}`]),
    `<sub>${inline(rule, 100)} · ${code(findingId(finding))}</sub>`,
  ].join('<br>\n  ');
}

function leftOutLine({ path, reason }: LeftOut): string {
  return `- ${code(clip(path, 200))}: ${inline(reason, 200)}`;
}

const BROKEN_OFF = {
  crashed: 'crashed',
  timed_out: 'took too long and was stopped',
  no_answer: 'gave no usable answer',
} as const satisfies Record<Exclude<AnalyzerReport['status'], 'ok'>, string>;

function analyzerLine({ name, status, message }: AnalyzerReport): string {
  const words = status === 'ok' ? '' : BROKEN_OFF[status];
  const detail = message === undefined || message === '' ? '' : `: ${inline(message, 200)}`;
  return `- ${inline(name, 100)} ${words}${detail}`;
}

/** Every file that was left out, one line each, for the text below the summary. */
export function everyFileLeftOut({ left_out }: ReviewVerdict, whereElse: string): string {
  const leftOut = fitting(left_out, leftOutLine, { items: 500, bytes: 8_000 });
  return `### Everything that was not reviewed\n\n${withRest(leftOut, whereElse)}`;
}
