import { LRUCache } from 'lru-cache';
import type { Clock } from '../../core/clock.ts';
import type { TokenOwner } from '../../domain/api-token/api-token.ts';
import type { GitHub } from '../../ports/github.ts';
import type { ReadTx } from '../../ports/storage.ts';

/** Which of the repositories the owner of a token may see now. @throws GitHubError if GitHub had to be asked and did not answer */
export type OwnersAccess = (owner: TokenOwner, repositoryIds: readonly number[]) => Promise<number[]>;

/** How long GitHub's answer counts. */
const ANSWER_MS = 300_000;
/** Until GitHub is asked again after it did not answer. */
const FAILED_MS = 5_000;

/**
 * Asks GitHub, as the App, which role the owner has. The token of a person outlives their sessions, so nothing of these can
 * be asked. A login or the name of a repository that means another one by now, and a repository in which nothing has run,
 * count as no access.
 * @param github opened by the first token of a person
 */
export function ownersAccess({
  read,
  github,
  clock,
}: {
  read: ReadTx;
  github: () => Promise<Pick<GitHub, 'reader'>>;
  clock: Clock;
}): OwnersAccess {
  const known = new LRUCache<string, { answer: Promise<boolean>; until: number }>({ max: 5_000 });

  async function ask(owner: TokenOwner, repositoryId: number): Promise<boolean> {
    const [run] = await read.runs.list({ repositoryIds: [repositoryId], limit: 1 });
    if (!run) return false;
    const [account = '', name = ''] = run.repository.split('/');
    const reader = (await github()).reader(run.installationId, 'person');
    const repository = { owner: account, name };
    const found = await reader.collaborator(repository, owner.login);
    if (found?.person.id !== owner.id || found.role === 'none') return false;
    return (await reader.repository(repository)).id === repositoryId;
  }

  function sees(owner: TokenOwner, repositoryId: number): Promise<boolean> {
    const key = `${owner.id} ${owner.login} ${repositoryId}`;
    const now = clock.now().getTime();
    const before = known.get(key);
    if (before && before.until > now) return before.answer;
    const asked = { answer: ask(owner, repositoryId), until: now + ANSWER_MS };
    asked.answer.catch(() => {
      asked.until = Math.min(asked.until, clock.now().getTime() + FAILED_MS);
    });
    known.set(key, asked);
    return asked.answer;
  }

  return async (owner, repositoryIds) => {
    const seen = await Promise.allSettled(repositoryIds.map((id) => sees(owner, id)));
    const [failed] = seen.flatMap((one) => (one.status === 'rejected' ? [one.reason] : []));
    // One of which GitHub says nothing, such as where the App was suspended, keeps nobody from the others.
    if (failed !== undefined && seen.every(({ status }) => status === 'rejected')) throw failed;
    return repositoryIds.filter((_, at) => {
      const one = seen[at];
      return one?.status === 'fulfilled' && one.value;
    });
  };
}
