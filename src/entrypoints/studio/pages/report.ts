import { Hono } from 'hono';
import { inOrder, REPORT_ORDERS, type RepositoryReport, totalsOf } from '../../../domain/run/report.ts';
import { type ReportSources, readReport } from '../../../engine/runs/read-report.ts';
import { reportPage } from '../../../messages/studio/report.ts';
import type { Insight } from '../../../ports/insight.ts';
import { answerPage, type Env, type StudioParts } from '../frame.ts';
import { FIGURES_COUNT, periodOf } from '../period.ts';
import { remembered } from '../remembered.ts';

/** How many repositories are on a page. */
const PAGE = 100;
const MAX_TEXT = 100;

/** For how many sets of repositories and periods figures are kept, while people sort and search. Those of 500 repositories can take 15 MB. */
const KEPT = 4;

/** How each repository fares. */
export function reportPages(parts: StudioParts): Hono<Env> {
  const { storage, clock, githubUrl } = parts;
  const pages = new Hono<Env>();
  const figures = remembered<string, Awaited<ReturnType<Insight['ofRepositories']>>>(clock, {
    ...FIGURES_COUNT,
    most: KEPT,
  });

  pages.get('/report', async (context) => {
    const now = clock.now();
    const { repositoryStates, insight } = storage.read;
    const { days: period, since } = periodOf(context.req.query('days'), now);
    const order = REPORT_ORDERS.find((one) => one === context.req.query('order')) ?? 'attention';
    const text = (context.req.query('text') ?? '').slice(0, MAX_TEXT).trim();
    const read: ReportSources = {
      repositoryStates,
      insight: {
        waitingIn: insight.waitingIn,
        ofRepositories: (filter) =>
          figures.get(JSON.stringify([filter.visible.ids, filter.ids, period]), () =>
            insight.ofRepositories(filter),
          ),
      },
    };
    const { reports: all, figures: counted } = await readReport(read, {
      visible: context.get('visible'),
      since,
    });
    const owners = [...new Set(all.map(ownerOf))].toSorted();
    const owner = owners.find((one) => one === context.req.query('organisation')) ?? '';
    const chosen = all.filter(
      (report) =>
        (owner === '' || ownerOf(report) === owner) &&
        report.repository.toLowerCase().includes(text.toLowerCase()),
    );
    const number = Math.max(1, Number(/^\d{1,4}$/.exec(context.req.query('page') ?? '')?.[0] ?? 1));
    const main = reportPage({
      period,
      now,
      order,
      owner,
      owners,
      text,
      totals: totalsOf(chosen, counted),
      reports: inOrder(chosen, order).slice((number - 1) * PAGE, number * PAGE),
      number,
      isLast: number * PAGE >= chosen.length,
      githubUrl,
    });
    return answerPage(parts, context, { title: 'Report', main });
  });

  return pages;
}

function ownerOf({ repository }: RepositoryReport): string {
  return repository.slice(0, repository.indexOf('/'));
}
