import { systemClock } from '../../core/clock.ts';
import { silentLog } from '../../core/log.ts';
import type { Step } from '../../domain/chain/chain.ts';
import { defaultSettings } from '../../domain/chain/settings.ts';
import { newRun } from '../../domain/run/new-run.ts';
import type { SkillCase } from '../../domain/skill/case-file.ts';
import { referenceTo, type SkillPackage } from '../../domain/skill/package.ts';
import type { StepContext } from '../../engine/steps/step.ts';
import { unstoredStep } from '../runtime/unstored-step.ts';
import { BASE_SHA, caseReader, HEAD_SHA } from './case-reader.ts';

const PULL_REQUEST = 1;
const NOW = new Date(0);
const REPOSITORY = { full_name: 'acme/shop', owner: 'acme', name: 'shop', default_branch: 'main' };

/** The context of a chain's only step, which runs the skill on the case's pull request. */
export function caseStep(skill: SkillPackage, of: SkillCase, signal: AbortSignal): StepContext {
  const step = stepOf(skill, of);
  const state = newRun(
    {
      chain: { name: 'test', trigger: { event: 'pr.opened', filter: {} }, steps: [step] },
      settings: defaultSettings,
      event: {
        kind: 'pr.opened',
        installation_id: 1,
        repository: { id: 1, owner: REPOSITORY.owner, name: REPOSITORY.name },
        pull_request: PULL_REQUEST,
        action: 'opened',
      },
      deliveryId: null,
      pullRequest: PULL_REQUEST,
      headSha: HEAD_SHA,
      baseRef: 'main',
      baseSha: BASE_SHA,
      facts: { trigger: { pr_number: PULL_REQUEST }, repo: REPOSITORY },
      paused: false,
    },
    { next: (prefix) => `${prefix}_test` },
    NOW,
  );
  return unstoredStep(
    state,
    { id: 'ses_test', startedAt: NOW },
    {
      reader: caseReader(of, PULL_REQUEST),
      step,
      inputs: step.with,
      text: () => undefined,
      repo: { owner: REPOSITORY.owner, name: REPOSITORY.name },
      appId: 1,
      clock: systemClock,
      log: silentLog,
      signal,
    },
  );
}

function stepOf(skill: SkillPackage, { inputs = {} }: SkillCase): Step {
  return {
    id: 'test',
    index: 0,
    uses: { kind: 'skill', name: skill.name, package: referenceTo(skill, []) },
    dependsOn: [],
    with: inputs,
    retry: { attempts: 1, backoffMs: 0 },
    onFailure: 'fail',
    requiresApproval: false,
  };
}
