import { BLOB_KINDS } from '../../domain/artifact/artifact.ts';
import { OUTCOME_KINDS } from '../../domain/outcome/outcome.ts';
import { isOwnKind } from '../../domain/outcome/own-outcome.ts';
import { artifactJson, artifactTable, noSuchKind } from '../../messages/cli/artifact.ts';
import type { ArtifactFilter } from '../../ports/storage.ts';
import { type Context, type DatabaseOption, type Output, UsageError } from './context.ts';
import type { Since } from './options.ts';

export interface ArtifactListOptions extends DatabaseOption {
  run?: string;
  kind?: string;
  failed?: true;
  since?: Since;
  limit: number;
}

export function artifactList(
  { clock, tools, progress }: Context,
  options: ArtifactListOptions,
): Promise<Output> {
  const { run, kind, failed, since, limit, database } = options;
  const kinds: readonly string[] = [...OUTCOME_KINDS, ...BLOB_KINDS];
  if (kind !== undefined && !kinds.includes(kind) && !isOwnKind(kind))
    throw new UsageError(noSuchKind(kind, kinds));
  const from = since && ('at' in since ? since.at : new Date(clock.now().getTime() - since.agoMs));
  const filter: ArtifactFilter = {
    ...(run === undefined ? {} : { runId: run }),
    ...(kind === undefined ? {} : { kind }),
    ...(failed === undefined ? {} : { failed }),
    ...(from === undefined ? {} : { since: from }),
    limit,
  };
  return tools.withDatabase(database, 'read', async ({ read }) => {
    let damaged = 0;
    const found = await read.artifacts.list(filter, ({ message }) => {
      damaged++;
      progress(message);
    });
    const runs = new Map(
      await Promise.all(
        [...new Set(found.map(({ runId }) => runId))].map(
          async (id) => [id, await read.runs.get(id)] as const,
        ),
      ),
    );
    const listed = found.map((artifact) => ({ artifact, run: runs.get(artifact.runId) }));
    return {
      failed: damaged > 0,
      text: (screen) => artifactTable(listed, clock.now(), screen),
      json: found.map((artifact) => artifactJson(artifact)),
    };
  });
}
