import { lintText } from '../../messages/cli/cli.ts';
import { checkFiles } from './chain-files.ts';
import type { Context, Output } from './context.ts';
import { namesKnownIn } from './known-names.ts';

export async function chainLint({ cwd, tools }: Context, paths: readonly string[]): Promise<Output> {
  const { known, shipped, foldContracts } = await tools.chains();
  const names = await namesKnownIn(cwd, paths, known, tools);
  const files = checkFiles(cwd, paths, names, shipped, (chain) => foldContracts(chain, names.packages));
  return {
    text: lintText(files),
    json: {
      files: files.map(({ file, chain, diagnostics, contracts }) => ({
        file,
        ok: diagnostics.length === 0,
        chain,
        faults: diagnostics,
        expected_artifacts: contracts.flatMap(({ expected }) => expected),
      })),
    },
    failed: files.some(({ diagnostics }) => diagnostics.length > 0),
  };
}
