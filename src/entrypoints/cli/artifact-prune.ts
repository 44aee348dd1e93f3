import { pruned } from '../../messages/cli/cli.ts';
import { artifactPages, forEach } from './artifact-pages.ts';
import type { Context, DatabaseOption, Output } from './context.ts';
import { pathsOf, tracePages } from './trace-pages.ts';

export interface ArtifactPruneOptions extends DatabaseOption {
  /** In milliseconds. */
  olderThan: number;
  dryRun?: true;
}

/**
 * Deletes the artifacts and traces of runs that ended long ago. This is safe while the app runs, because an
 * ended run writes nothing. The blobs are deleted before their rows: after an interruption, the next prune
 * finds the rows and continues. In the other order, a blob could remain without a row.
 */
export function artifactPrune({ clock, tools }: Context, options: ArtifactPruneOptions): Promise<Output> {
  const { olderThan, dryRun = false, database } = options;
  const before = new Date(clock.now().getTime() - olderThan);
  return tools.withDatabase(database, dryRun ? 'read' : 'write', async (storage) => {
    const blobs = await tools.blobs();
    const runs = new Set<string>();
    const count = { artifacts: 0, traces: 0, blobs: 0 };
    for await (const page of artifactPages(storage.read.artifacts, before)) {
      const paths = page.flatMap(({ filePath }) => filePath ?? []);
      if (!dryRun) {
        await forEach(paths, (path) => blobs.delete(path));
        await storage.transaction((tx) => tx.artifacts.remove(page.map(({ id }) => id)));
      }
      for (const { runId } of page) runs.add(runId);
      count.artifacts += page.length;
      count.blobs += paths.length;
    }
    for await (const page of tracePages(storage.read.skillTraces, { overBefore: before })) {
      const paths = new Set(page.flatMap(pathsOf));
      if (!dryRun) {
        await forEach([...paths], (path) => blobs.delete(path));
        await storage.transaction((tx) => tx.skillTraces.remove(page.map(({ id }) => id)));
      }
      for (const { of } of page) if ('runId' in of) runs.add(of.runId);
      count.traces += page.length;
      count.blobs += paths.size;
    }
    return {
      text: pruned({ ...count, runs: runs.size, dryRun }),
      json: { dry_run: dryRun, before: before.toISOString(), runs: runs.size, ...count },
    };
  });
}
