/** Exactly as the description of the project writes it. */
export const DESCRIBED_CHAIN = `name: pr-review-chain
trigger: { event: pr.opened, filter: { base: main, draft: false } }
steps:
  - { skill: codex-pr-review, with: { pr: "{{ trigger.pr_number }}", effort: high }, timeout: 30m }
  - { skill: ci, condition: "{{ steps[0].outcome.verdict == 'APPROVE' }}", with: { scope: full } }
  - { action: gh-merge, condition: "{{ steps[0].outcome.passed and steps[1].outcome.passed }}", with: { pr: "{{ trigger.pr_number }}", method: squash }, requires_approval: true }
  - { action: gh-comment, condition: "{{ steps[0].outcome.verdict == 'REQUEST_CHANGES' }}", with: { pr: "{{ trigger.pr_number }}", body: "{{ steps[0].outcome.summary }}" } }
`;
