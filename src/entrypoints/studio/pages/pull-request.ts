import { Hono } from 'hono';
import { merges } from '../../../domain/chain/chain.ts';
import { explain } from '../../../domain/run/explain.ts';
import { recordedOf, whyOthersDidNotRun } from '../../../engine/runs/why-no-run.ts';
import { type CurrentRun, pullRequestPage, pullRequestTitle } from '../../../messages/studio/pull-request.ts';
import { actingIn, answerPage, type Env, type StudioParts } from '../frame.ts';

/** The most runs of a pull request on its page, and of those whose reasons it shows. */
const LISTED = 100;
const EXPLAINED = 20;

/** The page of a pull request, at GitHub's own path. */
export function pullRequestPages(parts: StudioParts): Hono<Env> {
  const { storage, clock, githubUrl } = parts;
  const pages = new Hono<Env>();

  pages.get('/:owner/:repo/pull/:number{[1-9][0-9]{0,9}}', async (context) => {
    const { read } = storage;
    const { owner, repo, number } = context.req.param();
    const pullRequest = await read.overview.atAddress(`${owner}/${repo}`, Number(number));
    if (!pullRequest || !context.get('visible').has(pullRequest.repositoryId)) return context.notFound();
    const canonical = `/${pullRequest.repository}/pull/${pullRequest.number}`;
    if (context.req.path !== canonical) return context.redirect(canonical, 302);

    const now = clock.now();
    const of = { repositoryId: pullRequest.repositoryId, pullRequest: pullRequest.number };
    const lines = await read.overview.ofPullRequest({ ...of, number: of.pullRequest }, LISTED + 1);
    const runs = lines.slice(0, LISTED);
    const ids = newestOfHead(runs);
    const states = await read.runs.loadAll(ids);
    const approvals = await read.approvals.newestOf(ids);
    const current = ids
      .flatMap((id): CurrentRun[] => {
        const state = states.get(id);
        const approval = approvals.get(id) ?? null;
        return state ? [{ state, approval, why: explain(state, approval) }] : [];
      })
      .toSorted((a, b) => rank(a) - rank(b));
    const ran = new Set(current.map(({ state }) => state.run.chain));
    const others = whyOthersDidNotRun(undefined, ran, await recordedOf(read, of, now));
    const { title } = current[0]?.state.run.facts.trigger ?? {};
    const named = { ...pullRequest, title: pullRequest.title ?? (typeof title === 'string' ? title : null) };
    const main = pullRequestPage({
      pullRequest: named,
      current,
      runs,
      hasMore: lines.length > LISTED,
      others,
      acting: actingIn(context),
      githubUrl,
      now,
    });
    return answerPage(parts, context, { title: pullRequestTitle(named), main });
  });

  return pages;
}

/** The newest run of each chain for the newest head that has runs. */
function newestOfHead(runs: readonly { id: string; chain: string; headSha: string }[]): string[] {
  const [newest] = runs;
  const chains = new Set<string>();
  const ids: string[] = [];
  for (const { id, chain, headSha } of runs) {
    if (headSha !== newest?.headSha || chains.has(chain)) continue;
    chains.add(chain);
    ids.push(id);
  }
  return ids.slice(0, EXPLAINED);
}

/** What decides on the merge comes first, and of that what asks people. */
function rank({ state, approval }: CurrentRun): number {
  return (merges(state.run.definition) ? 0 : 2) + (approval?.status === 'open' ? 0 : 1);
}
