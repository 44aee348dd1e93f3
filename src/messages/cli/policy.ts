import { z } from 'zod';
import type { Capability } from '../../domain/policy/capability.ts';
import { type PolicyDecision, VERDICTS, type Verdict } from '../../domain/policy/engine.ts';
import { TRUST_LEVELS, type TrustLevel } from '../../domain/policy/trust.ts';
import { explainText, plainLine } from '../../domain/run/explain.ts';
import { short } from '../text/pretty.ts';
import { PLAIN, paintMarks, type Screen } from '../text/screen.ts';
import { whyJson, whyJsonSchema } from './run-json.ts';
import { table } from './table.ts';

/** The policy's decision about one step. */
export interface StepPolicy {
  id: string;
  index: number;
  capability: Capability;
  needsApproval: boolean;
  trust: TrustLevel;
  decision: PolicyDecision;
}

/** The steps of one chain. */
export interface ChainPolicy {
  chain: string;
  steps: readonly StepPolicy[];
}

/**
 * The JSON of `policy explain` and, per chain, of `policy simulate`. Scripts rely on it, so it is spelled out
 * like that of a run.
 */
export const stepPolicyJsonSchema = z.strictObject({
  id: z.string(),
  index: z.int().min(0),
  capability: z.strictObject({
    name: z.string(),
    minimum_trust: z.enum(TRUST_LEVELS),
    side_effects: z.boolean(),
    confirmation: z.enum(['none', 'person']),
  }),
  /**
   * Whether the maintainers are asked before the step does anything, because of the chain or the capability.
   */
  asks_first: z.boolean(),
  trust: z.enum(TRUST_LEVELS),
  verdict: z.enum(VERDICTS),
  why: whyJsonSchema,
});
export type StepPolicyJson = z.infer<typeof stepPolicyJsonSchema>;

export function stepPolicyJson(step: StepPolicy): StepPolicyJson {
  const { id, index, capability, needsApproval, trust, decision } = step;
  return {
    id,
    index,
    capability: {
      name: capability.name,
      minimum_trust: capability.minimumTrust,
      side_effects: capability.sideEffects,
      confirmation: capability.confirmation,
    },
    asks_first: needsApproval,
    trust,
    verdict: decision.verdict,
    why: whyJson(decision.why),
  };
}

const VERDICT_SAID: Readonly<Record<Verdict, string>> = {
  allowed: 'allowed',
  needs_confirmation: 'asks first',
  denied: 'denied',
  unknown: 'not known yet',
};

/** `policy explain`: a table of the steps, then the explanation of each decision. */
export function explained(
  run: { id: string; repository: string; pullRequest: number | null; headSha: string },
  policy: ChainPolicy,
  screen: Screen = PLAIN,
): string {
  const { id, repository, pullRequest, headSha } = run;
  const about = pullRequest === null ? repository : `${repository}#${pullRequest}`;
  return [
    `${plainLine(about)} at ${short(headSha)}, chain ${policy.chain}, run ${id}`,
    '',
    ...chainLines(policy, screen),
  ].join('\n');
}

/** `policy simulate`: the same for every chain that could run. */
export function simulated(
  about: { repository: string; pullRequest: number; headSha: string; actor: string | undefined },
  chains: readonly ChainPolicy[],
  screen: Screen = PLAIN,
): string {
  const { repository, pullRequest, headSha, actor } = about;
  const place = `${plainLine(repository)}#${pullRequest} at ${short(headSha)}`;
  const begun = actor === undefined ? 'begun by its trigger' : `fired by ${plainLine(actor)}`;
  if (chains.length === 0) return `${place}: there is no chain that could be ${begun}.`;
  return [
    `${place}, ${begun}; nothing was done.`,
    ...chains.flatMap((policy) => ['', `Chain ${policy.chain}`, '', ...chainLines(policy, screen)]),
  ].join('\n');
}

function chainLines({ steps }: ChainPolicy, screen: Screen): string[] {
  return [
    table(
      [
        'STEP',
        'CAPABILITY',
        'NEEDS',
        'HAS',
        { heading: 'CONFIRMATION', leftOut: 2 },
        { heading: 'CHANGES GITHUB', leftOut: 1 },
        { heading: 'DECISION', whole: true },
      ],
      steps.map(({ id, capability, needsApproval, trust, decision }) => [
        id,
        capability.name,
        capability.minimumTrust,
        trust,
        needsApproval ? 'countersign' : 'none',
        capability.sideEffects ? 'yes' : 'no',
        VERDICT_SAID[decision.verdict],
      ]),
      { screen },
    ),
    ...steps.flatMap(({ id, decision }) => [
      '',
      `${plainLine(id)}:`,
      paintMarks(explainText(decision.why), screen),
    ]),
  ];
}

export const NO_APP =
  'No GitHub App is registered here (APP_ID is not set), and without one nothing can be read of GitHub.';

export function badSettingsHere(diagnostics: readonly string[]): string {
  return `GitHub cannot be asked, because settings of the app are wrong: ${diagnostics.join('; ')}.`;
}

export function gitHubSays(message: string): string {
  return `GitHub cannot be asked what this rests on: ${plainLine(message)}`;
}

export function noPullRequest(repository: string, pullRequest: number): string {
  return `GitHub shows the app no pull request ${plainLine(repository)}#${pullRequest}.`;
}
