import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { parse } from 'yaml';
import { z } from 'zod';
import { PACKAGE_ROOT } from '../core/package-root.ts';
import type { Grants } from '../domain/self-check/finding.ts';

const manifestSchema = z.looseObject({
  name: z.string(),
  default_permissions: z.record(z.string(), z.enum(['read', 'write', 'admin'])),
  default_events: z.array(z.string()),
});

/** The GitHub App as `app.yml` describes it. */
export type AppManifest = z.infer<typeof manifestSchema>;

/** `undefined` if there is no such file beside the program. */
export function readAppManifest(): AppManifest | undefined {
  const file = join(PACKAGE_ROOT, 'app.yml');
  return existsSync(file) ? manifestSchema.parse(parse(readFileSync(file, 'utf8'))) : undefined;
}

/** What the app asks GitHub for. Without `app.yml`, nothing is known to be asked for. */
export function askedGrants(): Grants {
  const manifest = readAppManifest();
  return { permissions: manifest?.default_permissions ?? {}, events: manifest?.default_events ?? [] };
}
