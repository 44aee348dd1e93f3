import { type Finding, isBlocking, placeInWords } from '../../domain/outcome/finding.ts';
import { findingId, shortHash } from '../../domain/outcome/fingerprint.ts';
import { worstFirst } from '../cards/review-card.ts';
import { commitText } from '../text/commit-text.ts';
import { fitting } from '../text/fitting.ts';
import { clipBytes, code, htmlComment, inline, prose } from '../text/markdown.ts';
import { capital, clip, plural, SEVERITY_MARK, short } from '../text/pretty.ts';

/** Every issue of `gh-issue` has it, because GitHub lists issues by label quickly, and not reliably by the App that wrote them. */
export const ISSUE_LABEL = 'countersign';
/** GitHub's own limit is 256 characters. */
const MAX_TITLE = 250;
const MAX_BODY_BYTES = 50_000;
const LISTED = { items: 50, bytes: 40_000 };

/** The issues of one step of a chain, for one subject. Only these does the step update and close. */
export interface IssueScope {
  chain: string;
  step: string;
  /** The number of the pull request or issue. For a run about neither, its branch, and `null` for the default branch. */
  subject: number | string | null;
}

/** What a marker says. */
interface Marked {
  scope: string;
  /** The hash of the finding, or `all`. */
  finding: string;
  /** The hash of its file, or `none`. */
  file: string;
}

const MARKER =
  /^<!-- countersign:issue scope=([0-9a-f]{20}) finding=([0-9a-f]{20}|all) file=([0-9a-f]{20}|none) -->/;

export function issueMarker(scope: IssueScope, finding: string, file: string | null): string {
  const of = file === null ? 'none' : shortHash(file);
  return htmlComment(`countersign:issue scope=${scopeHash(scope)} finding=${finding} file=${of}`);
}

export function scopeHash({ chain, step, subject }: IssueScope): string {
  return shortHash(JSON.stringify([chain, step, subject]));
}

/** `undefined` for an issue that `gh-issue` did not write. */
export function markedIssue(body: string): Marked | undefined {
  const [, scope, finding, file] = MARKER.exec(body) ?? [];
  return scope === undefined || finding === undefined || file === undefined
    ? undefined
    : { scope, finding, file };
}

/** The words that stand for parts of a finding in a title or body, as in `{severity}`. */
export const PLACEHOLDERS = [
  'severity',
  'category',
  'description',
  'suggestion',
  'file',
  'line',
  'rule',
] as const;

function filled(template: string, finding: Finding, encode: (value: string) => string): string {
  return template.replaceAll(/\{(\w+)\}/g, (whole, word: string) => {
    const known = PLACEHOLDERS.find((one) => one === word);
    if (known === undefined) return whole;
    const value = finding[known];
    return value === undefined || value === null ? '' : encode(String(value));
  });
}

/** @param template the chain's own title, whose values are encoded */
export function titleOfFinding(finding: Finding, template: string | undefined): string {
  const words =
    template === undefined
      ? `${capital(commitText(finding.category))}: ${commitText(finding.description)}`
      : filled(template, finding, commitText);
  return clip(words.replaceAll(/\s+/g, ' ').trim(), MAX_TITLE);
}

/** @param template the chain's own title, whose values are encoded */
export function titleOfAll({ chain, subject }: IssueScope, template: string | undefined): string {
  const of = typeof subject === 'number' ? `#${subject}` : subject && commitText(subject);
  const words = template ?? `Findings of ${chain}${of === null ? '' : ` in ${of}`}`;
  return clip(words.replaceAll(/\s+/g, ' ').trim(), MAX_TITLE);
}

/** @param template the chain's own text, whose values are encoded */
export function bodyOfFinding(finding: Finding, scope: IssueScope, template: string | undefined): string {
  const words = template === undefined ? findingText(finding) : filled(template, finding, prose);
  return withFooter(words, scope, 'the finding is gone');
}

/**
 * @param findings in any order; of very many, the worst are shown
 * @param template the chain's own text, whose values are encoded; it comes before the findings
 * @param until when it is closed, as a clause; `undefined` if never
 */
export function bodyOfAll(
  findings: readonly Finding[],
  scope: IssueScope,
  template: string | undefined,
  until: string | undefined,
): string {
  const { lines, left } = fitting(worstFirst(findings), findingLine, LISTED);
  const parts = [
    ...(template === undefined ? [] : [template]),
    ...(lines.length === 0 ? [] : [lines.join('\n')]),
    ...(left === 0 ? [] : [`… and ${plural(left, 'more finding')}.`]),
  ];
  return withFooter(parts.join('\n\n'), scope, until);
}

function withFooter(words: string, { chain, step, subject }: IssueScope, until: string | undefined): string {
  const of = subject === null ? '' : ` for ${nameOf(subject)}`;
  const closes = until === undefined ? '' : ` It closes this issue when ${until}.`;
  const footer = `<sub>Opened by the step ${code(step)} of the chain ${code(chain)}${of}.${closes} Close it as not planned, and it stays closed.</sub>`;
  return `${clipBytes(words, MAX_BODY_BYTES)}\n\n${footer}`;
}

function nameOf(subject: number | string): string {
  return typeof subject === 'number' ? `#${subject}` : code(subject);
}

/** A finding in full, without its place in a list. */
export function findingText(finding: Finding): string {
  const { severity, category, description, suggestion, evidence, rule } = finding;
  const place = placeInWords(finding);
  return [
    `${SEVERITY_MARK[severity]} **${severity}** · ${inline(category, 50)} · ${finding.file === null ? place : code(clip(place, 200))}`,
    prose(description),
    ...(evidence === undefined || evidence.trim() === '' ? [] : [code(clip(evidence, 160))]),
    ...(suggestion === null || suggestion === ''
      ? []
      : [`**${isBlocking(finding) ? 'Fix' : 'Suggestion'}:** ${prose(suggestion)}`]),
    `<sub>${inline(rule, 100)} · ${code(findingId(finding))}</sub>`,
  ].join('\n\n');
}

/** A finding as an entry of a list. */
export function findingLine(finding: Finding): string {
  const { severity, description } = finding;
  const place = placeInWords(finding);
  return `- ${SEVERITY_MARK[severity]} **${severity}** · ${finding.file === null ? place : code(clip(place, 200))}: ${prose(description, 400)} ${code(findingId(finding))}`;
}

/** Why the issue is closed. */
export function fixedComment(runId: string, number: number, scope: IssueScope, headSha: string) {
  const marker = htmlComment(`countersign:fixed run=${runId} issue=${number}`);
  const of = scope.subject === null ? '' : ` of ${nameOf(scope.subject)}`;
  const text = `${marker}\nThe step ${code(scope.step)} of the chain ${code(scope.chain)} does not find this any more at ${code(short(headSha))}${of}, so this issue is closed.`;
  return { marker, text };
}
