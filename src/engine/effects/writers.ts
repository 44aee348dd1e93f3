import type { Effect } from '../../domain/effect/effect.ts';
import { levelOf, lowerOf, mayWrite, type Rollout, type RolloutLevel } from '../../domain/policy/rollout.ts';
import type { Chat } from '../../ports/chat.ts';
import type { GitHub, GitHubWriter, Urgency } from '../../ports/github.ts';
import type { ConfigurationLoader } from '../configuration/configuration.ts';

/** How an effect may be written, or the level that withholds it. */
export type Permitted = { github: GitHubWriter; post: Chat['post'] } | { withheld: RolloutLevel };

/**
 * The only source of what writes, to GitHub and to chats: whatever is written was permitted here by the rollout, as it was when the
 * run began and as it is now. The lower one counts, so that a level that is lowered stops what has begun, and one that is raised
 * does not write what was never meant to be written.
 */
export interface Writers {
  /**
   * @param run that requests the effect; `undefined` for one without a run
   * @throws GitHubError if GitHub does not show the organisation's settings now
   */
  for(
    effect: Pick<Effect, 'kind' | 'installation_id' | 'owner' | 'repo'>,
    run: Begun | undefined,
    urgency?: Urgency,
  ): Promise<Permitted>;
  /** For effects that were all permitted, and share a request. */
  shared(installationId: number, urgency: Urgency): GitHubWriter;
  /**
   * For taking back what this app has opened: a green gate check, and a place in the merge queue. No level prevents that, because a
   * gate that stays open merges on old facts.
   */
  takingBack(installationId: number, urgency?: Urgency): GitHubWriter;
}

type Begun = { facts: { rollout?: RolloutLevel } };

export function createWriters({
  github,
  chat,
  configuration,
}: {
  github: Pick<GitHub, 'writer'>;
  chat: Pick<Chat, 'post'>;
  configuration: Pick<ConfigurationLoader, 'rolloutOf'>;
}): Writers {
  return {
    async for({ kind, installation_id: installationId, owner, repo }, run, urgency) {
      const began = run ? levelOf(run) : 'enforce';
      if (!mayWrite(began, kind)) return { withheld: began };
      const { level }: Rollout = await configuration.rolloutOf(
        installationId,
        { owner, name: repo },
        urgency === undefined ? {} : { urgency },
      );
      const lower = lowerOf(began, level);
      if (!mayWrite(lower, kind)) return { withheld: lower };
      return { github: github.writer(installationId, urgency), post: chat.post };
    },
    shared: (installationId, urgency) => github.writer(installationId, urgency),
    takingBack: (installationId, urgency) => github.writer(installationId, urgency),
  };
}
