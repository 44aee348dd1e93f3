import { z } from 'zod';
import { LOGIN_PATTERN } from '../core/github-names.ts';
import { optionalText, refuse } from './fields.ts';

/** How people sign in: with the client of the GitHub App. */
interface StudioSignIn {
  clientId: string;
  clientSecret: string;
}

export interface StudioConfig {
  /** Without it, only `countersign studio` on the server's own machine shows anything. */
  signIn?: StudioSignIn;
  /** Whether everybody may read about public repositories. */
  isPublic: boolean;
  /** Logins, in lower case. Operators also see deliveries, effects, budgets and settings. */
  operators: readonly string[];
}

/**
 * The browser interface. The names of the client's variables are those that the registration of an App writes
 * to its settings file.
 */
export const studioSchema = z
  .object({
    STUDIO: optionalText.transform((value, ctx) =>
      value === undefined || value === 'on' || value === 'off' ? value : refuse(ctx, 'must be on or off'),
    ),
    STUDIO_PUBLIC: optionalText.transform((value, ctx) =>
      value === undefined || value === 'read' ? value : refuse(ctx, 'must be read, or unset'),
    ),
    STUDIO_OPERATORS: optionalText.transform((value, ctx) => {
      const logins = (value ?? '').split(',').flatMap((login) => login.trim() || []);
      return logins.every((login) => LOGIN_PATTERN.test(login))
        ? logins.map((login) => login.toLowerCase())
        : refuse(ctx, 'must be logins on GitHub with commas between them, such as mia,max');
    }),
    GITHUB_CLIENT_ID: optionalText,
    GITHUB_CLIENT_SECRET: optionalText,
  })
  .transform((env, ctx): { studio?: StudioConfig } => {
    if (env.STUDIO === 'off') return {};
    const { GITHUB_CLIENT_ID: clientId, GITHUB_CLIENT_SECRET: clientSecret } = env;
    if ((clientId === undefined) !== (clientSecret === undefined)) {
      const missing = clientId === undefined ? 'GITHUB_CLIENT_ID' : 'GITHUB_CLIENT_SECRET';
      ctx.addIssue({
        code: 'custom',
        path: [missing],
        message: 'is missing; set both GITHUB_CLIENT_ID and GITHUB_CLIENT_SECRET, or neither',
      });
      return z.NEVER;
    }
    return {
      studio: {
        ...(clientId !== undefined && clientSecret !== undefined && { signIn: { clientId, clientSecret } }),
        isPublic: env.STUDIO_PUBLIC === 'read',
        operators: env.STUDIO_OPERATORS,
      },
    };
  });
