import { z } from 'zod';
import { ApiError, notFound } from '../api-error.ts';
import { emit } from '../operations/emit.ts';
import { paginate } from '../pages.ts';
import { json, type RepositoryCall, type Router } from '../router.ts';
import { viewAccount } from '../views/account.ts';
import { pageUrl } from '../views/repository.ts';
import type { Release } from '../world.ts';
import { pathOf } from './git.ts';
import { parse } from './input.ts';

const NewRelease = z.object({
  tag_name: z.string(),
  target_commitish: z.string().optional(),
  name: z.string().optional(),
  body: z.string().optional(),
  draft: z.boolean().default(false),
  prerelease: z.boolean().default(false),
});

/** Releases: https://docs.github.com/en/rest/releases/releases */
export function releaseRoutes(router: Router): void {
  router.repository('GET', '/releases', 'contents:read', (call) =>
    paginate(call, pathOf(call, '/releases'), call.repository.releases.toReversed(), (one) =>
      view(call, one),
    ),
  );

  // Before a draft is published, its tag does not find it.
  router.repository('GET', '/releases/tags/*tag', 'contents:read', (call) => {
    const found = call.repository.releases.find(({ tag, draft }) => tag === call.params.tag && !draft);
    if (!found) throw notFound();
    return json(view(call, found));
  });

  router.repository('POST', '/releases', 'contents:write', (call) => {
    const { state, repository } = call;
    const input = parse(NewRelease, call.body);
    const { tag_name: tag, draft, prerelease } = input;
    if (repository.releases.some((one) => one.tag === tag && !one.draft))
      throw new ApiError(422, 'Validation Failed', [
        { resource: 'Release', code: 'already_exists', field: 'tag_name' },
      ]);
    const target = input.target_commitish ?? repository.defaultBranch;
    const commit = state.resolve(repository, target);
    if (!commit) throw new ApiError(422, 'Validation Failed');
    const release: Release = {
      id: repository.releases.length + 1,
      tag,
      name: input.name ?? tag,
      body: input.body ?? '',
      draft,
      prerelease,
      target,
    };
    repository.releases.push(release);
    if (!draft) {
      if (!repository.tags.has(tag)) repository.tags.set(tag, commit.sha);
      const sender = state.app.bot;
      emit(state, { repository, sender }, 'release', { action: 'published', release: view(call, release) });
    }
    return json(view(call, release), 201);
  });
}

function view({ state, repository }: RepositoryCall, release: Release) {
  const { id, tag, name, body, draft, prerelease, target } = release;
  return {
    id,
    tag_name: tag,
    target_commitish: target,
    name,
    body,
    draft,
    prerelease,
    author: viewAccount(state, state.app.bot),
    html_url: `${pageUrl(state, repository)}/releases/${draft ? 'untagged' : 'tag'}/${tag}`,
  };
}
