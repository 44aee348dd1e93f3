import { writeFileSync } from 'node:fs';
import { resolve } from 'node:path';
import { CountersignError } from '../../core/errors.ts';
import { artifactWritten, blobIsGone, notForTerminals } from '../../messages/cli/artifact.ts';
import { unwritableFile } from '../../messages/cli/cli.ts';
import type { Context, DatabaseOption, Result } from './context.ts';
import { findArtifact } from './find-artifact.ts';

export interface ArtifactGetOptions extends DatabaseOption {
  output?: string;
}

/**
 * Writes the content as it is: to a file, or to the output if it is text that a terminal can show. Nobody can
 * say what the bytes of a pull request do to a terminal.
 */
export function artifactGet(
  { cwd, tools, write }: Context,
  id: string,
  { output, database }: ArtifactGetOptions,
): Promise<Result> {
  return tools.withDatabase(database, 'read', async ({ read }): Promise<Result> => {
    const { content, filePath } = await findArtifact(read, id);
    const bytes = filePath === null ? Buffer.from(`${content}\n`) : await (await tools.blobs()).get(filePath);
    if (!bytes) throw new CountersignError('cli.blob_is_gone', blobIsGone(id));
    if (output !== undefined) {
      try {
        // `wx`: an existing file, or what a link points to, stays as it is.
        writeFileSync(resolve(cwd, output), bytes, { flag: 'wx' });
      } catch (error) {
        throw new CountersignError(
          'cli.unwritable',
          unwritableFile(output, (error as NodeJS.ErrnoException).code),
        );
      }
      return { text: artifactWritten(output, bytes.length), json: { id, file: output, bytes: bytes.length } };
    }
    const text = textOf(bytes);
    if (text === undefined) throw new CountersignError('cli.not_text', notForTerminals(id));
    await write(text);
    return { ran: true, failed: false };
  });
}

function textOf(bytes: Uint8Array): string | undefined {
  try {
    const text = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(bytes);
    return /[^\P{Cc}\t\n\r]|[\u202A-\u202E\u2066-\u2069]/u.test(text) ? undefined : text;
  } catch {
    return undefined;
  }
}
