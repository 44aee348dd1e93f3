import { z } from 'zod';
import type { Person } from '../../ports/github.ts';

/** The account that GitHub shows for one that was deleted; its type keeps it from counting as a person. */
const GHOST: Person = { id: 0, login: 'ghost', type: 'Mannequin' };

/** An account type GitHub may add later is nobody's who may countersign. */
export const accountSchema = z.object({
  id: z.int(),
  login: z.string(),
  type: z.enum(['User', 'Bot', 'Organization', 'Mannequin']).catch('Mannequin'),
});

export const personOrGhost = accountSchema.nullable().transform((account): Person => account ?? GHOST);

/** Nothing but an answer in words rests on who it is: a role is one without it. */
const userSchema = accountSchema.nullish().catch(null);
export const permissionSchema = z.object({
  permission: z.string(),
  role_name: z.string().nullish(),
  user: userSchema,
});
export const membershipSchema = z.object({ state: z.string() });
