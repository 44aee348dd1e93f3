import { chainTable } from '../../messages/cli.ts';
import { chainsHere } from './chain-files.ts';
import type { Context, Said } from './context.ts';
import { namesKnownIn } from './known-names.ts';

export async function chainList({ cwd, tools }: Context): Promise<Said> {
  const { known, shipped } = await tools.chains();
  const chains = chainsHere(cwd, await namesKnownIn(cwd, [], known, tools), shipped);
  return {
    text: chainTable(chains),
    json: chains.map(({ name, scope, file, chain, diagnostics }) => ({
      name,
      scope,
      file,
      ok: diagnostics.length === 0,
      event: chain?.trigger.event ?? null,
      steps: chain?.steps.map(({ id }) => id) ?? null,
      diagnostics,
    })),
  };
}
