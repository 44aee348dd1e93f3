import type { GitHubStandIn } from '../support/github/stand-in.ts';
import type { SignedRequest } from '../support/github/webhooks.ts';

export interface ManyRepositories {
  /** `owner/name` of every repository; each owner has the app installed, and one repository. */
  repositories: string[];
  pullRequests: { repo: string; number: number; headSha: string }[];
}

export interface ManyRepositoriesOptions {
  repositories: number;
  pullRequests: number;
  /** The repositories' own chain, which replaces the shipped one; the shipped one by default. */
  chain?: string;
}

/**
 * Many owners with a repository each, and pull requests in turn in all of them, whose webhooks are held. Separate owners, because
 * GitHub's limits apply per installation.
 */
export async function createRepositories(
  github: GitHubStandIn,
  options: ManyRepositoriesOptions,
): Promise<ManyRepositories> {
  const repositories = Array.from({ length: options.repositories }, (_, index) => {
    const owner = `owner-${index}`;
    github.addOrganization(owner);
    github.addRepository({
      owner,
      name: 'app',
      files: {
        'README.md': '# App\n',
        ...(options.chain === undefined
          ? {}
          : { '.github/countersign/chains/pr-review.yaml': options.chain }),
      },
      collaborators: { mia: 'maintain', ada: 'write' },
    });
    github.installApp(owner);
    return `${owner}/app`;
  });
  github.holdDeliveries();
  const pullRequests: ManyRepositories['pullRequests'] = [];
  for (let index = 0; index < options.pullRequests; index++) {
    const repo = repositories[index % repositories.length] ?? '';
    const opened = await github.openPullRequest({
      repo,
      author: 'ada',
      branch: `change-${index}`,
      title: `Change ${index}`,
      files: { [`src/part-${index}.ts`]: `export const part: number = ${index};\n` },
    });
    pullRequests.push({ repo, ...opened });
  }
  return { repositories, pullRequests };
}

/** Other events, until there are `count` of them: those that an app on every repository gets all day. */
export async function sendOtherEvents(
  github: GitHubStandIn,
  many: ManyRepositories,
  count: number,
): Promise<void> {
  const tickets = new Map<string, number>();
  for (const repo of many.repositories) {
    tickets.set(repo, await github.createIssue(repo, 'otto', 'It does not work'));
  }
  const before = github.deliveries.length;
  for (let index = 0; github.deliveries.length < before + count; index++) {
    const repo = many.repositories[index % many.repositories.length] ?? '';
    const oldCommit = github.branch(repo, 'main') ?? '';
    const context = `nightly-${index}`;
    if (index % 10 === 0) await github.setStatus(repo, oldCommit, { context, state: 'success' });
    else if (index % 10 === 1) {
      await github.reportCheck(repo, oldCommit, {
        name: context,
        status: 'completed',
        conclusion: 'success',
      });
    } else {
      const text = index % 10 === 2 ? '> /countersign cancel\n\nNo.' : `It still does not work, ${index}`;
      await github.comment(repo, tickets.get(repo) ?? 0, 'otto', text);
    }
  }
}

/**
 * The held webhooks, signed, in order.
 * @param bytes Each body is filled up to this size with a field that nobody reads.
 */
export function signedDeliveries(github: GitHubStandIn, bytes = 0): SignedRequest[] {
  return github.deliveries.map(({ event, payload, guid }) => {
    const filled = filledTo(payload, bytes);
    return github.signedDelivery(event, filled, guid);
  });
}

function filledTo(payload: unknown, bytes: number): unknown {
  const missing = bytes - JSON.stringify(payload).length - '"filling":"",'.length;
  return missing <= 0 ? payload : { ...(payload as object), filling: 'x'.repeat(missing) };
}
