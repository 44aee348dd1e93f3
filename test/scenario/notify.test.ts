import { expect, it } from 'vitest';
import { eachFirstQuick } from '../support/each-first-quick.ts';
import { type Harness, REPO } from '../support/harness.ts';
import {
  approvalOf,
  approvals,
  CI_AND_MERGE,
  countersign,
  MERGE_ONLY,
  open,
  pushAgain,
  reportCi,
  type Setting,
  start,
} from './support.ts';

/** ada writes the pull request, mia maintains, max administers, and will can write. */
async function ask(
  settings: string,
  rest: Setting = {},
  prepare?: (harness: Harness) => void,
): Promise<Harness> {
  const harness = await start({ chain: MERGE_ONLY, settings, ...rest });
  prepare?.(harness);
  await open(harness);
  return harness;
}

const REQUEST = 'notify: { request_review: true }\n';
const MENTION = 'notify: { mention: question }\n';

const requested = ({ github }: Harness) => github.requestedReviewers(REPO, 1);
const mentions = ({ github }: Harness) =>
  github.comments(REPO, 1).filter(({ body }) => body.includes('<!-- countersign:mention'));

it('without the setting, a question notifies nobody', { tags: 'slow' }, async () => {
  const harness = await ask('countersign: { permission: maintain }\n');
  expect([requested(harness), mentions(harness)]).toEqual([{ people: [], teams: [] }, []]);
});

it('a question requests a review from everybody whose role suffices, and the approval comment names them', {
  tags: 'slow',
}, async () => {
  const harness = await ask(REQUEST);
  expect(requested(harness)).toEqual({ people: ['mia', 'max'], teams: [] });
  expect(approvalOf(harness, 1).body).toContain('**Notified:** `mia` and `max`.');
});

it('a question requests a review only from the people whom the settings name, never from the author', {
  tags: 'slow',
}, async () => {
  const harness = await ask(`countersign: { users: [will, ada, otto, nobody] }\n${REQUEST}`);
  expect(requested(harness)).toEqual({ people: ['will'], teams: [] });
});

it('a question requests no review from somebody who pushed one of the commits', {
  tags: 'slow',
}, async () => {
  const harness = await start({ chain: MERGE_ONLY, settings: REQUEST });
  await open(harness, { author: 'mia', branch: 'hers' });
  expect(requested(harness)).toEqual({ people: ['max'], teams: [] });
});

it('a question requests no review from somebody who has reviewed this head', { tags: 'slow' }, async () => {
  const harness = await start({ chain: CI_AND_MERGE, settings: REQUEST });
  const { headSha } = await open(harness);
  await reportCi(harness, headSha, 'pending');
  await harness.github.review(REPO, 1, 'mia', 'APPROVED', 'Good');
  await reportCi(harness, headSha, 'success');
  await harness.advance(30_000);
  expect([approvals(harness, 1).length, requested(harness)]).toEqual([1, { people: ['max'], teams: [] }]);
});

it('a team whose members may all answer is requested as a team', { tags: 'slow' }, async () => {
  const harness = await ask(`countersign: { teams: [octo/core] }\n${REQUEST}`, {}, ({ github }) =>
    github.addTeam('octo', 'core', ['mia', 'will']),
  );
  expect(requested(harness)).toEqual({ people: [], teams: ['core'] });
});

it('of a team with the author in it, the members who may answer are requested one by one', {
  tags: 'slow',
}, async () => {
  const harness = await ask(`countersign: { teams: [octo/core] }\n${REQUEST}`, {}, ({ github }) =>
    github.addTeam('octo', 'core', ['ada', 'will', 'otto']),
  );
  expect(requested(harness)).toEqual({ people: ['will'], teams: [] });
});

it('a team that the app cannot see is named in the approval comment, with the likely causes', {
  tags: 'slow',
}, async () => {
  const harness = await ask(`countersign: { teams: [octo/secret] }\n${REQUEST}`);
  expect(approvalOf(harness, 1).body).toContain(
    '> **Not notified:** The team octo/secret cannot be notified: GitHub does not show it to this app. The team may be secret, renamed or deleted, or the app may lack the permission to read members.',
  );
  expect(requested(harness)).toEqual({ people: ['mia', 'max'], teams: [] });
});

it('a team that GitHub refuses does not prevent the request to the others', { tags: 'slow' }, async () => {
  const harness = await ask(
    `countersign: { teams: [octo/away], users: [max] }\n${REQUEST}`,
    {},
    ({ github }) => github.addTeam('octo', 'away', ['mia'], { outside: true }),
  );
  expect(requested(harness)).toEqual({ people: ['max'], teams: [] });
  const { body } = approvalOf(harness, 1);
  expect(body).toContain('**Notified:** `max`.');
  expect(body).toContain('**Not notified:** A review by octo/away cannot be requested:');
  expect(body).toContain('is not a collaborator of the octo/app repository');
});

it('a question mentions those who may answer in one comment that is never edited', {
  tags: 'slow',
}, async () => {
  const harness = await ask(MENTION);
  const [mention] = mentions(harness);
  expect(mention?.body.replace(harness.github.url, 'https://github.test')).toMatchInlineSnapshot(`
    "<!-- countersign:mention id=apr_1 -->
    @mia and @max: [the approval comment](https://github.test/octo/app/pull/1#issuecomment-3100000001) asks you to approve this merge. Answer there."
  `);
  await harness.sleep(3 * 86_400_000);
  expect(mentions(harness)).toEqual([mention]);
});

it('a question that is asked again with a new comment mentions nobody a second time', {
  tags: 'slow',
}, async () => {
  const harness = await ask(MENTION);
  harness.github.editComment(REPO, approvalOf(harness, 1).id, 'mia', 'Looks fine');
  await harness.advance(60_000);
  expect(approvals(harness, 1)).toHaveLength(2);
  expect(mentions(harness)).toHaveLength(1);
});

it('a new head is a new question, which mentions those who may answer it', { tags: 'slow' }, async () => {
  const harness = await ask(MENTION);
  await pushAgain(harness);
  expect(mentions(harness)).toHaveLength(2);
});

const isMention = ({ method, path }: { method: string; path: string }) =>
  method === 'POST' && path.endsWith('/issues/1/comments');
const isRequest = ({ method, path }: { method: string; path: string }) =>
  method === 'POST' && path.endsWith('/requested_reviewers');

it('what could not be sent before the question was answered is not sent afterwards', {
  tags: 'slow',
}, async () => {
  let back = () => {};
  const harness = await ask(REQUEST, {}, ({ github }) => {
    back = github.fail(isRequest, { status: 502 });
  });
  await countersign(harness, 1);
  back();
  await harness.sleep(3_600_000);
  expect(requested(harness)).toEqual({ people: [], teams: [] });
});

it('what could not be sent before a push is not sent for the old head', { tags: 'slow' }, async () => {
  let back = () => {};
  const harness = await ask(MENTION, {}, ({ github }) => {
    back = github.fail(({ method, path }) => isMention({ method, path }) && asked(github) > 0, {
      status: 502,
    });
  });
  await pushAgain(harness);
  back();
  for (const ms of [3_600_000, 120_000, 120_000]) await harness.sleep(ms);
  expect(mentions(harness).map(({ body }) => /id=(apr_\d)/.exec(body)?.[1])).toEqual(['apr_2']);
});

eachFirstQuick([
  ['somebody else is still requested', '', { people: ['max'], teams: [] }],
  [
    'nobody is requested any more',
    'countersign: { permission: none, users: [mia] }\n',
    { people: [], teams: [] },
  ],
])(
  'a review request whose answer is lost is not sent again after a review, where %s',
  async (_, people, left) => {
    const harness = await ask(`${people}${REQUEST}`, {}, ({ github }) => {
      github.fail(isRequest, { after: 'reset' }, 1);
    });
    await harness.github.review(REPO, 1, 'mia', 'COMMENTED', 'I am at it');
    await harness.sleep(60_000);
    await harness.sleep(60_000);
    expect(harness.github.requests.filter(isRequest)).toHaveLength(1);
    expect(requested(harness)).toEqual(left);
  },
);

it('settings that stop notifying apply to a question that waits to notify', { tags: 'slow' }, async () => {
  const harness = await start({ chain: MERGE_ONLY, settings: REQUEST });
  const back = harness.github.fail(({ path }) => path.includes('/collaborators?'), { status: 502 });
  await open(harness);
  await harness.github.push({
    repo: REPO,
    branch: 'main',
    author: 'max',
    files: { '.github/countersign.yml': 'notify: { request_review: false }\n' },
  });
  back();
  await harness.sleep(3_600_000);
  expect(requested(harness)).toEqual({ people: [], teams: [] });
  expect(approvals(harness, 1)).toHaveLength(1);
});

it('an organisation says how its repositories notify, and a repository may say otherwise', {
  tags: 'slow',
}, async () => {
  const harness = await start({ chain: MERGE_ONLY, settings: 'notify: { mention: never }\n' });
  harness.github.addRepository({
    owner: 'octo',
    name: '.github',
    files: { '.github/countersign.yml': 'notify: { request_review: true, mention: question }\n' },
  });
  await open(harness);
  expect([requested(harness).people, mentions(harness)]).toEqual([['mia', 'max'], []]);
});

function asked(github: Harness['github']): number {
  return github.comments(REPO, 1).filter(({ body }) => body.includes('<!-- countersign:question')).length;
}

it('a question that is asked again about the same head, as after closing and reopening, mentions nobody again', {
  tags: 'slow',
}, async () => {
  const harness = await ask(MENTION);
  const { github } = harness;
  for (let times = 0; times < 2; times++) {
    await github.closePullRequest(REPO, 1, 'ada');
    await harness.advance(10_000);
    await github.reopenPullRequest(REPO, 1, 'ada');
    await harness.advance(10_000);
    await github.convertToDraft(REPO, 1, 'ada');
    await harness.advance(10_000);
    await github.readyForReview(REPO, 1, 'ada');
    await harness.advance(10_000);
  }
  expect([approvals(harness, 1).length, mentions(harness).length]).toEqual([5, 1]);
  await pushAgain(harness);
  await harness.advance(10_000);
  expect(mentions(harness).length).toBe(2);
});

it('a question that was withdrawn before its mention was sent does not keep the next one from mentioning', {
  tags: 'slow',
}, async () => {
  const harness = await start({ chain: MERGE_ONLY, settings: MENTION });
  const { github } = harness;
  const isMention = ({ method, path }: { method: string; path: string }) =>
    method === 'POST' && path.endsWith('/comments') && approvals(harness, 1).length > 0;
  const end = github.fail(isMention, { status: 502 });
  await open(harness);
  await harness.advance(5_000);
  await github.convertToDraft(REPO, 1, 'ada');
  await harness.advance(60_000);
  end();
  await harness.advance(600_000);
  expect(mentions(harness)).toEqual([]);
  await github.readyForReview(REPO, 1, 'ada');
  await harness.advance(60_000);
  expect(mentions(harness).length).toBe(1);
});
