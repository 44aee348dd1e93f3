import { html } from 'hono/html';
import type { Severity } from '../../domain/outcome/finding.ts';
import { plural, SEVERITY_MARK } from '../text/pretty.ts';
import type { Html } from './layout.ts';
import { dataTable } from './parts.ts';
import { type AtHead, placeLink, prose, said } from './untrusted.ts';

/** What a file of results in the format SARIF says. */
export interface Reported {
  /** The worst first, at most so many as a table shows. */
  findings: readonly {
    severity: Severity;
    rule: string;
    file: string;
    line?: number | undefined;
    message: string;
  }[];
  count: number;
  /** Results that name no file of the repository. */
  nowhere: number;
}

/** The findings of a report, with links to their lines. */
export function reportedFindings({ findings, count, nowhere }: Reported, links: AtHead): Html {
  return html`<p>${count === 0 ? 'The report has no findings.' : `The report has ${plural(count, 'finding')}.`}${nowhere === 0 ? '' : ` ${plural(nowhere, 'result')} of it ${nowhere === 1 ? 'names' : 'name'} no file of the repository.`}</p>
${
  findings.length === 0
    ? ''
    : dataTable(
        ['Severity', 'Where', 'What', 'Rule'],
        findings.map(({ severity, rule, file, line, message }) => [
          html`<span aria-hidden="true">${SEVERITY_MARK[severity]}</span> ${severity}`,
          placeLink(links, { file, line }),
          prose(message, 500),
          html`<code>${said(rule, 100)}</code>`,
        ]),
      )
}${count > findings.length ? html`<p class="quiet">The first ${findings.length} are listed.</p>` : ''}`;
}
