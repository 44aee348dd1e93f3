import { artifactJson, artifactText } from '../../messages/cli/artifact.ts';
import type { Context, DatabaseOption, Output } from './context.ts';
import { findArtifact } from './find-artifact.ts';

export function artifactShow(
  { clock, tools }: Context,
  id: string,
  { database }: DatabaseOption,
): Promise<Output> {
  return tools.withDatabase(database, 'read', async ({ read }) => {
    const artifact = await findArtifact(read, id);
    const run = await read.runs.get(artifact.runId);
    const { filePath } = artifact;
    const file = filePath === null ? undefined : await (await tools.blobs()).stat(filePath);
    const session = await read.runs.getSession(artifact.sessionId);
    const produced = session?.session.verification?.produced.find(({ artifact_id }) => artifact_id === id);
    return {
      text: artifactText({ artifact, run, size: file?.size, produced }, clock.now()),
      json: {
        ...artifactJson(artifact),
        size: file?.size ?? null,
        mime_type: produced?.mime_type ?? null,
        sha256: produced?.sha256 ?? null,
      },
    };
  });
}
