import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { parseChain } from './chain/parse.ts';
import type { ParsedChain } from './chain/scope.ts';
import { formatFault } from './core/fault.ts';
import type { Names } from './run/configuration.ts';

/** The package's own folder, both for the sources and for the build beside them. */
export const PACKAGE_ROOT = fileURLToPath(new URL('..', import.meta.url));

/**
 * The chains of the package's `chains` folder.
 * @throws Error when one has faults: that is our mistake, not a user's.
 */
export function shippedChains(names: Names): ParsedChain[] {
  const folder = join(PACKAGE_ROOT, 'chains');
  return readdirSync(folder)
    .filter((name) => /\.ya?ml$/.test(name))
    .sort()
    .map((name) => {
      const file = `chains/${name}`;
      const parsed = parseChain(readFileSync(join(folder, name), 'utf8'), file, names);
      if (!parsed.chain) throw new Error(parsed.faults.map(formatFault).join('\n'));
      return { file, ...parsed };
    });
}
