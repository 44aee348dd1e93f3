import type { RunStatus } from '../../domain/run/run.ts';
import { runTable } from '../../messages/cli/cli.ts';
import { runJson } from '../../messages/cli/run-json.ts';
import type { RunFilter } from '../../ports/storage.ts';
import type { Context, DatabaseOption, Output } from './context.ts';

export interface RunListOptions extends DatabaseOption {
  repo?: string;
  pr?: number;
  status?: RunStatus;
  active?: true;
  limit: number;
}

export function runList({ clock, tools }: Context, options: RunListOptions): Promise<Output> {
  const { repo, pr, status, active, limit } = options;
  const filter: RunFilter = {
    ...(repo === undefined ? {} : { repository: repo }),
    ...(pr === undefined ? {} : { pullRequest: pr }),
    ...(status === undefined ? {} : { status }),
    ...(active === undefined ? {} : { active }),
  };
  return tools.withDatabase(options.database, 'read', async ({ read }) => {
    const runs = await read.runs.list({ ...filter, limit });
    const states = await Promise.all(runs.map((run) => read.runs.load(run.id)));
    const pages = await tools.pages();
    return {
      text: (screen) => {
        const listed = runs.map((run, at) => ({ run, state: states[at] }));
        return runTable(listed, Object.keys(filter).length > 0, clock.now(), screen);
      },
      json: states.filter((state) => state !== undefined).map((state) => runJson(state, pages)),
    };
  });
}
