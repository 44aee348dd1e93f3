import { expect, it } from 'vitest';
import { AT, openChange, REPO, startWorld } from './support.ts';

async function startCommented() {
  const world = await startWorld();
  await openChange(world.github);
  const id = await world.github.comment(REPO, 1, 'eve', 'hello');
  return { ...world, id };
}

it('the app comments as its bot and edits its comment', async () => {
  const { github, octokit } = await startCommented();
  const { data } = await octokit.issues.createComment({ ...AT, issue_number: 1, body: 'one' });
  await octokit.issues.updateComment({ ...AT, comment_id: data.id, body: 'two' });
  expect(data.user?.type).toBe('Bot');
  expect(github.comments(REPO, 1)[1]).toMatchObject({ author: github.app.botLogin, body: 'two' });
});

it('an edited comment keeps its reactions', async () => {
  const { github, octokit } = await startCommented();
  const { data } = await octokit.issues.createComment({ ...AT, issue_number: 1, body: 'one' });
  await github.react(REPO, data.id, 'maya', 'rocket');
  await octokit.issues.updateComment({ ...AT, comment_id: data.id, body: 'two' });
  expect(github.comments(REPO, 1)[1]?.reactions).toEqual([{ login: 'maya', content: 'rocket' }]);
});

it.each([
  ['65,536 characters', 'é'.repeat(65_536), 201],
  ['65,537 characters', 'é'.repeat(65_537), 422],
  ['nothing', ' ', 422],
])('a comment of %s is answered as on GitHub', async (_, body, status) => {
  const { octokit } = await startCommented();
  const answer = await octokit.issues
    .createComment({ ...AT, issue_number: 1, body })
    .catch((error: { status: number }) => error);
  expect(answer.status).toBe(status);
});

it('a deleted comment is gone', async () => {
  const { github, octokit, id } = await startCommented();
  await github.deleteComment(REPO, id, 'eve');
  await expect(octokit.issues.getComment({ ...AT, comment_id: id })).rejects.toMatchObject({ status: 404 });
});

it('a second equal reaction is the first one', async () => {
  const { github, octokit, id } = await startCommented();
  const react = () => octokit.reactions.createForIssueComment({ ...AT, comment_id: id, content: 'eyes' });
  const [first, second] = [await react(), await react()];
  expect([first.status, second.status]).toEqual([201, 200]);
  expect(second.data.id).toBe(first.data.id);
  expect(github.comments(REPO, 1)[0]?.reactions).toEqual([{ login: github.app.botLogin, content: 'eyes' }]);
});

it('two people can add the same reaction', async () => {
  const { github, id } = await startCommented();
  await github.react(REPO, id, 'maya', '+1');
  await github.react(REPO, id, 'walt', '+1');
  expect(github.comments(REPO, 1)[0]?.reactions.map(({ login }) => login)).toEqual(['maya', 'walt']);
});

it('reactions name who reacted and can be removed', async () => {
  const { github, octokit, id } = await startCommented();
  const reaction = await github.react(REPO, id, 'maya', 'rocket');
  const list = async () => (await octokit.reactions.listForIssueComment({ ...AT, comment_id: id })).data;
  expect(await list()).toMatchObject([
    { id: reaction, content: 'rocket', user: { login: 'maya', type: 'User' } },
  ]);
  await github.unreact(REPO, id, reaction);
  expect(await list()).toEqual([]);
});

it('labels are added and removed', async () => {
  const { github, octokit } = await startCommented();
  await octokit.issues.addLabels({ ...AT, issue_number: 1, labels: ['ready', 'area/ui kit'] });
  await octokit.issues.removeLabel({ ...AT, issue_number: 1, name: 'area/ui kit' });
  expect(github.labels(REPO, 1)).toEqual(['ready']);
});

it('the app opens issues', async () => {
  const { github, octokit } = await startCommented();
  await octokit.issues.create({ ...AT, title: 'Look', body: 'at this', labels: ['bug'] });
  expect(github.issues(REPO)).toMatchObject([
    { number: 2, title: 'Look', author: github.app.botLogin, labels: ['bug'] },
  ]);
});

it('who cannot write is not assigned, and GitHub says so only if it is asked', async () => {
  const { github, octokit } = await startCommented();
  github.setPermission(REPO, 'maya', 'write');
  const { data } = await octokit.issues.addAssignees({ ...AT, issue_number: 1, assignees: ['maya', 'eve'] });
  expect(data.assignees).toMatchObject([{ login: 'maya' }]);
  const check = (assignee: string) => octokit.issues.checkUserCanBeAssigned({ ...AT, assignee });
  expect((await check('maya')).status).toBe(204);
  await expect(check('eve')).rejects.toMatchObject({ status: 404 });
});

it('an issue gets the milestone with that number', async () => {
  const { github, octokit } = await startCommented();
  github.createMilestone(REPO, '1.0', 'closed');
  github.createMilestone(REPO, '2.0');
  expect((await octokit.issues.listMilestones({ ...AT })).data).toMatchObject([{ number: 2, title: '2.0' }]);
  await octokit.issues.update({ ...AT, issue_number: 1, milestone: 2 });
  expect(github.milestone(REPO, 1)).toBe('2.0');
  const missing = octokit.issues.update({ ...AT, issue_number: 1, milestone: 3 });
  await expect(missing).rejects.toMatchObject({ status: 422 });
});

it('an issue is closed with a reason, and a pull request without one', async () => {
  const { github, octokit } = await startCommented();
  const number = await github.createIssue(REPO, 'eve', 'It does not add up');
  const close = (issue_number: number) =>
    octokit.issues.update({ ...AT, issue_number, state: 'closed', state_reason: 'not_planned' });
  expect((await close(number)).data.state_reason).toBe('not_planned');
  expect((await close(1)).data).toMatchObject({ state: 'closed', state_reason: null });
});

it.each([
  [256, 201],
  [257, 422],
])('an issue has a title of at most 256 characters: %i', async (length, status) => {
  const { octokit } = await startCommented();
  const answer = await octokit.issues
    .create({ ...AT, title: 'é'.repeat(length) })
    .catch((error: { status: number }) => error);
  expect(answer.status).toBe(status);
});
