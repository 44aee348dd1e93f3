/** What became of a request about a run without a pull request. */
export type RequestResult = 'rerun' | 'cancel' | 'no_run' | 'not_allowed' | 'active' | 'over';

const REPLIES: Readonly<Record<RequestResult, string>> = {
  rerun: 'A new run of the chain begins.',
  cancel: 'The run is cancelled.',
  no_run: 'There is no such run any more.',
  not_allowed: 'Your role on the repository does not allow that.',
  active: 'The run has not ended, so it cannot run again.',
  over: 'The run had ended already.',
};

/** The reply in Studio to a person who asked for it. */
export function requestReply(result: RequestResult): { ok: boolean; text: string } {
  return { ok: result === 'rerun' || result === 'cancel', text: REPLIES[result] };
}

/** The reply in Studio to a person who fired a chain for a branch. */
export function fireAccepted(chain: string): { ok: true; text: string } {
  return { ok: true, text: `${chain} is fired.` };
}

export const FIRE_NOT_ALLOWED = {
  ok: false,
  text: 'Firing a chain by hand needs maintain access to the repository.',
} as const;

/** @param because a clause */
export function fireRefused(chain: string, because: string): string {
  return `${chain} is not fired: ${because.replace(/\.$/, '')}.`;
}
