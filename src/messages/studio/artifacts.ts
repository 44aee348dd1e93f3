import { html } from 'hono/html';
import { unreachable } from '../../core/errors.ts';
import type { Artifact } from '../../domain/artifact/artifact.ts';
import { VERDICTS } from '../../domain/outcome/review-verdict.ts';
import type { Run } from '../../domain/run/run.ts';
import type { FoundArtifacts } from '../../ports/storage.ts';
import { VERDICT_WORDS } from '../text/pretty.ts';
import { card } from './cards/card.ts';
import { passedLabel } from './cards/frame.ts';
import { jsonViewer } from './cards/json.ts';
import type { Html } from './layout.ts';
import { logLines } from './log.ts';
import { address, filterForm, nextPage, time } from './parts.ts';
import { type Reported, reportedFindings } from './reported.ts';
import { type AtHead, said, saidLines } from './untrusted.ts';

/** What a list of artifacts is limited to, as its address says. */
export interface ArtifactQuery {
  kind?: string | undefined;
  verdict?: string | undefined;
  failed?: string | undefined;
  since?: string | undefined;
  repository?: string | undefined;
  text?: string | undefined;
}

const PERIODS = [
  ['', 'at any time'],
  ['1d', 'in the last day'],
  ['7d', 'in the last 7 days'],
  ['30d', 'in the last 30 days'],
  ['90d', 'in the last 90 days'],
] as const;

/** Artifacts by run, those of the newest run first. */
export function artifactListPage({
  found,
  query,
  next,
  now,
}: {
  found: FoundArtifacts;
  query: ArtifactQuery;
  next: string | undefined;
  now: Date;
}): Html {
  const failedReviews = address('/artifacts', { kind: 'review_verdict', failed: '1', since: '7d' });
  return html`<h1>Artifacts</h1>
${filters(query)}
<p><a href="${failedReviews}">Reviews that did not pass this week</a></p>
${
  found.runs.length === 0
    ? html`<p class="empty">${next === undefined ? nothing(query) : 'None among the runs searched so far.'}</p>`
    : found.runs.map(ofRun)
}
${nextPage(next && address('/artifacts', { ...query, after: next }))}
<p class="quiet">As of ${time(now)}.</p>`;
}

function nothing(query: ArtifactQuery): string {
  return Object.values(query).some((value) => value !== undefined && value !== '')
    ? 'No artifact fits these filters.'
    : 'No artifacts yet. Steps leave them: the results of reviews and CI, logs and files.';
}

function ofRun({ run, artifacts, hasMore, isDamaged }: FoundArtifacts['runs'][number]): Html {
  return html`<section><h2><a href="/runs/${run.id}">${said(run.chain, 100)}</a> <small>${run.repository}${run.pullRequest === null ? '' : html` <a href="/${run.repository}/pull/${run.pullRequest}">#${run.pullRequest}</a>`} · ${time(run.createdAt)}</small></h2>
${isDamaged ? html`<p>The archive of this run is damaged and cannot be read.</p>` : ''}
<ul class="artifacts">
${artifacts.map(
  ({ id, kind, name, passed, verdict }) =>
    html`<li><a href="/artifacts/${id}">${said(name, 200)}</a> <span class="quiet">${said(kind, 100)}</span> ${passed === undefined ? '' : passedLabel(passed)}${verdict ? html` ${VERDICT_WORDS[verdict]}` : ''}</li>\n`,
)}</ul>
${hasMore ? html`<p><a href="/runs/${run.id}">The run has more</a></p>` : ''}</section>`;
}

function filters({
  kind = '',
  verdict = '',
  failed = '',
  since = '',
  repository = '',
  text = '',
}: ArtifactQuery): Html {
  return filterForm('/artifacts', [
    { kind: 'search', name: 'text', label: 'Name, chain or number', value: text },
    { kind: 'text', name: 'kind', label: 'Kind', value: kind },
    {
      kind: 'choice',
      name: 'verdict',
      label: 'Verdict',
      value: verdict,
      choices: [['', 'any'], ...VERDICTS.map((one) => [one, VERDICT_WORDS[one]] as const)],
    },
    {
      kind: 'choice',
      name: 'failed',
      label: 'Result',
      value: failed,
      choices: [
        ['', 'any'],
        ['1', 'not passed'],
      ],
    },
    { kind: 'choice', name: 'since', label: 'Run begun', value: since, choices: PERIODS },
    { kind: 'text', name: 'repository', label: 'Repository', value: repository },
  ]);
}

/** The content of a file as far as it is shown. */
export type ShownFile =
  | { kind: 'text'; text: string; isCut: boolean }
  | { kind: 'markdown'; shown: Html }
  | { kind: 'json'; value: unknown }
  | { kind: 'sarif'; report: Reported }
  | { kind: 'image' }
  | { kind: 'other' }
  /** It was deleted, or cannot be read. */
  | { kind: 'gone'; because: string };

export const BLOB_GONE = 'It is no longer in the store of artifacts.';
export const BLOB_DAMAGED = 'It is damaged: what is stored is not what was written.';
export const NO_DOWNLOAD = 'No download';
export const STORE_UNAVAILABLE = 'The store of artifacts does not answer. The server’s log says why.';

/** One artifact: an outcome as a card, or a file. */
export function artifactPage({
  artifact,
  run,
  githubUrl,
  file,
  size,
}: {
  artifact: Artifact;
  run: Run;
  githubUrl: string;
  /** Of a file. */
  file?: ShownFile;
  size?: number | undefined;
}): Html {
  const { repository, headSha } = run;
  return html`<h1>${said(artifact.name, 200)} <small>${said(artifact.kind, 100)}</small></h1>
<dl class="facts">
<dt>Run</dt><dd><a href="/runs/${run.id}">${said(run.chain, 100)}</a> of ${repository}${run.pullRequest === null ? '' : html` <a href="/${repository}/pull/${run.pullRequest}">#${run.pullRequest}</a>`}</dd>
<dt>Made</dt><dd>${time(artifact.createdAt)}</dd>
${size === undefined ? '' : html`<dt>Size</dt><dd>${size} bytes</dd>`}
</dl>
${
  artifact.content === null
    ? shownFile(artifact, file ?? { kind: 'other' }, { githubUrl, repository, headSha })
    : card(artifact.kind, JSON.parse(artifact.content), {
        links: { githubUrl, repository, headSha },
        limit: 500,
        level: 2,
      })
}`;
}

function shownFile(
  { id, kind, name }: Pick<Artifact, 'id' | 'kind' | 'name'>,
  file: ShownFile,
  links: AtHead,
): Html {
  const download = html`<p><a href="/artifacts/${id}/download">Download</a></p>`;
  switch (file.kind) {
    case 'gone':
      return html`<p>${file.because}</p>`;
    case 'other':
      return html`<p>This file is not text, so it is only offered for download.</p>${download}`;
    case 'image':
      return html`${download}
<p><img class="artifact" src="/artifacts/${id}/image" alt="${said(name, 200)}"></p>`;
    case 'markdown':
      return html`${download}
${file.shown}`;
    case 'json':
      return html`${download}
${jsonViewer(file.value)}`;
    case 'sarif':
      return html`${download}
${reportedFindings(file.report, links)}`;
    case 'text':
      return html`${download}
${file.isCut ? html`<p>Only the beginning is shown.</p>` : ''}
<pre tabindex="0" role="group" aria-label="Content">${kind === 'log' ? logLines(file.text) : saidLines(file.text)}</pre>`;
    default:
      return unreachable(file);
  }
}
