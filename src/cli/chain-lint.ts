import { lintText } from '../words/cli.ts';
import { checkFiles } from './chain-files.ts';
import type { Context, Said } from './context.ts';

export async function chainLint({ cwd, tools }: Context, paths: readonly string[]): Promise<Said> {
  const { known } = await tools.chains();
  const files = checkFiles(cwd, paths, known);
  return {
    text: lintText(files),
    json: {
      files: files.map(({ file, chain, faults }) => ({ file, ok: faults.length === 0, chain, faults })),
    },
    failed: files.some(({ faults }) => faults.length > 0),
  };
}
