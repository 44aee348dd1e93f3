import { lintText, nothingToLint } from '../../messages/cli/cli.ts';
import { checkFiles } from './chain-files.ts';
import type { Context, Output } from './context.ts';
import { namesKnownIn } from './known-names.ts';

/** Fails for errors, with `strict` for warnings too, and if a path that was named has nothing to check. */
export async function chainLint(
  { cwd, tools }: Context,
  paths: readonly string[],
  { strict = false }: { strict?: boolean },
): Promise<Output> {
  const chains = await tools.chains();
  const names = await namesKnownIn(cwd, paths, chains.known, tools);
  const files = checkFiles(
    cwd,
    paths,
    names,
    () => chains.shipped,
    (chain) => chains.foldContracts(chain, names.packages),
  );
  const fails = ({ diagnostics, warnings }: (typeof files)[number]) =>
    diagnostics.length > 0 || (strict && warnings.length > 0);
  return {
    text: (screen) => (files.length === 0 ? nothingToLint(paths) : lintText(files, screen)),
    json: {
      files: files.map((file) => ({
        file: file.file,
        ok: !fails(file),
        chain: file.chain,
        faults: file.diagnostics,
        warnings: file.warnings,
        expected_artifacts: file.contracts.flatMap(({ expected }) => expected),
      })),
    },
    failed: files.length === 0 ? paths.length > 0 : files.some(fails),
  };
}
