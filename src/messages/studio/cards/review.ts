import { html } from 'hono/html';
import { formatDuration } from '../../../core/duration.ts';
import { type Finding, isBlocking, placeInWords, SEVERITIES } from '../../../domain/outcome/finding.ts';
import { findingId } from '../../../domain/outcome/fingerprint.ts';
import { isHidden } from '../../../domain/outcome/learned.ts';
import type { Accepted, ReviewVerdict } from '../../../domain/outcome/review-verdict.ts';
import { nothingFound } from '../../cards/accepted.ts';
import { sinceWords } from '../../cards/review.ts';
import { worstFirst } from '../../cards/review-card.ts';
import { capital, plural, SEVERITY_MARK, VERDICT_WORDS } from '../../text/pretty.ts';
import type { Html } from '../layout.ts';
import { placeLink, prose, said, saidLines } from '../untrusted.ts';
import { type CardFrame, folded, framed, heading, label, listOf, more, type Tone } from './frame.ts';

const TONES: Readonly<Record<NonNullable<ReviewVerdict['verdict']>, Tone>> = {
  APPROVE: 'good',
  APPROVE_WITH_SUGGESTIONS: 'good',
  REQUEST_CHANGES: 'bad',
  REJECT: 'bad',
};

/** The verdict, who reached it and in how long, what blocks the merge, and what is only suggested. */
export function reviewVerdictCard(review: ReviewVerdict, frame: CardFrame): Html {
  const { verdict, findings, accepted = [], learned } = review;
  const sorted = worstFirst(findings, learned);
  const blocking = sorted.filter(isBlocking);
  const hidden = sorted.filter((finding) => isHidden(finding, learned));
  const others = sorted.filter((finding) => !isBlocking(finding) && !hidden.includes(finding));
  const { level, limit, links } = frame;
  return framed(frame, {
    name: `Review, round ${review.round}`,
    labels: html`${verdict === null ? label('wait', 'no verdict, it is incomplete') : label(TONES[verdict], VERDICT_WORDS[verdict])} <span class="quiet">${how(review, frame)}</span>`,
    summary: prose(review.summary, 1_000),
    body: html`${findings.length === 0 ? html`<p>${nothingFound(review)}</p>` : counts(findings)}
${
  blocking.length === 0
    ? ''
    : html`${heading(level + 1, 'Must be fixed')}
${blocking.slice(0, limit).map((finding) => findingItem(finding, frame))}${more(blocking.length - limit, links)}`
}
${
  others.length === 0
    ? ''
    : folded(
        plural(others.length, 'suggestion'),
        html`${others.slice(0, limit).map((finding) => findingItem(finding, frame))}${more(others.length - limit, links)}`,
      )
}
${
  hidden.length === 0
    ? ''
    : folded(
        `${plural(hidden.length, 'finding')} not shown on GitHub, because people mostly accept ${hidden.length === 1 ? 'its rule' : 'their rules'}`,
        html`${hidden.slice(0, limit).map((finding) => findingItem(finding, frame))}${more(hidden.length - limit, links)}`,
      )
}
${
  accepted.length === 0
    ? ''
    : html`${heading(level + 1, 'Accepted for this commit')}
${listOf(accepted, acceptedItem, frame)}`
}
${review.since ? html`<p>${capital(sinceWords(review.since))}.</p>` : ''}
${
  review.left_out.length === 0
    ? ''
    : folded(
        `${plural(review.left_out.length, 'file')} not reviewed`,
        listOf(
          review.left_out,
          ({ path, reason }) => html`<code>${said(path, 200)}</code>: ${prose(reason, 200)}`,
          frame,
        ),
      )
}
${listOf(review.notes ?? [], (note) => prose(note, 300), frame)}`,
  });
}

/** `12 files by oxlint 1.89.0 and review model in 4.2 s`. */
function how({ files_reviewed, analyzers }: ReviewVerdict, { durationMs }: CardFrame): Html {
  const names = analyzers.slice(0, 20).map(({ name, version, status, message }) => {
    const words = said(`${name} ${version}`, 80);
    return status === 'ok'
      ? words
      : html`${words} (${BROKEN[status]}${message ? `: ${said(message, 200)}` : ''})`;
  });
  const by =
    names.length === 0 ? '' : html` by ${names.map((name, at) => html`${at === 0 ? '' : ', '}${name}`)}`;
  return html`${plural(files_reviewed, 'file')}${by}${durationMs === undefined ? '' : ` in ${formatDuration(durationMs)}`}`;
}

const BROKEN = {
  crashed: 'crashed',
  timed_out: 'took too long',
  no_answer: 'gave no usable answer',
} as const;

function counts(findings: readonly Finding[]): Html {
  const categories = new Map<string, number>();
  for (const { category } of findings) categories.set(category, (categories.get(category) ?? 0) + 1);
  const byCount = [...categories].sort(([, a], [, b]) => b - a).slice(0, 30);
  return html`<ul class="counts" aria-label="Findings by severity">
${SEVERITIES.map((severity) => {
  const count = findings.filter((finding) => finding.severity === severity).length;
  return html`<li class="${count === 0 ? 'none' : severity}"><span aria-hidden="true">${SEVERITY_MARK[severity]}</span> <b>${count}</b> ${severity}</li>\n`;
})}</ul>
<p class="quiet">By category: ${byCount.map(([category, count], at) => `${at === 0 ? '' : ', '}${said(category, 50)} ${count}`)}.</p>`;
}

function acceptedItem({ finding, by, because }: Accepted): Html {
  return html`<b>${finding.severity}</b> ${said(placeInWords(finding), 200)}: ${prose(finding.description, 300)} <code>${findingId(finding)}</code>, accepted by ${said(by.login, 40)}: ${prose(because, 300)}`;
}

/** A finding with its place, evidence and fix. */
function findingItem(finding: Finding, { links }: Pick<CardFrame, 'links'>): Html {
  const { severity, category, description, suggestion, evidence, fix, rule } = finding;
  return html`<div class="finding ${severity}">
<p><span aria-hidden="true">${SEVERITY_MARK[severity]}</span> <b>${severity}</b> · ${said(category, 50)} · ${placeLink(links, finding)}</p>
<p>${prose(description, 2_000)}</p>
${evidence === undefined || evidence.trim() === '' ? '' : html`<pre><code>${said(evidence, 300)}</code></pre>`}
${suggestion === null || suggestion.trim() === '' ? '' : html`<p><b>${isBlocking(finding) ? 'Required fix' : 'Suggestion'}:</b> ${prose(suggestion, 2_000)}</p>`}
${fix === undefined ? '' : html`<p><b>Replace it by:</b></p><pre><code>${saidLines(fix)}</code></pre>`}
<p class="quiet">${said(rule, 200)} · <code>${findingId(finding)}</code></p>
</div>
`;
}
