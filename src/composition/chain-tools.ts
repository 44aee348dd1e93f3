import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { PACKAGE_ROOT } from '../core/package-root.ts';
import { MAX_CONFIGURATION_BYTES } from '../domain/chain/configuration-files.ts';
import { chainsAround, lintChain } from '../domain/chain/lint.ts';
import { readChain } from '../domain/chain/parse.ts';
import { readYaml } from '../domain/chain/positions.ts';
import { knownWith } from '../domain/skill/known-names.ts';
import { createRegistry } from '../engine/sessions/registry.ts';
import { tooLarge } from '../messages/check-run/configuration-check.ts';
import type { ChainTools } from '../ports/chain-tools.ts';
import { SHIPPED_SKILLS } from '../skills/builtin/shipped.ts';
import { shippedChains, shippedSkills } from './shipped.ts';

/** In diagnostics. A pasted text has no file. */
const FILE = 'chain.yaml';

/** What ships with the program. Reads its files once. */
export function chainTools(): ChainTools {
  const { skills, actions, outcomes, inputOf } = createRegistry(SHIPPED_SKILLS);
  const packages = shippedSkills().flatMap(({ skill }) => skill ?? []);
  const builtInSkills = SHIPPED_SKILLS.map(({ name }) => name);
  const shipped = shippedChains({ skills, actions, outcomes, inputOf });
  const known = knownWith({ skills, actions, outcomes, inputOf }, builtInSkills, packages);
  const chains = shipped.flatMap(({ chain }) => chain ?? []);
  return {
    shippedChains: shipped.flatMap(({ chain, file, onlyIfNamed = false }) =>
      chain ? [{ chain, file, text: readFileSync(join(PACKAGE_ROOT, file), 'utf8'), onlyIfNamed }] : [],
    ),
    shippedSkills: packages,
    builtInSkills,
    check(text) {
      if (Buffer.byteLength(text) > MAX_CONFIGURATION_BYTES) {
        const error = { file: FILE, line: 1, column: 1, message: tooLarge };
        return { name: undefined, chain: undefined, errors: [error], warnings: [] };
      }
      const source = readYaml(text, FILE);
      const parsed = readChain(source, known);
      const others = () => [...chains, ...(parsed.chain ? [parsed.chain] : [])];
      const linted = lintChain(source, parsed, known, chainsAround(others, known));
      const { chain } = parsed;
      return { name: chain?.name ?? ('name' in parsed ? parsed.name : undefined), chain, ...linted };
    },
  };
}
