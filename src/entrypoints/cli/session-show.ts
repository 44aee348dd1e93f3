import { CountersignError } from '../../core/errors.ts';
import { artifactJson, sessionJson, sessionText, unknownSession } from '../../messages/cli/artifact.ts';
import type { Context, DatabaseOption, Output } from './context.ts';

/** One attempt at a step: how it ended, what its contract requires, and what it left. */
export function sessionShow(
  { clock, tools }: Context,
  id: string,
  { database }: DatabaseOption,
): Promise<Output> {
  return tools.withDatabase(database, 'read', async ({ read }) => {
    const found = await read.runs.getSession(id);
    if (!found) throw new CountersignError('cli.unknown_session', unknownSession(id));
    const artifacts = (await read.artifacts.ofRun(found.state.run.id)).filter(
      ({ sessionId }) => sessionId === id,
    );
    return {
      text: (screen) => sessionText({ ...found, artifacts }, clock.now(), screen),
      json: { ...sessionJson(found), artifacts: artifacts.map((artifact) => artifactJson(artifact)) },
    };
  });
}
