import { nameOfTrigger, triggersOf } from '../../domain/chain/trigger-schema.ts';
import { chainTable } from '../../messages/cli/cli.ts';
import { localChains } from './chain-files.ts';
import type { Context, Output } from './context.ts';
import { namesKnownIn } from './known-names.ts';

export async function chainList({ cwd, tools }: Context): Promise<Output> {
  const { known, shipped } = await tools.chains();
  const chains = localChains(cwd, await namesKnownIn(cwd, [], known, tools), shipped);
  return {
    text: (screen) => chainTable(chains, screen),
    json: chains.map(({ name, scope, file, chain, diagnostics, runs }) => ({
      name,
      scope,
      file,
      ok: diagnostics.length === 0,
      runs,
      event: (chain && triggersOf(chain).map(nameOfTrigger).join(', ')) ?? null,
      steps: chain?.steps.map(({ id }) => id) ?? null,
      faults: diagnostics,
    })),
  };
}
