import { inOrder, totalsOf } from '../../domain/run/report.ts';
import { readReport } from '../../engine/runs/read-report.ts';
import { reportText } from '../../messages/cli/report.ts';
import { reportJson } from '../../messages/cli/report-json.ts';
import { Visible } from '../../ports/visible.ts';
import type { Context, DatabaseOption, Output } from './context.ts';
import type { Since } from './options.ts';

export interface ReportOptions extends DatabaseOption {
  organisation?: string;
  repo?: string;
  since: Since;
}

/** How each repository fares, with what needs attention first. */
export function report(
  { clock, tools }: Context,
  { organisation, repo: repository, since, database }: ReportOptions,
): Promise<Output> {
  const now = clock.now();
  const from = 'at' in since ? since.at : new Date(now.getTime() - since.agoMs);
  return tools.withDatabase(database, 'read', async ({ read }) => {
    const found = await readReport(read, {
      visible: Visible.everything(),
      owner: organisation,
      repository,
      since: from,
    });
    const reports = inOrder(found.reports, 'attention');
    const totals = totalsOf(found.reports, found.figures);
    const isFiltered = organisation !== undefined || repository !== undefined;
    return {
      text: (screen) => reportText(reports, totals, { since: from, now, isFiltered }, screen),
      json: { since: from.toISOString(), repositories: reports.map(reportJson) },
    };
  });
}
