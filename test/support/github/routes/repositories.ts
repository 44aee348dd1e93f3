import { notFound } from '../api-error.ts';
import { allows } from '../auth.ts';
import { paginate } from '../pages.ts';
import { json, type Router } from '../router.ts';
import { rulesetsOf } from '../rules/requirements.ts';
import { viewCommit } from '../views/commit.ts';
import { repositoryUrl, viewFullRepository } from '../views/repository.ts';
import type { Protection, Repository, Ruleset } from '../world.ts';
import { fullName } from '../world.ts';
import { pathOf } from './git.ts';

/** The repository itself and its branches with their protection. */
export function repositoryRoutes(router: Router): void {
  // The merge settings: https://github.com/integrations/terraform-provider-github/pull/1727
  router.repository('GET', '', 'metadata:read', ({ state, repository, token }) =>
    json(viewFullRepository(state, repository, allows(token.permissions, 'contents', 'write'))),
  );

  router.repository('GET', '/branches/*branch', 'contents:read', ({ state, repository, params }) => {
    const name = params.branch ?? '';
    const sha = repository.branches.get(name);
    if (sha === undefined) throw notFound();
    const protection = repository.protections.get(name);
    const checks = protection?.checks ?? [];
    const url = `${repositoryUrl(state, repository)}/branches/${encodeURIComponent(name)}`;
    return json({
      name,
      commit: viewCommit(state, repository, repository.git.commitAt(sha)),
      _links: { self: url, html: url },
      // Any ruleset makes a branch protected, but only its own protection is shown: hub4j/github-api#2062.
      protected: protection !== undefined || rulesetsOf(repository, name).length > 0,
      protection: {
        enabled: protection !== undefined,
        required_status_checks: {
          enforcement_level: enforcementOf(protection),
          contexts: checks.map(({ context }) => context),
          checks: checks.map(({ context, appId }) => ({ context, app_id: appId })),
        },
      },
      protection_url: `${url}/protection`,
    });
  });

  router.repository('GET', '/rules/branches/*branch', 'metadata:read', (call) => {
    const { repository, params } = call;
    const branch = params.branch ?? '';
    const rules = rulesetsOf(repository, branch).flatMap((ruleset) => viewRules(repository, ruleset));
    return paginate(call, pathOf(call, `/rules/branches/${branch}`), rules, (rule) => rule);
  });
}

function enforcementOf(protection: Protection | undefined): 'off' | 'non_admins' | 'everyone' {
  if (!protection || protection.checks.length === 0) return 'off';
  return protection.enforceAdmins ? 'everyone' : 'non_admins';
}

const RULE_OF = { creations: 'creation', updates: 'update', deletions: 'deletion' } as const;

/** https://docs.github.com/en/rest/repos/rules#get-rules-for-a-branch */
function viewRules(repository: Repository, ruleset: Ruleset): object[] {
  const { id, checks, strict, approvals, conversations, mergeQueue, restrict } = ruleset;
  const source = { ruleset_source_type: 'Repository', ruleset_source: fullName(repository), ruleset_id: id };
  const required = {
    type: 'required_status_checks',
    parameters: {
      strict_required_status_checks_policy: strict,
      do_not_enforce_on_create: false,
      required_status_checks: checks.map(({ context, appId }) => ({
        context,
        ...(appId === null ? {} : { integration_id: appId }),
      })),
    },
    ...source,
  };
  const reviewed = {
    type: 'pull_request',
    parameters: {
      required_approving_review_count: approvals,
      dismiss_stale_reviews_on_push: false,
      require_code_owner_review: false,
      require_last_push_approval: false,
      required_review_thread_resolution: conversations,
    },
    ...source,
  };
  const queued = mergeQueue && {
    type: 'merge_queue',
    parameters: {
      check_response_timeout_minutes: mergeQueue.checkResponseTimeoutMinutes,
      grouping_strategy: mergeQueue.groupingStrategy,
      max_entries_to_build: mergeQueue.maxEntriesToBuild,
      max_entries_to_merge: 5,
      merge_method: mergeQueue.method.toUpperCase(),
      min_entries_to_merge: 1,
      min_entries_to_merge_wait_minutes: 5,
    },
    ...source,
  };
  return [
    ...(checks.length > 0 ? [required] : []),
    ...(approvals > 0 || conversations ? [reviewed] : []),
    ...(queued ? [queued] : []),
    ...restrict.map((restriction) => ({ type: RULE_OF[restriction], ...source })),
  ];
}
