// @module-tag slow
import { expect, test } from 'vitest';
import { type Harness, REPO } from '../support/harness.ts';
import { A_RECHECK, checkLines, open, ownCheck, ownChecks, pushAgain, reportCi, start } from './support.ts';

const MINUTE_MS = 60_000;

const chain = (inputs: string) =>
  `name: pr-review
trigger: { event: pr.opened }
steps:
  - { id: pause, action: wait, with: ${inputs} }
  - { id: say, action: gh-comment, with: { body: It goes on } }
`;

/** Without the escapes of Markdown. */
const shown = (harness: Harness, headSha: string) =>
  (ownCheck(harness, headSha).summary ?? '').replaceAll('\\', '');

test('a step waits for a length of time, also over a restart', async () => {
  const harness = await start({ chain: chain('{ for: 30m }') });
  const { number, headSha } = await open(harness);
  const comments = () => harness.github.comments(REPO, number).map(({ body }) => body);
  const isSaid = () => comments().some((body) => body.includes('It goes on'));
  const end = new Date(harness.clock.now().getTime() + 30 * MINUTE_MS).toISOString();
  expect(shown(harness, headSha)).toContain(
    `pause waits: until ${end.slice(0, 10)} ${end.slice(11, 16)} UTC`,
  );
  await harness.sleep(29 * MINUTE_MS);
  await harness.restart();
  expect(isSaid()).toBe(false);
  await harness.sleep(MINUTE_MS);
  expect(isSaid()).toBe(true);
  expect(shown(harness, headSha)).toContain('waited 30 min');
});

test('a step waits until an expression over fresh facts holds, and an event wakes it', async () => {
  const harness = await start({ chain: chain(`{ until: "{{ 'ready' in pr.labels }}", timeout: 2d }`) });
  const { number, headSha } = await open(harness);
  await harness.sleep(3 * 60 * MINUTE_MS);
  expect(shown(harness, headSha)).toContain("until 'ready' in pr.labels (pr.labels is [])");
  await harness.github.addLabel(REPO, number, 'will', 'ready');
  await harness.settle();
  expect(shown(harness, headSha)).toContain('it holds now: \'ready\' in pr.labels (pr.labels is ["ready"])');
});

test('a step waits for a check by its name', async () => {
  const harness = await start({
    chain: chain(`{ until: "{{ 'test' in pr.passed_checks and not pr.failed_checks }}" }`),
  });
  const { headSha } = await open(harness);
  await reportCi(harness, headSha, 'pending');
  await harness.advance(A_RECHECK);
  expect(shown(harness, headSha)).toContain('pr.passed_checks is []');
  await reportCi(harness, headSha, 'success');
  await harness.advance(A_RECHECK);
  expect(shown(harness, headSha)).toContain('pr.passed_checks is ["test"]');
});

test('a step whose timeout is over fails with the facts as they were last, and what follows does not run', async () => {
  const harness = await start({ chain: chain(`{ until: "{{ 'ready' in pr.labels }}", timeout: 1h }`) });
  const { number, headSha } = await open(harness);
  await harness.sleep(61 * MINUTE_MS);
  expect(shown(harness, headSha)).toContain("waited 1 h for 'ready' in pr.labels (pr.labels is [])");
  expect(harness.github.comments(REPO, number).filter(({ body }) => body.includes('It goes on'))).toEqual([]);
});

test('a push ends the wait', async () => {
  const harness = await start({ chain: chain('{ for: 1h }') });
  const { number, headSha } = await open(harness);
  await pushAgain(harness);
  expect(checkLines(harness, headSha)).not.toEqual([expect.stringContaining('in_progress')]);
  expect(ownChecks(harness, headSha)).toHaveLength(1);
  await harness.sleep(2 * 60 * MINUTE_MS);
  expect(
    harness.github.comments(REPO, number).filter(({ body }) => body.includes('It goes on')),
  ).toHaveLength(1);
});
