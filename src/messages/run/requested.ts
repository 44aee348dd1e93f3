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
