import type { GitHubStandIn } from '../test/support/github/stand-in.ts';

export interface PullRequestAt {
  repo: string;
  number: number;
  headSha: string;
}

/** Which of these pull requests the app has asked about, in the order of its approval comments. */
export interface Asked {
  readonly inOrder: readonly PullRequestAt[];
  /** Resolves as soon as it is asked. */
  until(pullRequest: PullRequestAt | undefined): Promise<void>;
}

/** Watches the requests for approval comments. @throws Error if two pull requests have the same head */
export function watchAsked(github: GitHubStandIn, pullRequests: readonly PullRequestAt[]): Asked {
  const byHead = new Map(pullRequests.map((one) => [one.headSha, one]));
  if (byHead.size !== pullRequests.length) throw new Error('two pull requests have the same head');
  const asked = new Map<string, PullRequestAt>();
  const waiting = new Map<string, () => void>();
  github.onRequest(({ method, path, mutates, body }) => {
    // The comment comes alone, or with other writes of the same moment.
    const isComment = path === '/graphql' ? mutates?.includes('addComment') : path.endsWith('/comments');
    if (method !== 'POST' || !isComment) return;
    for (const [, head = ''] of JSON.stringify(body).matchAll(/countersign:approval head=([0-9a-f]{40})/g)) {
      const found = byHead.get(head);
      if (!found || asked.has(head)) continue;
      asked.set(head, found);
      waiting.get(head)?.();
    }
  });
  return {
    get inOrder() {
      return [...asked.values()];
    },
    until(pullRequest) {
      const head = pullRequest?.headSha ?? '';
      return asked.has(head) ? Promise.resolve() : new Promise((resolve) => waiting.set(head, resolve));
    },
  };
}
