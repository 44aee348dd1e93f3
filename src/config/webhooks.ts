import { z } from 'zod';
import { isLoopback } from '../core/loopback.ts';
import type { Environment } from './fields.ts';

const PREFIX = 'COUNTERSIGN_WEBHOOK_';
const PRIVATE = 'COUNTERSIGN_WEBHOOKS_PRIVATE';

/** The webhooks of chats that settings can name. */
export interface WebhooksConfig {
  /** Address by name. The address lets anybody post, so it is a secret. */
  webhooks: ReadonlyMap<string, string>;
  allowsPrivate: boolean;
}

/** `COUNTERSIGN_WEBHOOK_TEAM_CHAT` is the webhook `team-chat`. */
export const webhooksSchema = z.custom<Environment>().transform((env, ctx): { chat?: WebhooksConfig } => {
  const refuse = (name: string, message: string) => ctx.addIssue({ code: 'custom', path: [name], message });
  const allowed = env[PRIVATE] ?? '';
  if (allowed !== '' && allowed !== 'allow') refuse(PRIVATE, 'must be allow, or unset');
  const allowsPrivate = allowed === 'allow';
  const webhooks = new Map<string, string>();
  for (const [variable, address] of Object.entries(env)) {
    if (!variable.startsWith(PREFIX) || address === undefined || address === '') continue;
    const name = variable.slice(PREFIX.length);
    const url = URL.canParse(address) ? new URL(address) : undefined;
    const isPlain = url?.protocol === 'http:' && allowsPrivate && isLoopback(url.hostname);
    if (!/^[A-Z][A-Z0-9_]{0,31}$/.test(name))
      refuse(variable, 'must end in a name of capital letters, digits and underscores, at most 32');
    else if (!url || (url.protocol !== 'https:' && !isPlain)) refuse(variable, 'must be an https URL');
    else if (url.username || url.password) refuse(variable, 'must have no user name or password');
    else webhooks.set(name.toLowerCase().replaceAll('_', '-'), url.href);
  }
  return webhooks.size === 0 ? {} : { chat: { webhooks, allowsPrivate } };
});
