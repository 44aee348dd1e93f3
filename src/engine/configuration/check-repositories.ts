import type { Clock } from '../../core/clock.ts';
import type { Diagnostic } from '../../core/diagnostic.ts';
import { unreachable } from '../../core/errors.ts';
import { type GitHub, GitHubError, type InstalledRepository } from '../../ports/github.ts';
import type { ConfigurationLoader } from './configuration.ts';

/** How many repositories are read at the same time. */
const AT_ONCE = 4;
/** After how many milliseconds a request is repeated that GitHub could not answer. */
const AGAIN_MS = [1_000, 5_000];
/** How long a rate limit is waited for if GitHub does not say when it ends, in milliseconds. */
const LIMITED_MS = 60_000;

/** What the configuration of a repository's default branch is like. */
export type CheckedRepository = { repository: string } & (
  | { kind: 'read'; errors: readonly Diagnostic[] }
  /** The default branch has no commit yet. */
  | { kind: 'empty' }
  | { kind: 'unreadable'; because: string }
);

/** What is said of the progress. */
export type CheckProgress = { kind: 'read'; done: number; of: number } | { kind: 'limited'; until: Date };

export interface CheckDeps {
  github: Pick<GitHub, 'reader'>;
  configuration: Pick<ConfigurationLoader, 'atBranch'>;
  clock: Clock;
  pause(ms: number): Promise<void>;
}

/**
 * Reads the configuration of each repository as the app would, and leaves the urgent part of the request budget to the app. Waits
 * while GitHub limits requests. A repository that cannot be read does not keep the others from being read.
 */
export async function checkRepositories(
  deps: CheckDeps,
  installationId: number,
  repositories: readonly InstalledRepository[],
  onProgress: (progress: CheckProgress) => void,
): Promise<CheckedRepository[]> {
  const checked: CheckedRepository[] = [];
  const left = repositories.values();
  const worker = async () => {
    for (const repository of left) {
      checked.push(await checkRepository(deps, installationId, repository, onProgress));
      onProgress({ kind: 'read', done: checked.length, of: repositories.length });
    }
  };
  await Promise.all(Array.from({ length: AT_ONCE }, worker));
  return checked;
}

async function checkRepository(
  deps: CheckDeps,
  installationId: number,
  repository: InstalledRepository,
  onProgress: (progress: CheckProgress) => void,
): Promise<CheckedRepository> {
  const { github, configuration } = deps;
  const name = `${repository.owner}/${repository.name}`;
  const reader = github.reader(installationId, 'background');
  try {
    const found = await patiently(deps, onProgress, () =>
      configuration.atBranch(installationId, repository, repository.defaultBranch, { reader }),
    );
    if (!found) return { repository: name, kind: 'empty' };
    return { repository: name, kind: 'read', errors: found.broken.flatMap(({ diagnostics }) => diagnostics) };
  } catch (error) {
    if (!(error instanceof GitHubError)) throw error;
    return { repository: name, kind: 'unreadable', because: error.message };
  }
}

/**
 * Repeats what GitHub limits until it answers, and a few times what it cannot answer.
 * @throws GitHubError for every other answer
 */
export async function patiently<T>(
  { clock, pause }: Pick<CheckDeps, 'clock' | 'pause'>,
  onProgress: (progress: CheckProgress) => void,
  work: () => Promise<T>,
): Promise<T> {
  for (let failed = 0; ; ) {
    try {
      return await work();
    } catch (error) {
      if (!(error instanceof GitHubError)) throw error;
      switch (error.kind) {
        case 'rate_limited': {
          const now = clock.now().getTime();
          const until = error.retryAt ?? new Date(now + LIMITED_MS);
          onProgress({ kind: 'limited', until });
          await pause(Math.max(1_000, until.getTime() - now));
          break;
        }
        case 'unavailable': {
          const again = AGAIN_MS[failed++];
          if (again === undefined) throw error;
          await pause(again);
          break;
        }
        case 'forbidden':
        case 'invalid':
        case 'not_found':
          throw error;
        default:
          unreachable(error.kind);
      }
    }
  }
}
