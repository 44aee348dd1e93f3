import { html } from 'hono/html';
import { type Explanation, labelOf } from '../../domain/explanation/explanation.ts';
import type { Run } from '../../domain/run/run.ts';
import { evidenceUrl } from '../run/evidence.ts';
import { WHY_MARK } from '../text/pretty.ts';
import type { Html } from './layout.ts';
import { outwards, prose, said } from './untrusted.ts';

/** More than any tree of this app has. */
const MAX_DEPTH = 8;
const MAX_EVIDENCE = 5;

/** What a tree's evidence links to. */
export interface WhyAbout {
  githubUrl: string;
  run: Pick<Run, 'repository' | 'pullRequest'>;
}

/** The tree of criteria that the check run shows, too. */
export function whyTree(reasons: readonly Explanation[], about: WhyAbout, depth = 0): Html | '' {
  if (reasons.length === 0 || depth > MAX_DEPTH) return '';
  return html`<ul class="why">
${reasons.map(
  (reason) =>
    html`<li class="${reason.status}"><span aria-hidden="true">${WHY_MARK[reason.status]}</span> <span class="status">${reason.status}</span> ${prose(reason.summary, 500)}${evidenceOf(reason, about)}${whyTree(reason.reasons, about, depth + 1)}</li>\n`,
)}</ul>`;
}

function evidenceOf({ evidence }: Explanation, { githubUrl, run }: WhyAbout): Html | '' {
  if (evidence.length === 0) return '';
  const items = evidence
    .slice(0, MAX_EVIDENCE)
    .map((item) =>
      outwards(
        typeof item === 'string' ? null : evidenceUrl(item, run, { github: githubUrl }),
        said(labelOf(item), 200),
      ),
    );
  return html` <span class="evidence">(${items.map((item, at) => html`${at === 0 ? '' : ', '}${item}`)})</span>`;
}
