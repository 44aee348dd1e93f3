import { redact } from '../../core/redact/redact.ts';
import type { OpenPullRequest } from '../../ports/github.ts';
import { visible } from '../text/markdown.ts';
import { clip, plural } from '../text/pretty.ts';

/** GitHub's own limit is 256 characters; invisible ones are spelled out here. */
const MAX_TITLE = 200;

/** @param atLeast there are more than were read */
export function staleSummary(count: number, days: number, atLeast: boolean): string {
  const time = plural(days, 'day');
  if (count === 0)
    return atLeast
      ? `too many open pull requests had no activity for ${time}: the ones that were read are left out, and the others were not read`
      : `no open pull request was without activity for ${time}`;
  return `${atLeast ? 'at least ' : ''}${plural(count, 'open pull request')} had no activity for ${time}`;
}

/**
 * The pull request on one line. The title is untrusted, so encode the line where you show it. The number is no reference, which would
 * add an entry to the timeline of each pull request. It has a date and not an age, so that
 * an issue with it is the same every night.
 */
export function staleEntry({ number, title, author, draft, updatedAt }: OpenPullRequest): string {
  // Redact before clipping: half a secret is not recognised as one.
  const line = redact(visible(title.toWellFormed()).replaceAll(/\s+/g, ' ').trim());
  const since = updatedAt.toISOString().slice(0, 10);
  return `${number}: ${clip(line, MAX_TITLE)}, by ${author.login}, ${draft ? 'a draft, ' : ''}no activity since ${since}`;
}
