// @module-tag slow
import { expect, test } from 'vitest';
import { WEBHOOK_PATH } from '../../src/config/webhook-path.ts';
import { REPO } from '../support/harness.ts';
import { DEPLOY } from './support-commands.ts';
import { CHAINS, CI_AND_MERGE, only, SETTINGS, scenes } from './support-scene.ts';

const start = scenes();

test('why and status say what keeps every chain from running, as long as none has run', async () => {
  const scene = await start(
    only({
      ship: CI_AND_MERGE.replace(
        '{ event: pr.opened }',
        '{ event: pr.opened, filter: { base: main, draft: false, labels: [ready-*] } }',
      ),
      deploy: DEPLOY,
    }),
  );
  const { github } = scene;
  await github.push({ repo: REPO, branch: 'release', author: 'mia' });
  const answers: Record<string, unknown> = {};
  const ask = async (state: string, number: number, command = 'why') => {
    const id = await scene.say(number, 'otto', `/countersign ${command}`);
    answers[state] = scene
      .replies(number, id)[0]
      ?.split('\n')
      .filter((line) => line !== '```');
  };
  const [draft, other, plain] = [
    await scene.open({ branch: 'a', draft: true }),
    await scene.open({ branch: 'b', base: 'release' }),
    await scene.open({ branch: 'c' }),
  ];
  await ask('a draft', draft.number);
  await ask('for another base', other.number);
  await ask('without the label', plain.number);
  await github.closePullRequest(REPO, plain.number, 'ada');
  await ask('closed', plain.number, 'status');
  expect(answers).toMatchInlineSnapshot(`
    {
      "a draft": [
        "✘ no chain runs: no chain is for this pull request",
        "  ✘ deploy waits for manual.fired",
        "  ✘ ship is not for it: the pull request is a draft",
      ],
      "closed": [
        "✘ no chain runs: the pull request is closed",
      ],
      "for another base": [
        "✘ no chain runs: no chain is for this pull request",
        "  ✘ deploy waits for manual.fired",
        "  ✘ ship is not for it: the base branch is release, and the filter wants main",
        "  ✔ configuration of main at 33143ba, as release is not protected: whoever can write can push to it",
      ],
      "without the label": [
        "✘ no chain runs: no chain is for this pull request",
        "  ✘ deploy waits for manual.fired",
        "  ✘ ship is not for it: the labels are none, and the filter wants ready-*",
      ],
    }
  `);
});

test('why and status report errors in the settings, and once they are fixed, that the settings choose no chain', async () => {
  const scene = await start({ [SETTINGS]: 'merge:\n  method: squish\n' });
  const { number } = await scene.open();
  const broken = await scene.say(number, 'otto', '/countersign why');
  const fixed = { [SETTINGS]: 'chains: []\n' };
  await scene.github.push({ repo: REPO, branch: 'main', author: 'mia', files: fixed });
  const empty = await scene.say(number, 'otto', '/countersign status');
  expect(
    [scene.replies(number, broken)[0], scene.replies(number, empty)[0]].join('\n'),
  ).toMatchInlineSnapshot(`
    "\`\`\`
    ✘ no chain runs: the settings on main have errors
      ✘ .github/countersign.yml:2:11: "method" cannot be "squish": did you mean "squash"? Allowed: squash, merge, rebase
    \`\`\`
    \`\`\`
    ✘ no chain runs: the settings on main choose no chain: \`chains: []\`
    \`\`\`"
  `);
});

test('why and status say it above runs for an earlier state of the pull request, and not beside a run for its present state', async () => {
  const forReady = CI_AND_MERGE.replace(
    '{ event: pr.opened }',
    '{ event: pr.opened, filter: { draft: false } }',
  );
  const scene = await start(only({ ship: forReady }));
  const { github } = scene;
  const { number } = await scene.open();
  const other = await scene.open({ branch: 'other' });
  const unheard = await scene.open({ branch: 'unheard' });
  const answers: Record<string, string[]> = {};
  const ask = async (state: string, of = number, command = 'why') => {
    // Two people, because one person gets only a share of a minute's replies.
    const login = Object.keys(answers).length < 3 ? 'mia' : 'max';
    const id = await scene.say(of, login, `/countersign ${command}`);
    const lines = scene.replies(of, id)[0]?.split('\n') ?? [];
    answers[state] = lines.filter((line) => /^(✘|…|### | {2}✘ ship)/.test(line));
  };
  await github.convertToDraft(REPO, number, 'ada');
  await ask('a draft now');
  await github.readyForReview(REPO, number, 'ada');
  await scene.settle();
  await ask('ready again');

  await github.push({
    repo: REPO,
    branch: 'main',
    author: 'max',
    files: { [`${CHAINS}/ship.yaml`]: 'name: ship\n' },
  });
  await github.push({ repo: REPO, branch: 'change', author: 'ada', files: { 'docs/b.txt': 'b' } });
  await ask('pushed, and the chain is broken', number, 'status');
  await scene.say(other.number, 'mia', '/countersign cancel');
  await ask('cancelled, and the chain is broken', other.number);
  github.setWebhookUrl(undefined);
  await github.push({ repo: REPO, branch: 'unheard', author: 'ada', files: { 'docs/b.txt': 'b' } });
  github.setWebhookUrl(`${scene.app.url}${WEBHOOK_PATH}`);
  await ask('pushed, and the run before has not heard of it', unheard.number);

  await github.push({
    repo: REPO,
    branch: 'main',
    author: 'max',
    files: { [`${CHAINS}/ship.yaml`]: forReady },
  });
  await ask('fixed, and nothing has happened since');
  expect(answers).toMatchInlineSnapshot(`
    {
      "a draft now": [
        "✘ no chain runs: no chain is for this pull request",
        "  ✘ ship is not for it: the pull request is a draft",
        "✘ stopped: the pull request is a draft now",
      ],
      "cancelled, and the chain is broken": [
        "✘ stopped: cancelled by mia",
      ],
      "fixed, and nothing has happened since": [
        "… no chain has run for this pull request as it is now",
        "✘ stopped: superseded by a newer push (392869a)",
      ],
      "pushed, and the chain is broken": [
        "✘ no chain runs: no chain is in force on main",
        "### ⏭️ Superseded by a newer push",
      ],
      "pushed, and the run before has not heard of it": [
        "… not merging yet: ci waits for CI: no check has reported yet",
      ],
      "ready again": [
        "… not merging yet: ci waits for CI: no check has reported yet",
      ],
    }
  `);
});
