import { unreachable } from '../../core/errors.ts';
import type { RolloutSetting } from '../../domain/chain/rollout-setting.ts';
import type { MergedBy } from '../../domain/policy/gate-check.ts';
import { listed, plural } from '../text/pretty.ts';

interface Question {
  /** How many people would have to answer. */
  count: number;
  /** What would block it then. */
  heldUpBy: readonly string[];
}

/** What a merge step would have done, as a clause. */
export function wouldAskToMerge(question: Question & { by: MergedBy; method: string; base: string }): string {
  return `would have asked ${who(question.count)} to countersign, and then ${merged(question)}${heldUp(question)}`;
}

function merged({ by, method, base }: { by: MergedBy; method: string; base: string }): string {
  switch (by) {
    case 'app':
      return `merged into ${base} (${method})`;
    case 'people':
      return `opened the merge button for ${base}`;
    case 'queue':
      return `added it to the merge queue of ${base}`;
    default:
      return unreachable(by);
  }
}

/** What a step that merges nothing would have done, as a clause. */
export function wouldAsk(step: string, question: Question): string {
  return `would have asked ${who(question.count)} to approve ${step}, and then gone on${heldUp(question)}`;
}

function who(count: number): string {
  return count === 1 ? 'a maintainer' : plural(count, 'maintainer');
}

function heldUp({ heldUpBy: [first] }: Question): string {
  return first === undefined ? '' : `; it would have been held up: ${first}`;
}

/** What an action would have done that waits for what GitHub makes of its write. @param what from `whatIsWritten` */
export function wouldWrite(action: string, what: readonly string[]): string {
  return `${action} would have written: ${what.join('; ')}`;
}

/** Studio and the command line, above what a run would have written. */
export const NOTHING_WRITTEN =
  'Nothing of this was written to GitHub: it is what the run would have written.';

/** Such as "observe for shop-* and api, enforce for all others". */
export function settingInWords(setting: RolloutSetting | undefined): string {
  if (setting === undefined) return 'enforce';
  const [only] = setting;
  if (only && setting.length === 1) return only.level;
  return setting
    .map(({ repositories, level }) =>
      repositories.includes('*') ? `${level} for all others` : `${level} for ${listed(repositories, 'and')}`,
    )
    .join(', ');
}
