import { z } from 'zod';
import type { EffectOf } from '../../domain/effect/effect.ts';
import { GitHubError, type Released, type Repo } from '../../ports/github.ts';
import type { Client } from './client.ts';
import { isAbsent, RequestFailure } from './failure.ts';

const ROUTE = 'POST /repos/{owner}/{repo}/releases';

/**
 * Makes a release once. GitHub finds a release by its tag only after it is published, so drafts are looked for in the list, which is
 * newest first: https://docs.github.com/en/rest/releases/releases#get-a-release-by-tag-name
 */
export async function release(
  client: Client,
  repo: Repo,
  { tag, sha, name, body, draft, prerelease }: EffectOf<'release'>,
): Promise<Released> {
  const at = { owner: repo.owner, repo: repo.name };
  const found = (await published()) ?? (await listed());
  if (found) return { result: 'found', id: found.id, url: found.url };
  // GitHub would ignore the commit and release whatever the tag names.
  const tagged = await taggedCommit();
  if (tagged !== undefined && tagged !== sha)
    throw new GitHubError('invalid', 0, `The tag ${tag} exists already, for another commit.`);
  try {
    const created = await client.request(
      ROUTE,
      { ...at, tag_name: tag, target_commitish: sha, name, body, draft, prerelease },
      releaseSchema,
    );
    return { result: 'released', id: created.id, url: created.url };
  } catch (error) {
    // https://docs.github.com/en/rest/releases/releases#create-a-release
    if (error instanceof RequestFailure && error.status === 404)
      throw new GitHubError('invalid', 404, `${ROUTE}: ${NOT_ALLOWED}`);
    throw error;
  }

  async function published() {
    const route = 'GET /repos/{owner}/{repo}/releases/tags/{tag}';
    return ifThere(client.request(route, { ...at, tag }, releaseSchema));
  }

  async function listed() {
    const route = 'GET /repos/{owner}/{repo}/releases';
    const releases = await client.request(route, { ...at, per_page: 100 }, z.array(releaseSchema));
    return releases.find((one) => one.tag === tag);
  }

  /** An annotated tag is an object of its own, which is not the commit. */
  async function taggedCommit(): Promise<string | undefined> {
    const route = 'GET /repos/{owner}/{repo}/git/ref/{ref}';
    return (await ifThere(client.request(route, { ...at, ref: `tags/${tag}` }, refSchema)))?.object.sha;
  }
}

const NOT_ALLOWED =
  'GitHub does not find the repository, or refuses because the commit changes workflows, which this app may not do.';

async function ifThere<T>(answer: Promise<T>): Promise<T | undefined> {
  try {
    return await answer;
  } catch (error) {
    if (isAbsent(error)) return undefined;
    throw error;
  }
}

const refSchema = z.object({ object: z.object({ sha: z.string() }) });
const releaseSchema = z
  .object({ id: z.int(), tag_name: z.string(), html_url: z.string() })
  .transform(({ id, tag_name: tag, html_url: url }) => ({ id, tag, url }));
