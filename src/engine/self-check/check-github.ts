import { canonicalJson } from '../../core/canonical.ts';
import type { Clock } from '../../core/clock.ts';
import { gateProtection } from '../../domain/policy/gate-check.ts';
import type { RolloutLevel } from '../../domain/policy/rollout.ts';
import type { CheckName, Finding, Grants } from '../../domain/self-check/finding.ts';
import { judgeClock, judgeWebhook, lackingIn } from '../../domain/self-check/judge.ts';
import {
  type AppInstallation,
  type GitHub,
  GitHubError,
  type Repo,
  SignInRefused,
} from '../../ports/github.ts';
import { NO_MEMORY } from '../configuration/organisation-memory.ts';
import { createScopeFiles } from '../configuration/scope-files.ts';

export interface CheckGitHubDeps {
  github: Pick<GitHub, 'app' | 'appId' | 'reader'>;
  clock: Clock;
  /** @throws GitHubError */
  serverTime(): Promise<Date>;
  apiUrl: string;
  /** The address at which this app accepts webhooks, if the settings say it. */
  webhookUrl: string | undefined;
  asked: Grants;
  /** Whose default branch is looked at; by default, that of the first repositories. */
  repositories?: readonly Repo[] | undefined;
  /** The most that this server rolls out; `enforce` by default. */
  rollout?: RolloutLevel | undefined;
}

/** Looking at each repository of a large organisation would spend its budget. */
const MAX_REPOSITORIES = 10;
/** An installation can have no repository to look at, so their number has its own limit. */
const MAX_INSTALLATIONS = 10;

/** What GitHub says of how the app is set up. Only reads. */
export async function checkGitHub(deps: CheckGitHubDeps): Promise<Finding[]> {
  const [clock, app] = await Promise.all([checkClock(deps), checkApp(deps)]);
  if (app.signedIn === undefined) {
    const because =
      app.finding.kind === 'unreachable'
        ? 'GitHub does not answer as it should.'
        : 'GitHub does not let this app sign in.';
    const others = ['permissions', 'webhook', 'installations', 'protection', 'rollout'] as const;
    return [app.finding, clock, ...others.map((check): Finding => ({ check, kind: 'not_known', because }))];
  }
  const { permissions, events, url } = app.signedIn;
  const lacking = lackingIn({ permissions, events }, deps.asked);
  const [webhook, installed] = await Promise.all([
    asked('webhook', () => checkWebhook(deps)),
    asked('installations', () => checkInstallations(deps, url)),
  ]);
  return [
    app.finding,
    clock,
    lacking
      ? { check: 'permissions', kind: 'lacking', lacking, url }
      : { check: 'permissions', kind: 'as_asked' },
    ...webhook,
    ...installed,
  ];
}

async function checkClock({ serverTime, clock }: CheckGitHubDeps): Promise<Finding> {
  try {
    const before = clock.now().getTime();
    const there = await serverTime();
    return judgeClock((before + clock.now().getTime()) / 2 - there.getTime());
  } catch (error) {
    return { check: 'clock', kind: 'not_known', because: reasonOf(error) };
  }
}

async function checkApp({ github, apiUrl }: CheckGitHubDeps): Promise<{
  finding: Finding;
  signedIn?: Grants & { url: string };
}> {
  try {
    const { name, owner, url, permissions, events } = await github.app.registration();
    return {
      finding: { check: 'app', kind: 'signed_in', name, owner, url },
      signedIn: { permissions, events, url },
    };
  } catch (error) {
    if (!(error instanceof GitHubError)) throw error;
    const because = error.message;
    const isRefused = error instanceof SignInRefused || error.status === 401 || error.status === 404;
    return isRefused
      ? { finding: { check: 'app', kind: 'key_refused', appId: github.appId, because } }
      : { finding: { check: 'app', kind: 'unreachable', apiUrl, because } };
  }
}

async function checkWebhook({ github, webhookUrl }: CheckGitHubDeps): Promise<Finding[]> {
  const [registered, { attempts }] = await Promise.all([github.app.webhook(), github.app.deliveryAttempts()]);
  return judgeWebhook(registered, webhookUrl, attempts[0]);
}

async function checkInstallations(deps: CheckGitHubDeps, url: string): Promise<Finding[]> {
  const installations = await deps.github.app.installations();
  const active = installations.filter(({ suspended }) => !suspended);
  const suspended = installations.filter((one) => one.suspended).map(({ owner }) => owner);
  return [
    active.length === 0
      ? { check: 'installations', kind: 'none', url }
      : { check: 'installations', kind: 'some', owners: active.map(({ owner }) => owner) },
    ...(suspended.length === 0
      ? []
      : [{ check: 'installations' as const, kind: 'suspended' as const, owners: suspended }]),
    ...notAccepted(active, deps.asked),
    ...(await checkProtection(deps, active)),
    ...(await checkRollout(deps, active)),
  ];
}

/** Owners that lack the same are named together. */
function notAccepted(active: readonly AppInstallation[], wanted: Grants): Finding[] {
  const groups = new Map<string, Extract<Finding, { check: 'installations'; kind: 'lacking' }>>();
  for (const { owner, permissions, events } of active) {
    const lacking = lackingIn({ permissions, events }, wanted);
    if (lacking === undefined) continue;
    const key = canonicalJson(lacking);
    const owners = [...(groups.get(key)?.owners ?? []), owner];
    groups.set(key, { check: 'installations', kind: 'lacking', owners, lacking });
  }
  return [...groups.values()];
}

/** What each owner says of the rollout; with named repositories, only their owners. */
async function checkRollout(
  { github, clock, repositories, rollout: most = 'enforce' }: CheckGitHubDeps,
  active: readonly AppInstallation[],
): Promise<Finding[]> {
  const files = createScopeFiles({ clock, memory: NO_MEMORY });
  const wanted = repositories && new Set(repositories.map(({ owner }) => owner.toLowerCase()));
  const shown = active.filter(({ owner }) => !wanted || wanted.has(owner.toLowerCase()));
  const findings: Finding[] = [];
  for (const { id, owner } of shown.slice(0, MAX_INSTALLATIONS)) {
    const all = await asked('rollout', async () => {
      const setting = await files.rolloutOf(github.reader(id, 'person'), owner);
      return setting === 'unreadable'
        ? [{ check: 'rollout', kind: 'unreadable', owner }]
        : [{ check: 'rollout', kind: 'set', owner, setting, most }];
    });
    findings.push(...all);
  }
  return findings;
}

async function checkProtection(
  { github, repositories }: CheckGitHubDeps,
  active: readonly AppInstallation[],
): Promise<Finding[]> {
  const findings: Finding[] = [];
  if (repositories) {
    for (const repo of repositories) {
      findings.push(await protectionOf(github, repo, () => github.app.installationOf(repo)));
    }
    return findings;
  }
  const others = { repositories: 0, installations: Math.max(0, active.length - MAX_INSTALLATIONS) };
  for (const { id } of active.slice(0, MAX_INSTALLATIONS)) {
    if (findings.length >= MAX_REPOSITORIES) {
      others.installations += 1;
      continue;
    }
    const all = await asked('protection', async () => {
      const writable = (await github.reader(id, 'person').repositories()).filter(({ readOnly }) => !readOnly);
      const looked: Finding[] = [];
      const first = writable.slice(0, MAX_REPOSITORIES - findings.length);
      others.repositories += writable.length - first.length;
      for (const repo of first) {
        looked.push(await protectionOf(github, repo, async () => id));
      }
      return looked;
    });
    findings.push(...all);
  }
  return others.repositories + others.installations === 0
    ? findings
    : [...findings, { check: 'protection', kind: 'others', ...others }];
}

async function protectionOf(
  github: CheckGitHubDeps['github'],
  { owner, name }: Repo,
  installation: () => Promise<number>,
): Promise<Finding> {
  const repository = `${owner}/${name}`;
  try {
    const reader = github.reader(await installation(), 'person');
    const { defaultBranch: branch } = await reader.repository({ owner, name });
    const required = await reader.requiredChecks({ owner, name }, branch);
    const kind = gateProtection(required, branch, github.appId);
    return { check: 'protection', kind, repository, branch };
  } catch (error) {
    return { check: 'protection', kind: 'unreadable', repository, because: reasonOf(error) };
  }
}

/** One request that fails leaves the other checks as they are. */
async function asked(check: CheckName, work: () => Promise<Finding[]>): Promise<Finding[]> {
  try {
    return await work();
  } catch (error) {
    return [{ check, kind: 'not_known', because: reasonOf(error) }];
  }
}

/** @throws anything that is not GitHub's answer */
function reasonOf(error: unknown): string {
  if (error instanceof GitHubError) return error.message;
  throw error;
}
