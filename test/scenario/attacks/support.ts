import { type Harness, REPO } from '../../support/harness.ts';
import { MERGE_ONLY, open, type Setting, start } from '../support.ts';

export interface OpenApproval {
  harness: Harness;
  number: number;
  headSha: string;
}

/** A pull request of ada's whose maintainers are asked; it waits only for the countersign. */
export async function openApproval(
  setting: Setting = {},
  input: Parameters<typeof open>[1] = {},
  prepare: (harness: Harness) => void = () => {},
): Promise<OpenApproval> {
  const harness = await start({ chain: MERGE_ONLY, ...setting });
  prepare(harness);
  return { harness, ...(await open(harness, input)) };
}

type Request = { method: string; path: string };

/** The requests of one poll between which something can change. */
export const READS = {
  reactions: ({ method, path }: Request) => method === 'GET' && path.includes('/reactions'),
  permission: ({ path }: Request) => path.includes('/permission'),
  membership: ({ path }: Request) => path.includes('/memberships/'),
  commits: ({ path }: Request) => /\/pulls\/\d+\/commits/.test(path),
  merge: ({ method, path }: Request) => method === 'PUT' && path.endsWith('/merge'),
};

/** Does something once, when the next such request has arrived and is not answered yet. */
export function justBefore({ github }: Harness, match: (request: Request) => boolean, act: () => void): void {
  let waiting = true;
  github.fail((request) => {
    if (waiting && match(request)) {
      waiting = false;
      act();
    }
    return false;
  }, 'reset');
}

export function mergeCalls({ github }: Harness): number {
  return github.requests.filter(READS.merge).length;
}

/** The pull requests that were merged on GitHub, by number; with several repositories, of the main one. */
export function merged({ github }: Harness, repo = REPO): number[] {
  return github.merges.filter((merge) => merge.repo === repo).map(({ number }) => number);
}

/** Posts to the app's webhook address what anybody could post. @returns the answered status. */
export async function post(
  { app }: Harness,
  request: { headers: Record<string, string>; body: string },
): Promise<number> {
  const answer = await fetch(`${app.url}/api/github/webhooks`, { method: 'POST', ...request });
  return answer.status;
}
