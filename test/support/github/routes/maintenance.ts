import { z } from 'zod';
import { ApiError, invalid, notFound } from '../api-error.ts';
import { ancestorsOf } from '../git/history.ts';
import { mergeCommits } from '../git/merge.ts';
import { deleteBranch, moveBranch, writeCommit } from '../operations/branches.ts';
import { setIssueState } from '../operations/issues.ts';
import { editPullRequest, proposeMerge, reopenPullRequest } from '../operations/pulls.ts';
import { json, numberIn, type Router } from '../router.ts';
import { nodeId } from '../views/account.ts';
import { viewFullPull } from '../views/pull.ts';
import type { Ruleset } from '../world.ts';
import { parse } from './input.ts';
import { pullIn } from './pulls.ts';

const NewRef = z.object({ ref: z.string().startsWith('refs/heads/'), sha: z.string() });
const NewCommit = z.object({
  tree: z.string(),
  parents: z.array(z.string()).default([]),
  message: z.string(),
  author: z.object({ name: z.string(), email: z.string(), date: z.coerce.date().optional() }).optional(),
});
const NewTree = z.object({
  base_tree: z.string(),
  tree: z.array(
    z.object({ path: z.string(), mode: z.literal('100644'), type: z.literal('blob'), content: z.string() }),
  ),
});
const NewMerge = z.object({ base: z.string(), head: z.string(), commit_message: z.string().optional() });
const NewFile = z.object({
  message: z.string(),
  content: z.base64(),
  branch: z.string().optional(),
  sha: z.string().optional(),
});
const NewPull = z.object({
  title: z.string(),
  head: z.string(),
  base: z.string(),
  body: z.string().optional(),
  draft: z.boolean().optional(),
});
const PullEdit = z.object({
  title: z.string().optional(),
  body: z.string().nullish(),
  base: z.string().optional(),
  state: z.enum(['open', 'closed']).optional(),
});
const NewRuleset = z.object({
  name: z.string(),
  target: z.literal('branch').default('branch'),
  enforcement: z.literal('active'),
  conditions: z.object({
    ref_name: z.object({ include: z.array(z.string()), exclude: z.array(z.string()) }),
  }),
  rules: z.array(
    z.discriminatedUnion('type', [
      z.object({
        type: z.literal('required_status_checks'),
        parameters: z.object({
          strict_required_status_checks_policy: z.boolean(),
          required_status_checks: z.array(
            z.object({ context: z.string(), integration_id: z.int().optional() }),
          ),
        }),
      }),
      z.object({
        type: z.literal('pull_request'),
        parameters: z.object({
          required_approving_review_count: z.int().min(0).max(10),
          required_review_thread_resolution: z.boolean(),
        }),
      }),
      z.object({ type: z.enum(['deletion', 'non_fast_forward']) }),
    ]),
  ),
});

/**
 * What maintainers of a repository do through the API: branches, files, pull requests, rulesets. The conformance suite does it, here as
 * on GitHub, and the app for backports.
 */
export function maintenanceRoutes(router: Router): void {
  branchRoutes(router);
  pullRequestRoutes(router);
  rulesetRoutes(router);
}

function branchRoutes(router: Router): void {
  router.repository('POST', '/git/refs', 'contents:write', (call) => {
    const { state, repository } = call;
    const { ref, sha } = parse(NewRef, call.body);
    const branch = ref.slice('refs/heads/'.length);
    if (repository.branches.has(branch)) throw new ApiError(422, 'Reference already exists');
    if (!repository.git.commit(sha)) throw new ApiError(422, 'Object does not exist');
    moveBranch(state, repository, branch, sha, state.app.bot);
    return json({ ref, node_id: nodeId('Ref', ref), object: { sha, type: 'commit' } }, 201);
  });

  // https://docs.github.com/en/rest/git/commits#create-a-commit
  router.repository('POST', '/git/commits', 'contents:write', ({ state, repository, body }) => {
    const { tree, parents, message, author } = parse(NewCommit, body);
    const { git } = repository;
    const files = git.filesOf(tree);
    if (!files) throw new ApiError(422, 'Tree SHA does not exist');
    if (!parents.every((sha) => git.commit(sha)))
      throw new ApiError(422, 'Parent SHA does not exist or is not a commit object');
    const written = author ? { ...author, date: author.date ?? state.now() } : state.signature(state.app.bot);
    const commit = git.writeCommit({ parents, message, author: written, committer: written, files });
    return json({ sha: commit.sha, message, tree: { sha: commit.tree } }, 201);
  });

  // https://docs.github.com/en/rest/git/trees#create-a-tree
  router.repository('POST', '/git/trees', 'contents:write', ({ repository, body }) => {
    const { base_tree: base, tree } = parse(NewTree, body);
    const { git } = repository;
    const files = git.filesOf(base);
    if (!files) throw notFound();
    const sha = git.writeTree(
      git.writeFiles(files, Object.fromEntries(tree.map(({ path, content }) => [path, content]))),
    );
    return json({ sha, tree: [], truncated: false }, 201);
  });

  // https://docs.github.com/en/rest/branches/branches#merge-a-branch
  router.repository('POST', '/merges', 'contents:write', ({ state, repository, body }) => {
    const { base, head, commit_message } = parse(NewMerge, body);
    const { git } = repository;
    const tip = repository.branches.get(base);
    if (tip === undefined) throw new ApiError(404, 'Base does not exist');
    const from = state.resolve(repository, head);
    if (!from) throw new ApiError(404, 'Head does not exist');
    if (ancestorsOf(git, tip).has(from.sha)) return { status: 204 };
    const files = mergeCommits(git, tip, from.sha);
    if (!files) throw new ApiError(409, 'Merge conflict');
    const by = state.signature(state.app.bot);
    const message = commit_message ?? `Merge ${head} into ${base}`;
    const commit = git.writeCommit({ parents: [tip, from.sha], message, author: by, committer: by, files });
    moveBranch(state, repository, base, commit.sha, state.app.bot);
    return json(
      {
        sha: commit.sha,
        parents: [{ sha: tip }, { sha: from.sha }],
        commit: { message, tree: { sha: commit.tree } },
      },
      201,
    );
  });

  router.repository('GET', '/git/matching-refs/*ref', 'contents:read', ({ repository, params }) => {
    const start = (params.ref ?? '').replace(/^heads\//, '');
    const found = [...repository.branches].filter(([name]) => name.startsWith(start));
    return json(found.map(([name, sha]) => ({ ref: `refs/heads/${name}`, object: { sha, type: 'commit' } })));
  });

  router.repository('DELETE', '/git/refs/*ref', 'contents:write', ({ state, repository, params }) => {
    const branch = (params.ref ?? '').replace(/^heads\//, '');
    if (!repository.branches.has(branch)) throw new ApiError(422, 'Reference does not exist');
    deleteBranch(state, repository, branch, state.app.bot);
    return { status: 204 };
  });

  router.repository('PUT', '/contents/*path', 'contents:write', (call) => {
    const { state, repository } = call;
    const input = parse(NewFile, call.body);
    const path = call.params.path ?? '';
    const branch = input.branch ?? repository.defaultBranch;
    const tip = repository.branches.get(branch);
    if (tip === undefined) throw new ApiError(404, `Branch ${branch} not found`);
    const known = repository.git.commitAt(tip).files.get(path);
    if (known && input.sha === undefined)
      throw new ApiError(422, 'Invalid request.\n\n"sha" wasn\'t supplied.');
    if (known && known.sha !== input.sha) throw new ApiError(409, `${path} does not match ${input.sha}`);
    const commit = writeCommit(state, {
      repository,
      parent: tip,
      author: state.app.bot,
      message: input.message,
      files: { [path]: Buffer.from(input.content, 'base64') },
    });
    moveBranch(state, repository, branch, commit.sha, state.app.bot);
    return json({ content: { path }, commit: { sha: commit.sha } }, known ? 200 : 201);
  });
}

function pullRequestRoutes(router: Router): void {
  router.repository('POST', '/pulls', 'pull_requests:write', ({ state, repository, body }) => {
    const input = parse(NewPull, body);
    const [head, base] = [input.head, input.base].map((name) => repository.branches.get(name));
    if (head === undefined) throw invalid('PullRequest', 'head', 'head is invalid');
    if (base === undefined) throw invalid('PullRequest', 'base', 'base is invalid');
    const pr = proposeMerge(state, repository, {
      author: state.app.bot,
      title: input.title,
      body: input.body,
      draft: input.draft,
      head: { repository, ref: input.head, sha: head },
      base: { ref: input.base, sha: base },
    });
    return json(viewFullPull(state, pr), 201);
  });

  router.repository('PATCH', '/pulls/:number', 'pull_requests:write', (call) => {
    const { state } = call;
    const pr = pullIn(call);
    const { state: wanted, ...edit } = parse(PullEdit, call.body);
    editPullRequest(state, pr, state.app.bot, edit);
    if (wanted === 'closed') setIssueState(state, pr, state.app.bot, 'closed');
    if (wanted === 'open' && pr.state === 'closed') reopenPullRequest(state, pr, state.app.bot);
    return json(viewFullPull(state, pr));
  });
}

function rulesetRoutes(router: Router): void {
  router.repository('GET', '/rulesets', 'metadata:read', ({ repository }) =>
    json(repository.rulesets.map(viewRuleset)),
  );

  router.repository('POST', '/rulesets', 'administration:write', ({ state, repository, body }) => {
    const input = parse(NewRuleset, body);
    const parameters = input.rules.flatMap((rule) =>
      rule.type === 'required_status_checks' ? [rule.parameters] : [],
    );
    const requirements = input.rules.flatMap((rule) =>
      rule.type === 'pull_request' ? [rule.parameters] : [],
    );
    const ruleset: Ruleset = {
      id: state.nextId('ruleset'),
      name: input.name,
      branches: input.conditions.ref_name.include.map((pattern) => pattern.replace(/^refs\/heads\//, '')),
      checks: parameters
        .flatMap((one) => one.required_status_checks)
        .map(({ context, integration_id }) => ({ context, appId: integration_id ?? null })),
      strict: parameters.some((one) => one.strict_required_status_checks_policy),
      approvals: Math.max(0, ...requirements.map((one) => one.required_approving_review_count)),
      conversations: requirements.some((one) => one.required_review_thread_resolution),
      bypass: [],
      restrict: input.rules.some((rule) => rule.type === 'deletion') ? ['deletions'] : [],
      mergeQueue: undefined,
    };
    repository.rulesets.push(ruleset);
    return json(viewRuleset(ruleset), 201);
  });

  router.repository('DELETE', '/rulesets/:id', 'administration:write', (call) => {
    const { rulesets } = call.repository;
    const index = rulesets.findIndex(({ id }) => id === numberIn(call, 'id'));
    if (index < 0) throw notFound();
    rulesets.splice(index, 1);
    return { status: 204 };
  });
}

function viewRuleset({ id, name }: Ruleset) {
  return { id, name, target: 'branch', source_type: 'Repository', enforcement: 'active' };
}
