import { CountersignError } from '../../core/errors.ts';
import { brokenChain, chainText, unknownChain } from '../../messages/cli/cli.ts';
import { localChains } from './chain-files.ts';
import type { Context, Output } from './context.ts';
import { chainJson } from './json.ts';
import { namesKnownIn } from './known-names.ts';

export async function chainShow({ cwd, tools }: Context, name: string): Promise<Output> {
  const { known, shipped } = await tools.chains();
  const chains = localChains(cwd, await namesKnownIn(cwd, [], known, tools), shipped);
  const found = chains.find((one) => one.name === name);
  if (!found) {
    const names = chains.map((one) => one.name);
    throw new CountersignError('cli.unknown_chain', unknownChain(name, names));
  }
  const { chain, scope, file } = found;
  if (!chain) throw new CountersignError('cli.broken_chain', brokenChain(name, file, found.diagnostics));
  return { text: chainText(chain, scope, file), json: chainJson(chain, scope, file) };
}
