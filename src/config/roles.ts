import { z } from 'zod';
import { isPostgresUrl } from './addresses.ts';
import { optionalText } from './fields.ts';

/** What a process does. Without a `scheduler`, the workers do what belongs to no installation, too. */
export const ROLES = ['web', 'worker', 'scheduler', 'studio'] as const;
type Role = (typeof ROLES)[number];
export type Roles = Readonly<Record<Role, boolean>>;

export const ALL_ROLES: Roles = { web: true, worker: true, scheduler: true, studio: true };

export const rolesSchema = z
  .object({ ROLE: optionalText, DATABASE_URL: optionalText })
  .transform((env, ctx): { roles?: Roles } => {
    if (env.ROLE === undefined) return {};
    const diagnostic = (message: string) => {
      ctx.addIssue({ code: 'custom', path: ['ROLE'], message });
      return {};
    };
    const named = env.ROLE.split(',').map((role) => role.trim());
    if (!named.every(isRole)) return diagnostic(`must be one or several of ${ROLES.join(', ')}`);
    const roles = { ...NONE, ...Object.fromEntries(named.map((role) => [role, true])) };
    // Without a scheduler, the worker does its part.
    const isWhole = roles.web && roles.worker && roles.studio;
    if (!isPostgresUrl(env.DATABASE_URL ?? '') && !isWhole)
      return diagnostic(
        'can be set only with PostgreSQL (DATABASE_URL): one process does everything on an SQLite file',
      );
    return { roles };
  });

const NONE: Roles = { web: false, worker: false, scheduler: false, studio: false };

function isRole(text: string): text is Role {
  return ROLES.some((role) => role === text);
}
