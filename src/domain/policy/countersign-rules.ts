import { z } from 'zod';
import { LOGIN_PATTERN } from '../../core/github-names.ts';

/** Who may countersign, how many are needed, and with which reactions; from the repository's settings. */
export interface CountersignRules {
  permission: 'admin' | 'maintain' | 'write' | 'none';
  teams: readonly string[];
  users: readonly string[];
  /** The role that named people and team members also need; `write` if absent. */
  least?: 'admin' | 'maintain' | 'write';
  count: number;
  /** The meaning of unattributed commits; absent in settings from before this key existed. */
  unattributed?: 'one_more' | 'allow' | 'refuse';
  /** Whether an approving review of the head is needed beside the reactions; `optional` if absent. */
  review?: 'required' | 'optional';
  approve: readonly string[];
  reject: readonly string[];
  /** What the step asks for beside all that. */
  step?: StepApproval;
}

export const teamSchema = z.string().regex(/^[A-Za-z0-9][A-Za-z0-9-]*\/[a-z0-9][a-z0-9_-]*$/, {
  error: 'a team is written organisation/team-slug',
});
/** A step may leave out the organisation, so that one chain fits several. */
const ownTeamSchema = z.string().regex(/^([A-Za-z0-9][A-Za-z0-9-]*\/)?[a-z0-9][a-z0-9_-]*$/, {
  error: 'a team is written team-slug or organisation/team-slug',
});
export const userSchema = z.string().regex(LOGIN_PATTERN, { error: 'a user is a GitHub login, without @' });

/** What a step asks of those who countersign it, beside the settings. It can only ask for more. */
export const stepApprovalSchema = z
  .strictObject({
    teams: z
      .array(ownTeamSchema)
      .min(1)
      .max(20)
      .optional()
      .describe('team-slug, of the owner of the repository, or organisation/team-slug.'),
    users: z.array(userSchema).min(1).max(50).optional(),
    permission: z.enum(['admin', 'maintain', 'write']).optional(),
    count: z.int().min(1).max(10).optional(),
    review: z
      .literal('required')
      .optional()
      .describe('One of those who may countersign must also have approved this head in a review on GitHub.'),
    question: z.string().min(1).max(200).optional(),
  })
  .refine((one) => Object.values(one).some((value) => value !== undefined), {
    error: 'an approval without any key is written as true',
  });
export type StepApproval = z.infer<typeof stepApprovalSchema>;

/** The same with the organisation of every team: the owner of the repository where the step names none. */
export function withOwner(approval: StepApproval, owner: string): StepApproval {
  const { teams } = approval;
  return teams
    ? { ...approval, teams: teams.map((team) => (team.includes('/') ? team : `${owner}/${team}`)) }
    : approval;
}

/**
 * The rules for one step. The step's own people are a second condition and never a way around the first: a countersign
 * counts only if both the settings and the step let that person give it.
 */
export function tightened(settings: CountersignRules, step: StepApproval | undefined): CountersignRules {
  return step ? { ...settings, count: Math.max(settings.count, step.count ?? 1), step } : settings;
}

/**
 * Whether somebody who may countersign must also have approved the head in a review on GitHub. The settings or the step
 * can ask for it, and neither takes it away from the other.
 */
export function needsReview({ review, step }: Pick<CountersignRules, 'review' | 'step'>): boolean {
  return review === 'required' || step?.review === 'required';
}

/** The teams whose members must be known to judge a person. */
export function teamsNamed({ teams, step }: Pick<CountersignRules, 'teams' | 'step'>): string[] {
  return [...new Set([...teams, ...(step?.teams ?? [])])];
}

/**
 * Those whom the step asks for, in words; `undefined` if everybody whom the settings let countersign.
 * @param named how a team or a login is shown
 */
export function wantedByStep(
  { step }: Pick<CountersignRules, 'step'>,
  named = (name: string) => name,
): string | undefined {
  const { permission, teams = [], users = [] } = step ?? {};
  const groups = [
    ...(permission === undefined ? [] : [`${permission} access`]),
    ...teams.map((team) => `a member of ${named(team)}`),
    ...users.map((user) => named(user)),
  ];
  return groups.length === 0 ? undefined : groups.join(' or ');
}
