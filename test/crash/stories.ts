import type { Story } from './play.ts';

/** A chain of the repository's own that stands in the shipped one's place: the same way to the merge without the slow review. */
const WITHOUT_REVIEW = `
name: pr-review
trigger: { event: pr.opened }
steps:
  - id: ci
    skill: ci
  - id: merge
    action: gh-merge
    condition: "{{ steps.ci.outcome.passed }}"
    requires_approval: true
    with: { pr: "{{ trigger.pr_number }}" }
  - id: mark
    action: gh-label
    with: { pr: "{{ trigger.pr_number }}", labels: [merged] }
  - id: thank
    action: gh-comment
    with: { pr: "{{ trigger.pr_number }}", body: Thank you. }
`;

export const withoutReview: Story = {
  base: { '.github/countersign/chains/pr-review.yaml': WITHOUT_REVIEW },
};

/** The shipped chain; the review has a suggestion to annotate, which does not stand in the way of merging. */
export const withReview: Story = {
  change: {
    'src/notify.ts': [
      'export async function notify(send: () => Promise<void>): Promise<void> {',
      '  try {',
      '    await send();',
      '  } catch {}',
      '}',
      '',
    ].join('\n'),
  },
};
