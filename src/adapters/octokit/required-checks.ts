import type { RequiredCheck } from '../../ports/github.ts';
import { branchRulesSchema, protectionSchema } from './check-answers.ts';
import type { Client, Parameters } from './client.ts';
import { RequestFailure } from './failure.ts';

/**
 * The checks that the branch's protection or a ruleset requires. If GitHub does not show one of the two, none
 * is known from it; GitHub itself still refuses to merge without its checks.
 */
export async function readRequiredChecks(client: Client, branch: Parameters): Promise<RequiredCheck[]> {
  const [fromProtection, fromRules] = await Promise.all([
    whereShown(protectedBy(client, branch)),
    whereShown(ruledBy(client, branch)),
  ]);
  const all = new Map<string, RequiredCheck>();
  for (const check of [...fromProtection, ...fromRules]) all.set(`${check.appId} ${check.name}`, check);
  return [...all.values()];
}

async function protectedBy(client: Client, branch: Parameters): Promise<RequiredCheck[]> {
  const { protection } = await client.request(
    'GET /repos/{owner}/{repo}/branches/{branch}',
    branch,
    protectionSchema,
  );
  const required = protection?.required_status_checks;
  if (!required || required.enforcement_level === 'off') return [];
  const checks = (required.checks ?? []).map(({ context, app_id }) => check(context, app_id));
  const named = new Set(checks.map(({ name }) => name));
  const contexts = (required.contexts ?? []).filter((context) => !named.has(context));
  return [...checks, ...contexts.map((context) => check(context, null))];
}

/**
 * The types of the branch's rules. Rules that GitHub does not show, for example on plans without rulesets,
 * count as absent.
 */
export async function readRuleTypes(client: Client, branch: Parameters): Promise<string[]> {
  const rules = await whereShown(rulesOf(client, branch));
  return [...new Set(rules.map(({ type }) => type))];
}

/** https://docs.github.com/en/rest/repos/rules#get-rules-for-a-branch */
function rulesOf(client: Client, branch: Parameters) {
  return client.list('GET /repos/{owner}/{repo}/rules/branches/{branch}', branch, branchRulesSchema);
}

async function ruledBy(client: Client, branch: Parameters): Promise<RequiredCheck[]> {
  const rules = await rulesOf(client, branch);
  return rules
    .filter((rule) => rule.type === 'required_status_checks')
    .flatMap((rule) => rule.parameters?.required_status_checks ?? [])
    .map(({ context, integration_id }) => check(context, integration_id));
}

/** GitHub represents "any app" as a missing value, `null` or -1. */
function check(name: string, appId: number | null | undefined): RequiredCheck {
  return { name, appId: appId === undefined || appId === -1 ? null : appId };
}

async function whereShown<T>(found: Promise<T[]>): Promise<T[]> {
  try {
    return await found;
  } catch (error) {
    const hidden =
      error instanceof RequestFailure &&
      !error.signIn &&
      (error.kind === 'not_found' || (error.kind === 'forbidden' && error.status === 403));
    if (hidden) return [];
    throw error;
  }
}
