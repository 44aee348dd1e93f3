import type { Act, Person } from './story.ts';

/** How a pull request must end, computed from what people did and nothing else. */
export interface ExpectedEnd {
  state: 'open' | 'closed';
  merged: 'by the app' | 'by hand' | 'no';
  /** Where the newest run of the chain ends. */
  run: 'completed' | 'failed' | 'cancelled' | 'waiting_approval' | 'waiting_ci';
  /** It was closed before anybody was asked. The app may hear of it only then, and has nothing to say about it. */
  mayGoUnseen: boolean;
  /** How many approval comments each head gets, from the first head on, as minimum and maximum. */
  questions: { fewest: number; most: number }[];
  /**
   * How many check runs one run may have: one that continues after its end gets another. GitHub may report red CI twice, and the
   * run continues each time; where that takes long, people see it.
   */
  mostCheckRuns: number;
}

const MAY_COUNTERSIGN: readonly Person[] = ['mia', 'max'];

/**
 * The rules in a few lines, written independently of the app: the maintainers are asked once about a head whose CI is green; the
 * first of their answers decides; a push voids everything before it.
 */
export function expectedEnd(story: readonly Act[]): ExpectedEnd {
  let state: ExpectedEnd['state'] = 'open';
  let merged: ExpectedEnd['merged'] = 'no';
  let ci: 'success' | 'failure' | undefined;
  let rejected = false;
  let wasRed = false;
  let wasSeen = false;
  const heads = [{ fewest: 0, most: 0 }];
  const head = () => heads.at(-1) ?? { fewest: 0, most: 0 };

  for (const act of story) {
    switch (act.do) {
      case 'ci':
        ci = act.state;
        wasRed ||= ci === 'failure';
        // Somebody may close it or push before the approval comment exists.
        if (ci === 'success') head().most = 1;
        break;
      case 'read_question':
        head().fewest = 1;
        wasSeen = true;
        break;
      case 'react':
        if (state === 'closed' || rejected || !MAY_COUNTERSIGN.includes(act.login)) break;
        if (act.content === '-1') rejected = true;
        else if (act.content !== 'heart') [merged, state] = ['by the app', 'closed'];
        break;
      case 'react_to_first':
        // In every story it comes after a push or a close, which made that approval void.
        break;
      case 'push':
        // If its event is lost, the app may still ask about the earlier head, and notices at its next poll.
        head().most = Math.max(1, head().most);
        heads.push({ fewest: 0, most: 0 });
        [ci, rejected] = [undefined, false];
        break;
      case 'close':
        head().most = Math.max(1, head().most);
        state = 'closed';
        break;
      case 'reopen':
        state = 'open';
        // A reopened pull request starts again, with its own approval comment.
        head().most += 1;
        break;
      case 'merge_by_hand':
        [merged, state] = ['by hand', 'closed'];
        break;
      case 'nothing_for':
        break;
    }
  }
  if (state === 'open' && ci === 'success') head().fewest = Math.max(1, head().fewest);
  return {
    state,
    merged,
    run: runOf(),
    mayGoUnseen: state === 'closed' && !wasSeen,
    questions: heads,
    mostCheckRuns: wasRed ? 3 : 1,
  };

  function runOf(): ExpectedEnd['run'] {
    if (merged === 'by the app') return 'completed';
    if (rejected) return 'failed';
    if (state === 'closed') return 'cancelled';
    if (ci === 'success') return 'waiting_approval';
    return ci === 'failure' ? 'completed' : 'waiting_ci';
  }
}
