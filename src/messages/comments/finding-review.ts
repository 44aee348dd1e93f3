import type { EffectOf } from '../../domain/effect/effect.ts';
import type { Finding } from '../../domain/outcome/finding.ts';
import { fingerprintHash } from '../../domain/outcome/fingerprint.ts';
import type { NewReview } from '../../ports/github.ts';
import { fitting } from '../text/fitting.ts';
import { clipBytes, code, codeBlock, htmlComment, visible } from '../text/markdown.ts';
import { plural } from '../text/pretty.ts';
import { findingLine, findingText } from './finding-issue.ts';

const MAX_INTRODUCTION_BYTES = 10_000;
/** With the introduction and the hashes of 1,000 findings, a review stays within the 65,536 characters that GitHub takes. */
const LISTED = { items: 100, bytes: 30_000 };

/** A finding at lines of the diff, from `startLine` to `line`. */
export interface Placed {
  finding: Finding;
  startLine: number;
  line: number;
  /** Whether these are exactly the lines of the finding, so that its fix can replace them. */
  isExact: boolean;
}

export function reviewMarker(runId: string, stepId: string, sessionId: string): string {
  return htmlComment(`countersign:review run=${runId} step=${stepId} session=${sessionId}`);
}

/** @param template the chain's own introduction, whose values are encoded */
export function reviewTexts(
  placed: readonly Placed[],
  others: readonly Finding[],
  template: string | undefined,
): Pick<EffectOf<'review'>, 'body' | 'body_alone' | 'comments' | 'listed'> {
  const all = [...placed.map(({ finding }) => finding), ...others];
  const introduction = template ?? `${plural(all.length, 'new finding')}.`;
  return {
    body: body(introduction, others),
    body_alone: body(introduction, all),
    listed: others.map(fingerprintHash),
    comments: placed.map(({ finding, startLine, line, isExact }) => ({
      path: finding.file ?? '',
      start_line: startLine,
      line,
      finding: fingerprintHash(finding),
      body: [findingText(finding), ...(isExact ? suggestionOf(finding) : [])].join('\n\n'),
    })),
  };
}

function body(introduction: string, findings: readonly Finding[]): string {
  const { lines, left } = fitting(findings, findingLine, LISTED);
  return [
    clipBytes(introduction, MAX_INTRODUCTION_BYTES),
    ...(lines.length === 0 ? [] : [lines.join('\n')]),
    ...(left === 0 ? [] : [`… and ${plural(left, 'more finding')}.`]),
  ].join('\n\n');
}

/**
 * The block that GitHub offers to commit: https://docs.github.com/en/pull-requests/collaborating-with-pull-requests/reviewing-changes-in-pull-requests/commenting-on-a-pull-request.
 * Nobody should commit what cannot be seen.
 */
function suggestionOf({ fix }: Finding): string[] {
  // A block without a line removes the lines; an empty line would take their place: https://github.com/reviewdog/reviewdog/pull/2761
  if (fix === '') return ['```suggestion\n```'];
  return fix === undefined || visible(fix) !== fix ? [] : [codeBlock(fix, 'suggestion')];
}

/** The effect as GitHub gets it, with the markers by which it is found again. */
export function reviewRequest(effect: EffectOf<'review'>): NewReview {
  const { head_sha, marker, body, origin, listed, comments } = effect;
  const from = origin === undefined ? '' : ` from ${origin}`;
  return {
    headSha: head_sha,
    body: `${marker}\n${listedMarker(listed)}\n${body}`,
    comments: comments.map(({ path, start_line, line, finding, body: text }) => ({
      path,
      startLine: start_line,
      line,
      body: `${htmlComment(`countersign:finding ${finding}${from}`)}\n${text}`,
    })),
  };
}

/** The same without comments. */
export function reviewAlone(effect: EffectOf<'review'>): NewReview {
  const listed = [...effect.comments.map(({ finding }) => finding), ...effect.listed];
  return reviewRequest({ ...effect, body: effect.body_alone, listed, comments: [] });
}

function listedMarker(hashes: readonly string[]): string {
  return htmlComment(`countersign:findings ${hashes.length === 0 ? 'none' : hashes.join(' ')}`);
}

/**
 * The comment of a finding that a later review does not have any more. Without the finding's marker, so that it is written
 * again if it comes back.
 */
export function resolvedText(text: string, headSha: string): string {
  return `${htmlComment('countersign:resolved')}\n✅ **Not found any more** at ${code(headSha.slice(0, 7))}.\n\n${text.replace(IN_COMMENT, '').trimStart()}`;
}

const IN_REVIEW = /^<!-- countersign:review [^\n]*-->\r?\n<!-- countersign:findings ([0-9a-f ]+) -->/;
const IN_COMMENT = /^<!-- countersign:finding ([0-9a-f]{20})(?: from (\S+))? -->/;

/** The chain and step of a review, as its comments name it. */
export function originOf(chain: string, step: string): string {
  return encodeURI(`${chain}/${step}`);
}

/**
 * The finding that a comment of ours is about, by its hash, and the chain and step that reported it, unless an older version
 * wrote it. `undefined` if the comment is resolved, or not about a finding.
 */
export function findingOfComment(text: string): { finding: string; origin: string | undefined } | undefined {
  const [, finding, origin] = IN_COMMENT.exec(text) ?? [];
  return finding === undefined ? undefined : { finding, origin };
}

/** The hashes of the findings in our reviews, each as often as it is there. */
export function writtenFindings(texts: {
  reviews: readonly string[];
  comments: readonly string[];
}): string[] {
  return [
    ...texts.reviews.flatMap((text) => IN_REVIEW.exec(text)?.[1]?.split(' ') ?? []),
    ...texts.comments.flatMap((text) => findingOfComment(text)?.finding ?? []),
  ];
}
