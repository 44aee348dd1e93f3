import { z } from 'zod';
import type { Person } from '../../ports/github.ts';

/** GitHub's stand-in for a deleted account. Its type keeps it from counting as a person. */
const GHOST: Person = { id: 0, login: 'ghost', type: 'Mannequin' };

/** A future account type of GitHub maps to `Mannequin`, which may not countersign. */
export const accountSchema = z.object({
  id: z.int(),
  login: z.string(),
  type: z.enum(['User', 'Bot', 'Organization', 'Mannequin']).catch('Mannequin'),
});

export const personOrGhost = accountSchema.nullable().transform((account): Person => account ?? GHOST);

/** Only answers by command or button need the account. A role is valid without it. */
const userSchema = accountSchema.nullish().catch(null);
export const permissionSchema = z.object({
  permission: z.string(),
  role_name: z.string().nullish(),
  user: userSchema,
});
export const membershipSchema = z.object({ state: z.string() });

export const peopleSchema = z.array(accountSchema);

/**
 * https://docs.github.com/en/rest/collaborators/collaborators#list-repository-collaborators: `role_name` is the
 * highest role from all sources. `permissions` decides where it is a custom role.
 */
export const collaboratorsSchema = z.array(
  z
    .object({
      id: z.int(),
      login: z.string(),
      type: z.string(),
      role_name: z.string().nullish(),
      permissions: z.record(z.string(), z.boolean()).nullish(),
    })
    .transform(({ role_name, permissions, ...account }) => ({
      person: accountSchema.parse(account),
      permission: permissions?.admin ? 'admin' : permissions?.push ? 'write' : 'read',
      roleName: role_name ?? undefined,
    })),
);

/** https://docs.github.com/en/rest/pulls/review-requests#get-all-requested-reviewers-for-a-pull-request */
export const requestedReviewersSchema = z.object({
  users: z.array(z.object({ login: z.string() })),
  teams: z.array(z.object({ slug: z.string() })),
});
