import { Hono } from 'hono';
import { explain } from '../../../domain/run/explain.ts';
import { runListPage, runPage } from '../../../messages/studio/run.ts';
import { answerPage, type Env, type StudioParts } from '../frame.ts';

/** The pages of runs. */
export function runPages(parts: StudioParts): Hono<Env> {
  const { storage, clock } = parts;
  const pages = new Hono<Env>();

  pages.get('/runs', async (context) => {
    const { ids } = context.get('visible');
    const runs = await storage.read.runs.list({ limit: 50, ...(ids && { repositoryIds: ids }) });
    return answerPage(parts, context, { title: 'Runs', main: runListPage(runs, clock.now()) });
  });

  pages.get('/runs/:id', async (context) => {
    const state = await storage.read.runs.load(context.req.param('id'));
    if (!state || !context.get('visible').has(state.run.repositoryId)) return context.notFound();
    const approval = (await storage.read.approvals.ofRun(state.run.id)).at(-1) ?? null;
    const { run } = state;
    return answerPage(parts, context, {
      title: `${run.chain} · ${run.repository}${run.pullRequest === null ? '' : ` #${run.pullRequest}`}`,
      main: runPage({ state, why: explain(state, approval), githubUrl: parts.githubUrl }),
    });
  });

  return pages;
}
