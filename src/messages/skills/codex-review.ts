export const REVIEWED_BY_CODEX = 'Reviewed by the agent Codex.';

/** Why Codex did not review, as a clause. */
export const NO_CODEX = {
  notWanted: 'this chain asks no language model',
  notHere: 'no agent can be run here',
} as const;

export function reviewedWithoutCodex(because: string): string {
  return `Reviewed by the built-in review instead of Codex: ${because}.`;
}
