import type { CheckRunFacts, RequiredCheck, StatusFacts } from '../../../../src/ports/github.ts';
import { type CiFacts, type CiJudgement, judgeCi } from '../../../../src/skills/builtin/ci/judge.ts';
import { at, HEAD } from '../../../support/builders.ts';

export const OWN_APP = 100;
export const ACTIONS = 15_368;
export const OTHER_APP = 200;

let lastId = 0;
/** A check run of GitHub Actions that is completed with this conclusion, or else has this status. */
export function run(name: string, said: string | null, more: Partial<CheckRunFacts> = {}): CheckRunFacts {
  const unfinished = said === 'queued' || said === 'in_progress' || said === 'waiting';
  return {
    id: ++lastId,
    name,
    appId: ACTIONS,
    status: unfinished ? said : 'completed',
    conclusion: unfinished ? null : said,
    startedAt: at(0),
    completedAt: unfinished ? null : at(90_000),
    url: `https://ci.example/${name}`,
    externalId: null,
    suiteId: null,
    workflowRunId: null,
    title: null,
    summary: null,
    ...more,
  };
}

export function status(
  context: string,
  state: StatusFacts['state'],
  description: string | null = null,
): StatusFacts {
  return { context, state, description, url: null, createdAt: at(0), isOwn: false };
}

export function required(name: string, appId: number | null = null): RequiredCheck {
  return { name, appId };
}

export function judge(more: Partial<CiFacts>): CiJudgement {
  return judgeCi({
    headSha: HEAD,
    baseRef: 'main',
    ownAppId: OWN_APP,
    checkRuns: [],
    suites: [],
    statuses: [],
    required: [],
    ignore: [],
    ...more,
  });
}
