import { isIP } from 'node:net';
import { z } from 'zod';
import { isLoopback } from '../core/loopback.ts';
import { isPrivateAddress } from '../core/private-address.ts';
import type { Environment } from './fields.ts';

const PREFIX = 'COUNTERSIGN_WEBHOOK_';
const SECRET = 'COUNTERSIGN_WEBHOOKS_SECRET_';
const PRIVATE = 'COUNTERSIGN_WEBHOOKS_PRIVATE';

/** The webhooks that settings and chains can name. */
export interface WebhooksConfig {
  /** Address by name. The address lets anybody post, so it is a secret. */
  webhooks: ReadonlyMap<string, string>;
  /** By name, the keys of the webhooks whose messages are signed. */
  secrets?: ReadonlyMap<string, string>;
  allowsPrivate: boolean;
}

/** As Standard Webhooks writes them: 24 to 64 bytes in base64. */
function isSecret(value: string): boolean {
  const [, base64 = ''] = /^whsec_([A-Za-z0-9+/]+={0,2})$/.exec(value) ?? [];
  const { length } = Buffer.from(base64, 'base64');
  return length >= 24 && length <= 64;
}

/**
 * `COUNTERSIGN_WEBHOOK_TEAM_CHAT` is the webhook `team-chat`, and `COUNTERSIGN_WEBHOOKS_SECRET_TEAM_CHAT` signs its
 * messages.
 */
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
    else if (!allowsPrivate && isPrivateHost(url.hostname))
      refuse(variable, `leads to a private address; set ${PRIVATE}=allow if that is meant`);
    else webhooks.set(nameOf(name), url.href);
  }
  const secrets = new Map<string, string>();
  for (const [variable, secret] of Object.entries(env)) {
    if (!variable.startsWith(SECRET) || secret === undefined || secret === '') continue;
    const name = variable.slice(SECRET.length);
    if (!webhooks.has(nameOf(name))) refuse(variable, `belongs to no webhook; set ${PREFIX}${name} too`);
    else if (!isSecret(secret))
      refuse(
        variable,
        'must be whsec_ and 24 to 64 random bytes in base64; make one with: echo whsec_$(openssl rand -base64 32)',
      );
    else secrets.set(nameOf(name), secret);
  }
  return webhooks.size === 0
    ? {}
    : { chat: { webhooks, allowsPrivate, ...(secrets.size > 0 && { secrets }) } };
});

/** Only what the address itself says. Where a name leads is checked when a message is sent. */
function isPrivateHost(hostname: string): boolean {
  const host = hostname.replace(/^\[|\]$/g, '');
  return isLoopback(hostname) || (isIP(host) !== 0 && isPrivateAddress(host));
}

/** The variable behind a webhook's name, or behind that of its key. */
export function variableOf(pattern: `${string}*`, name: string): string {
  return `${pattern.slice(0, -1)}${name.toUpperCase().replaceAll('-', '_')}`;
}

function nameOf(variable: string): string {
  return variable.toLowerCase().replaceAll('_', '-');
}
