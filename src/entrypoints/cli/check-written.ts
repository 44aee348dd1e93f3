import { rmSync } from 'node:fs';
import type { Diagnostic } from '../../core/diagnostic.ts';
import { CountersignError } from '../../core/errors.ts';
import type { FileText } from '../../domain/first-look/seen.ts';
import { temporaryFolder } from '../../sandbox/temporary-folder.ts';
import { checkFiles } from './chain-files.ts';
import { writeAll } from './checkout.ts';
import type { Context } from './context.ts';
import { namesKnownIn } from './known-names.ts';

/**
 * Checks files of a repository before they are written, as `chain lint` does, in a folder of their own.
 * @throws CountersignError for errors, with the sentence for them
 */
export async function checkWritten(
  { tools }: Pick<Context, 'tools'>,
  files: readonly FileText[],
  sentence: (diagnostics: readonly Diagnostic[]) => string,
): Promise<void> {
  const folder = await temporaryFolder('written');
  try {
    writeAll({ root: folder }, files);
    const chains = await tools.chains();
    const names = await namesKnownIn(folder, [], chains.known, tools);
    const checked = checkFiles(
      folder,
      [],
      names,
      () => chains.shipped,
      (chain) => chains.foldContracts(chain, names.packages),
    );
    const diagnostics = checked.flatMap((file) => file.diagnostics);
    if (diagnostics.length > 0) throw new CountersignError('cli.invalid_files', sentence(diagnostics));
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}
