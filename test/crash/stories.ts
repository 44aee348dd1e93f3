import { CLEAN, PEOPLE, REPO } from '../../demo/world.ts';
import type { Subject } from './end-state.ts';
import type { Stage, Story } from './play.ts';
import { isAccepted } from './supervisor.ts';

/** A chain of the repository that replaces the shipped one: the same way to the merge without the slow review. */
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

/** A pull request opens, CI passes, a maintainer countersigns, it is merged. */
export const withoutReview: Story = {
  base: { '.github/countersign/chains/pr-review.yaml': WITHOUT_REVIEW },
  tell: (stage) => merging(stage, {}),
};

/** The review has a suggestion about it. */
const SWALLOWING = {
  'src/notify.ts': [
    'export async function notify(send: () => Promise<void>): Promise<void> {',
    '  try {',
    '    await send();',
    '  } catch {}',
    '}',
    '',
  ].join('\n'),
};

/** The shipped chain; the review has a suggestion to annotate, which does not block the merge. */
export const withReview: Story = {
  tell: (stage) => merging(stage, SWALLOWING),
};

async function merging(
  { github, until }: Stage,
  change: Record<string, string>,
  meanwhile: () => Promise<void> = async () => undefined,
): Promise<Subject> {
  const opened = await open({ github, until }, change);
  // One check: with two, a fast poll could see the first only, and would rightly say so.
  await github.reportCheck(REPO, opened.headSha, {
    name: 'test',
    status: 'completed',
    conclusion: 'success',
  });
  const asked = await until('the approval comment', () =>
    github.comments(REPO, opened.number).find(({ body }) => body.includes('countersign:question')),
  );
  await meanwhile();
  await github.react(REPO, asked.id, PEOPLE.maintainer, 'rocket');
  return opened;
}

const WRITES_FINDINGS = `
name: pr-review
trigger: { event: pr.opened }
steps:
  - { id: review, skill: pr-review }
  - { id: comment, action: gh-review, with: { outcome: "{{ steps.review.outcome }}" } }
  - { id: file, action: gh-issue, with: { outcome: "{{ steps.review.outcome }}", assignees: ["{{ trigger.author }}"] } }
`;

/** The findings of a review become a review with a comment on a line, and an issue. */
export const findings: Story = {
  base: { '.github/countersign/chains/pr-review.yaml': WRITES_FINDINGS },
  tell: (stage) => open(stage, SWALLOWING),
};

/** While a maintainer is asked, the repository is renamed, and renamed back. */
export const renamed: Story = {
  ...withoutReview,
  tell: (stage) =>
    merging(stage, {}, async () => {
      const [owner = '', name = ''] = REPO.split('/');
      const told = () => stage.github.deliveries.filter(({ event }) => event === 'repository');
      await stage.github.renameRepository(REPO, `${name}-moved`);
      await stage.until(
        'the app to hear of it',
        () => told().some(({ status }) => isAccepted(status)) || undefined,
      );
      await stage.github.renameRepository(`${owner}/${name}-moved`, name);
      await stage.until(
        'the app to hear of it again',
        () => (told().length > 1 && told().every(({ status }) => isAccepted(status))) || undefined,
      );
    }),
};

/** Its only step asks for something forbidden, a comment on another pull request, so it always fails. */
const FAILING = `
name: pr-review
trigger: { event: pr.opened }
steps:
  - id: refer
    action: gh-comment
    with: { pr: 4711, body: See there. }
`;

const NOTE = `
name: note
trigger: { event: manual.fired }
steps:
  - id: say
    action: gh-comment
    with: { pr: "{{ trigger.pr_number }}", body: "Noted: {{ trigger.input_what }}." }
`;

/** A run fails; the author asks why and fires a chain, both in one comment, and then presses the button to rerun it. */
export const commands: Story = {
  base: {
    '.github/countersign/chains/pr-review.yaml': FAILING,
    '.github/countersign/chains/note.yaml': NOTE,
  },
  async tell({ github, until }) {
    const opened = await open({ github, until }, {});
    const failed = await until('the failed check run', () =>
      github.checkRuns(REPO, opened.headSha).find(({ status }) => status === 'completed'),
    );
    const asked = '/countersign status\n/countersign fire note what=this';
    const id = await github.comment(REPO, opened.number, PEOPLE.maintainer, asked);
    await until('the answer', () =>
      github
        .comments(REPO, opened.number)
        .find((comment) => comment.id === id)
        ?.reactions.find(({ content }) => content === 'hooray'),
    );
    await github.clickAction(REPO, failed.id, PEOPLE.maintainer, 'rerun');
    return opened;
  },
};

const TRIAGE = `
name: triage
trigger: { event: issue.created }
steps:
  - id: mark
    action: gh-label
    with: { labels: [new] }
  - id: greet
    action: gh-comment
    with: { body: Thank you for telling us. }
`;

/** An issue is labelled and answered. */
export const issue: Story = {
  base: { '.github/countersign/chains/triage.yaml': TRIAGE },
  async tell({ github }) {
    const number = await github.createIssue(REPO, PEOPLE.outsider, 'It does not add up');
    return { number };
  },
};

/** An issue is opened while the app is down, and only a redelivery that the app requests reports it. */
export const missed: Story = {
  base: { '.github/countersign/chains/triage.yaml': TRIAGE },
  // A delivery that fails again is requested again after ten minutes.
  downForMs: 11 * 60_000,
  async away(github) {
    await github.createIssue(REPO, PEOPLE.outsider, 'It does not add up');
  },
  async tell({ github, until }) {
    await until('the answer', () => github.comments(REPO, 1).find(({ body }) => body.includes('Thank you')));
    return { number: 1 };
  },
};

const GREETED = `
name: pr-review
trigger: { event: pr.opened }
steps:
  - { id: greet, action: gh-comment, with: { body: Welcome. } }
`;

const SHIPPED = `
name: ship
trigger:
  all_of:
    - { event: pr.labeled, filter: { label: ready } }
    - { event: ci.changed, filter: { check: test, conclusion: success } }
  within: 1d
  key: commit
steps:
  - { id: ship, action: gh-comment, with: { body: "Ships {{ trigger.head_sha }}." } }
`;

/** A chain that a label and a check of the same commit start together. */
export const together: Story = {
  base: {
    '.github/countersign/chains/pr-review.yaml': GREETED,
    '.github/countersign/chains/ship.yaml': SHIPPED,
  },
  async tell({ github, until }) {
    const opened = await open({ github, until }, {});
    const says = (words: string) => () =>
      github.comments(REPO, opened.number).find(({ body }) => body.includes(words));
    // A check belongs to the pull requests that the app has seen.
    await until('the greeting', says('Welcome'));
    await github.addLabel(REPO, opened.number, PEOPLE.maintainer, 'ready');
    await github.reportCheck(REPO, opened.headSha, {
      name: 'test',
      status: 'completed',
      conclusion: 'success',
    });
    await until('the comment of the composite', says('Ships'));
    return opened;
  },
};

const CALLING = `
name: pr-review
trigger: { event: pr.opened }
steps:
  - { id: sub, action: chain, with: { chain: greet, inputs: { whom: "{{ trigger.author }}" } } }
  - { id: after, action: gh-comment, with: { body: "It {{ steps.sub.outcome.details.status }}." } }
`;

const CALLED = `
name: greet
trigger: { event: manual.fired }
inputs: { whom: { required: true } }
steps:
  - { id: greet, action: gh-comment, with: { body: "Welcome, {{ inputs.whom }}." } }
`;

/** A step runs another chain, and the next step says how that ended. */
export const calling: Story = {
  base: {
    '.github/countersign/chains/pr-review.yaml': CALLING,
    '.github/countersign/chains/greet.yaml': CALLED,
  },
  async tell({ github, until }) {
    const opened = await open({ github, until }, {});
    await until('the comment after it', () =>
      github.comments(REPO, opened.number).find(({ body }) => body.includes('It completed')),
    );
    return opened;
  },
};

const CONFIRMED = `
name: pr-review
trigger: { event: pr.opened }
steps:
  - id: mark
    action: gh-label
    requires_approval: true
    with: { labels: [safe-to-test] }
`;

/** A step that merges nothing waits for a maintainer, who approves it by a command. */
export const confirmed: Story = {
  base: { '.github/countersign/chains/pr-review.yaml': CONFIRMED },
  async tell({ github, until }) {
    const opened = await open({ github, until }, {});
    await until('the question', () =>
      github.comments(REPO, opened.number).find(({ body }) => body.includes('countersign:question')),
    );
    await github.comment(REPO, opened.number, PEOPLE.maintainer, '/countersign approve mark');
    return opened;
  },
};

const ASKING = `
name: pr-review
trigger: { event: pr.opened }
steps:
  - { id: ask, skill: auto }
  - { action: gh-comment, with: { body: "The model says: {{ steps.ask.outcome.summary }}" } }
`;
const CHOICE = { decision: 'skill', skill: 'naming', artifact: null, text: 'It is for that.' };
const VERDICT = { summary: 'The names are good.', passed: true, criteria: [] };

/** A step finds its skill on the base branch and asks a language model about the change; then a person asks, too. */
export const prompted: Story = {
  base: {
    '.github/countersign/chains/pr-review.yaml': ASKING,
    '.github/countersign/skills/naming/SKILL.md':
      '---\nname: naming\ndescription: Looks at names.\noutcome: gate_verdict\npaths: ["src/**"]\n---\n',
    '.github/countersign/skills/naming/prompts/ask.md': 'Judge the names in:\n{{ diff }}\n',
  },
  model: ({ text }) => ({
    text: JSON.stringify(text.includes('Judge the names in') ? VERDICT : CHOICE),
  }),
  async tell({ github, until }) {
    const opened = await open({ github, until }, {});
    await until('what the model says', () =>
      github.comments(REPO, opened.number).find(({ body }) => body.includes('The model says')),
    );
    await github.comment(REPO, opened.number, PEOPLE.maintainer, '/countersign ask are the names good?');
    return opened;
  },
};

/** The model takes longer to answer than the lease of the waiting job lasts without being renewed. */
export const slowly: Story = {
  ...prompted,
  model: ({ text }) =>
    text.includes('Judge the names in')
      ? { drip: { text: JSON.stringify(VERDICT) }, everyMs: 50 }
      : { text: JSON.stringify(CHOICE) },
  tell: (stage) => open(stage, {}),
};

const JUDGED = `
name: pr-review
trigger: { event: pr.opened }
steps:
  - { id: review, skill: migration-review }
  - id: praise
    action: gh-comment
    condition: "{{ steps.review.outcome.passed }}"
    with: { body: It is fine. }
`;

/** A maintainer accepts the finding that stops a run, the run goes on, and the maintainer takes it back. */
export const accepted: Story = {
  base: { '.github/countersign/chains/pr-review.yaml': JUDGED },
  async tell({ github, until }) {
    const drop = { 'db/migrations/0007_drop_nickname.sql': 'ALTER TABLE people DROP COLUMN nickname;\n' };
    const opened = await open({ github, until }, drop);
    const finding = await until('the finding', () =>
      github
        .checkRuns(REPO, opened.headSha)
        .filter(({ status }) => status === 'completed')
        .flatMap(({ annotations }) => annotations)
        .map(({ message }) => /\/countersign accept ([0-9a-f]{8})/.exec(message)?.[1])
        .find((id) => id !== undefined),
    );
    const say = (text: string) => github.comment(REPO, opened.number, PEOPLE.maintainer, text);
    await say(`/countersign accept ${finding} because the column is empty`);
    await until('the step after it', () =>
      github.comments(REPO, opened.number).find(({ body }) => body.includes('It is fine')),
    );
    await say(`/countersign withdraw ${finding}`);
    return opened;
  },
};

function open(
  { github }: Stage,
  change: Record<string, string>,
): Promise<{ number: number; headSha: string }> {
  return github.openPullRequest({
    repo: REPO,
    author: PEOPLE.author,
    branch: 'discounts',
    title: 'Give discounts',
    files: { ...CLEAN, ...change },
  });
}
