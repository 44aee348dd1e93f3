/** Why an issue is closed, in GitHub's words. */
export const CLOSING_REASONS = ['completed', 'not_planned'] as const;
export type ClosingReason = (typeof CLOSING_REASONS)[number];
