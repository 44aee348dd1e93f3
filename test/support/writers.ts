import { FULL_ROLLOUT } from '../../src/domain/policy/rollout.ts';
import { createWriters, type Writers } from '../../src/engine/effects/writers.ts';
import type { Chat } from '../../src/ports/chat.ts';
import type { GitHub } from '../../src/ports/github.ts';

const noChat: Pick<Chat, 'post'> = {
  post: () => Promise.reject(new Error('this test has no chat')),
};

/** Writers of a repository where everything may be written. */
export function everyWriter(github: Pick<GitHub, 'writer'>): Writers {
  return createWriters({ github, chat: noChat, configuration: { rolloutOf: async () => FULL_ROLLOUT } });
}
