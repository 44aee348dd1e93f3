import { REPO } from '../support/harness.ts';
import type { OpenApproval } from './attacks/support.ts';
import { A_RECHECK, open, ownCheck, type Setting, start } from './support.ts';

/** A chain whose label waits for a person, and whose merge then waits for another answer. */
export const LABEL_AND_MERGE = `name: pr-review
trigger: { event: pr.opened, filter: { draft: false } }
steps:
  - id: safe
    action: gh-label
    requires_approval: true
    with: { labels: [safe-to-test] }
  - id: merge
    action: gh-merge
    requires_approval: true
    with: { pr: "{{ trigger.pr_number }}" }
`;

/** A pull request of ada's whose first step waits for an approval. */
export async function openConfirmation(
  setting: Setting = {},
  input: Parameters<typeof open>[1] = {},
): Promise<OpenApproval> {
  const harness = await start({ chain: LABEL_AND_MERGE, ...setting });
  return { harness, ...(await open(harness, input)) };
}

/** Somebody comments, and the app has polled. @returns its replies; none if it found no command. */
export async function commentAndPoll(
  { harness, number }: OpenApproval,
  login: string,
  body: string,
): Promise<string[]> {
  const id = await harness.github.comment(REPO, number, login, body);
  await harness.advance(A_RECHECK);
  return replies({ harness, number }, id);
}

export function replies(
  { harness, number }: Pick<OpenApproval, 'harness' | 'number'>,
  to: number | string,
): string[] {
  return harness.github
    .comments(REPO, number)
    .filter(({ body }) => body.includes(`countersign:reply to=${to}`))
    .map(({ body }) => body.split('\n').slice(1).join('\n'));
}

/** The identifier of the check run's button Approve, if it has one. */
export function approveButton({ harness, headSha }: OpenApproval): string | undefined {
  return ownCheck(harness, headSha).actions.find(({ label }) => label === 'Approve')?.identifier;
}

/** Somebody presses the check run's current button Approve, and the app has polled. */
export async function pressApprove(asked: OpenApproval, login: string): Promise<void> {
  const { harness, headSha } = asked;
  await harness.github.clickAction(
    REPO,
    ownCheck(harness, headSha).id,
    login,
    approveButton(asked) ?? 'none',
  );
  await harness.advance(A_RECHECK);
}

/** Whether the step that waited has continued: the label is there. */
export function hasContinued({ harness, number }: OpenApproval): boolean {
  return harness.github.labels(REPO, number).includes('safe-to-test');
}
