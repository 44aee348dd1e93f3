import { Hono } from 'hono';
import { sum } from '../../../core/sum.ts';
import { hiddenRules } from '../../../domain/outcome/learned.ts';
import { atShare, type Bucket, type Figure } from '../../../domain/run/figures.ts';
import { type InsightPage, insightPage, type Spread } from '../../../messages/studio/insight.ts';
import type { Insight } from '../../../ports/insight.ts';
import { answerPage, type Env, type StudioParts } from '../frame.ts';
import { FIGURES_COUNT, periodOf } from '../period.ts';
import { remembered } from '../remembered.ts';

/** The most rows of a plot. */
const SHOWN = 20;
const REPOSITORIES = 500;
/** For how many choices of repositories and period figures are kept. */
const KEPT = 20;
const SHOWN_FIGURES = [
  'waited',
  'countersigned',
  'rejected',
  'fixed',
  'dismissed',
] as const satisfies readonly Figure['what'][];
/** The most rules of the last table. */
const HIDDEN_SHOWN = 100;

interface FiguresOfPeriod {
  leads: Awaited<ReturnType<Insight['leadTimes']>>;
  totals: Awaited<ReturnType<Insight['totals']>>;
}

/** Figures over a period. */
export function insightPages(parts: StudioParts): Hono<Env> {
  const { storage, clock } = parts;
  const pages = new Hono<Env>();
  const figures = remembered<string, FiguresOfPeriod>(clock, { ...FIGURES_COUNT, most: KEPT });

  pages.get('/insight', async (context) => {
    const { insight } = storage.read;
    const visible = context.get('visible');
    const { days: period, since } = periodOf(context.req.query('days'), clock.now());
    const repositories = await insight.repositories(visible, REPOSITORIES);
    const chosen = repositories.find(({ id }) => String(id) === context.req.query('repository'));
    const filter = {
      visible,
      since,
      ...(chosen && { repositoryId: chosen.id }),
    };
    const key = JSON.stringify([visible.ids, chosen?.id, period]);
    const { leads, totals } = await figures.get(key, async () => ({
      leads: await insight.leadTimes(filter),
      totals: await insight.totals({ ...filter, kinds: SHOWN_FIGURES }),
    }));
    const of = (what: (typeof SHOWN_FIGURES)[number]) => totals.filter((row) => row.what === what);
    const byName = (what: (typeof SHOWN_FIGURES)[number]) =>
      of(what)
        .map(({ name, count }) => ({ name, value: count }))
        .toSorted((a, b) => b.value - a.value)
        .slice(0, SHOWN);
    const names = new Map(repositories.map(({ id, name }) => [id, name]));
    const histories = await storage.read.acceptedFindings.history(chosen ? { repositoryId: chosen.id } : {});
    const days = Map.groupBy(leads, ({ day }) => day);
    const page: InsightPage = {
      period,
      now: clock.now(),
      repository: chosen ? String(chosen.id) : '',
      repositories,
      lead: spreadOf(leads),
      leadByDay: [...days]
        .map(([name, rows]) => ({ name, value: spreadOf(rows)?.median ?? 0 }))
        .toSorted((a, b) => (a.name < b.name ? -1 : 1)),
      waited: [...Map.groupBy(of('waited'), ({ name }) => name)]
        .flatMap(([step, rows]) => {
          const spread = spreadOf(rows);
          return spread ? [{ step, spread, total: sum(rows.map(({ total }) => total)) }] : [];
        })
        .toSorted((a, b) => b.total - a.total)
        .slice(0, SHOWN),
      countersigned: byName('countersigned'),
      rejected: byName('rejected'),
      fixed: sum(of('fixed').map(({ count }) => count)),
      dismissed: sum(of('dismissed').map(({ count }) => count)),
      notShown: hiddenRules(histories.filter(({ repositoryId }) => visible.has(repositoryId)))
        .flatMap((rule) => {
          const repository = names.get(rule.repositoryId);
          return repository === undefined ? [] : [{ ...rule, repository }];
        })
        .slice(0, HIDDEN_SHOWN),
    };
    return answerPage(parts, context, { title: 'Insight', main: insightPage(page) });
  });

  return pages;
}

function spreadOf(rows: readonly Bucket[]): Spread | undefined {
  const [median, p95] = [atShare(rows, 0.5), atShare(rows, 0.95)];
  const count = sum(rows.map((row) => row.count));
  return median === undefined || p95 === undefined ? undefined : { count, median, p95 };
}
