import { readFileSync } from 'node:fs';
import { parse } from 'yaml';
import { z } from 'zod';
import type { Permissions } from './world.ts';

const Manifest = z.object({
  default_permissions: z.record(z.string(), z.enum(['read', 'write', 'admin'])),
  default_events: z.array(z.string()),
});

/** The permission that GitHub requires of an App before it may subscribe to these. */
const NEEDED: Readonly<Record<string, string>> = {
  // https://docs.github.com/en/webhooks/webhook-events-and-payloads#merge_group
  merge_group: 'merge_queues',
};

/** What the App is registered with: GitHub sends it exactly these webhooks and grants it exactly these permissions. */
export function readManifest(): { permissions: Permissions; events: readonly string[] } {
  const text = readFileSync(new URL('../../../app.yml', import.meta.url), 'utf8');
  const manifest = Manifest.parse(parse(text));
  return {
    // Tests also report CI by commit status through the API, which the App itself never does.
    permissions: { ...manifest.default_permissions, statuses: 'write' },
    events: manifest.default_events,
  };
}

export function maySubscribe(event: string, permissions: Permissions): boolean {
  const needed = NEEDED[event];
  return needed === undefined || needed in permissions;
}

/** @throws Error for a manifest that GitHub would reject. */
export function refuseEventsWithoutPermission(events: readonly string[], permissions: Permissions): void {
  for (const event of events) {
    if (!maySubscribe(event, permissions))
      throw new Error(`GitHub sends ${event} only to an App with the permission ${NEEDED[event]}.`);
  }
}
