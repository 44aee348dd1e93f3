import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { parse } from 'yaml';
import { z } from 'zod';
import { PACKAGE_ROOT } from '../core/package-root.ts';
import type { Grants } from '../domain/self-check/finding.ts';

const manifestSchema = z.object({
  default_permissions: z.record(z.string(), z.enum(['read', 'write', 'admin'])),
  default_events: z.array(z.string()),
});

/** What the app asks GitHub for, from `app.yml`. */
export function askedGrants(): Grants {
  const manifest = manifestSchema.parse(parse(readFileSync(join(PACKAGE_ROOT, 'app.yml'), 'utf8')));
  return { permissions: manifest.default_permissions, events: manifest.default_events };
}
