import { describe, expect, test } from 'vitest';
import { writesTogether } from '../../../src/engine/effects/together.ts';
import { type GitHub, GitHubError, type GitHubWriter, type SharedWrite } from '../../../src/ports/github.ts';
import { everyWriter } from '../../support/writers.ts';

const REPO = { owner: 'acme', name: 'shop' };
const nextTurn = () => new Promise((resolve) => setImmediate(resolve));

/** A GitHub that notes what is sent together and what is sent alone. */
function start(answer: (write: SharedWrite) => PromiseSettledResult<{ id?: number }> = created) {
  const sent: string[][] = [];
  const urgencies: (string | undefined)[] = [];
  const nameOf = (write: SharedWrite) => ('body' in write ? write.body : write.content.title);
  const writer = {
    async writeTogether(_repo, writes) {
      sent.push(writes.map(nameOf));
      return writes.map(answer);
    },
    async createComment(_repo, _issue, body) {
      sent.push([body]);
      return { id: 1, nodeId: undefined, authorId: undefined };
    },
  } as Partial<GitHubWriter> as GitHubWriter;
  const github: Pick<GitHub, 'writer'> = {
    writer(_installation, urgency) {
      urgencies.push(urgency);
      return writer;
    },
  };
  const together = writesTogether(everyWriter(github));
  const join = (urgency: 'person' | 'run' | 'background' = 'run', place = '#1') =>
    together.join(place, 99, urgency);
  const comment = (seat: ReturnType<typeof join>, body: string) =>
    seat.writer(writer).createComment(REPO, 1, body);
  return { sent, urgencies, join, comment };
}

function created(): PromiseSettledResult<{ id?: number }> {
  return { status: 'fulfilled', value: { id: 7 } };
}

describe('effects that begin in the same turn', () => {
  test('are sent in one request when the last of them is ready, as urgent as the most urgent', async () => {
    const { sent, urgencies, join, comment } = start();
    const [one, other] = [join('background'), join('person')];
    const first = comment(one, 'one');
    await nextTurn();
    await nextTurn();
    expect(sent).toEqual([]);
    expect(await Promise.all([first, comment(other, 'other')])).toMatchObject([{ id: 7 }, { id: 7 }]);
    expect(sent).toEqual([['one', 'other']]);
    expect(urgencies).toEqual(['person']);
  });

  test('do not wait for one that leaves without a write', async () => {
    const { sent, join, comment } = start();
    const [one, other] = [join(), join()];
    const first = comment(one, 'one');
    await nextTurn();
    other.leave();
    await first;
    expect(sent).toEqual([['one']]);
  });

  test('are not sent before the turn ends, so that none is left out', async () => {
    const { sent, join, comment } = start();
    const first = comment(join(), 'one');
    await Promise.resolve();
    const second = comment(join(), 'other');
    await Promise.all([first, second]);
    expect(sent).toEqual([['one', 'other']]);
  });

  test('each get their own failure', async () => {
    const failure = new GitHubError('unavailable', 502, 'it broke');
    const { join, comment } = start((write) =>
      'body' in write && write.body === 'one' ? { status: 'rejected', reason: failure } : created(),
    );
    const [one, other] = [join(), join()];
    const results = await Promise.allSettled([comment(one, 'one'), comment(other, 'other')]);
    expect(results).toMatchObject([{ reason: failure }, { value: { id: 7 } }]);
  });

  test('of different pull requests do not share a request', async () => {
    const { sent, join, comment } = start();
    await Promise.all([comment(join('run', '#1'), 'one'), comment(join('run', '#2'), 'other')]);
    expect(sent).toEqual([['one'], ['other']]);
  });
});

test('an effect that begins in a later turn has a request of its own', async () => {
  const { sent, join, comment } = start();
  const first = comment(join(), 'one');
  await nextTurn();
  await Promise.all([first, comment(join(), 'other')]);
  expect(sent).toEqual([['one'], ['other']]);
});

test('the second write of an effect is sent alone', async () => {
  const { sent, join, comment } = start();
  const seat = join();
  await comment(seat, 'one');
  await comment(seat, 'again');
  expect(sent).toEqual([['one'], ['again']]);
});
