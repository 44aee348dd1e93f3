import { CountersignError } from '../../core/errors.ts';
import type { Artifact } from '../../domain/artifact/artifact.ts';
import { unknownArtifact } from '../../messages/cli/artifact.ts';
import type { ReadTx } from '../../ports/storage.ts';

/** @throws CountersignError `cli.unknown_artifact` if there is no artifact with this id */
export async function findArtifact({ artifacts }: ReadTx, id: string): Promise<Artifact> {
  const found = await artifacts.get(id);
  if (!found) throw new CountersignError('cli.unknown_artifact', unknownArtifact(id));
  return found;
}
