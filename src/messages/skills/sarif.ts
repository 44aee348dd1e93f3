import { plural } from '../text/pretty.ts';

/** `{message}` is the tool's own message. */
export const CI_SAYS = 'A tool of the repository’s CI says: {message}.';
export const LOOK_AT_THE_TOOL = 'See what the tool says about this rule.';

/** Why a report gave no verdict, as parts of a sentence. */
export const NO_RIGHT_TO_READ =
  'the app may not read what workflow runs leave: give it the permission "actions: read"';

export function noReport(artifact: string): string {
  return `no workflow run of this head has left an artifact ${JSON.stringify(artifact)}, and CI is done`;
}

export function unreadableReport(artifact: string, because: string): string {
  return `the artifact ${JSON.stringify(artifact)} is no report that can be read: ${because}`;
}

export const NO_SARIF_IN_IT = 'it holds no file that ends in .sarif or .sarif.json';
export const TOO_LARGE_OR_EXPIRED = 'it is too large, or has expired';

/** Shown instead of a path. */
export const IN_THE_REPORT = '(the report)';

export function furtherReports(unread: number, most: number): string {
  return `${plural(unread, 'further workflow run')} left one as well, and only those of the newest ${most} are read`;
}

/** @param blocking how many of them would block a merge */
export function nowhere(results: number, blocking: number): string {
  const stop = blocking > 0 ? `, and ${blocking} of them would block the merge` : '';
  return `${results} of its results cannot be placed in the repository${stop}`;
}
