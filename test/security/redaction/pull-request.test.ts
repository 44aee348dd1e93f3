// @module-tag security
// @module-tag slow

import { expect, test } from 'vitest';
import { A_RECHECK, countersign, open, ownCheck } from '../../scenario/support.ts';
import { REPO } from '../../support/harness.ts';
import { ONE_LINE, ONE_WORD, PLANTED } from './planted.ts';
import { type RecordedApp, recordedApp, visibleSecrets } from './search.ts';
import { LONG, SEED } from './seed.ts';

const NEEDLES = PLANTED.map(({ needle }) => needle);

/** The search itself must find things: each place contains an ordinary word that the test put beside the secrets. */
async function expectClean(harness: RecordedApp, witness: Record<string, string>): Promise<void> {
  const places = await harness.cameOut();
  for (const [place, word] of Object.entries(witness)) expect(places.get(place), place).toContain(word);
  expect(visibleSecrets(places, NEEDLES)).toEqual([]);
}

test('secrets in the files, file names and configuration of a pull request are shown nowhere', async () => {
  const harness = await recordedApp({});
  const { github } = harness;
  const contents = PLANTED.map(({ text }, nth): [string, string] => [
    `src/planted-${nth}.ts`,
    `// ${nth}\n${text}\neval(x);\n`,
  ]);
  const names = ONE_WORD.map(({ text }): [string, string] => [
    `src/${text}.ts`,
    'export const run = (x: string) => eval(x);\n',
  ]);
  const { headSha } = await open(harness, {
    files: {
      ...Object.fromEntries([...contents, ...names]),
      'README.md': PLANTED.map(({ text }) => `- ${text}`).join('\n\n'),
      '.env': ONE_LINE.map(({ text }) => text).join('\n'),
      '.github/workflows/ci.yml': `on: push\njobs:\n  a:\n    runs-on: ubuntu-latest\n    steps:\n${ONE_LINE.map(({ text }) => `      - run: ${JSON.stringify(text)}\n`).join('')}`,
      '.github/countersign.yml': ONE_LINE.map(
        ({ text }) => `${JSON.stringify(text)}: ${JSON.stringify(text)}\n`,
      ).join(''),
      '.github/countersign/chains/own.yaml': `name: ${JSON.stringify(ONE_LINE[0]?.text)}\ntrigger: { event: ${JSON.stringify(ONE_LINE[5]?.text)} }\nsteps:\n${ONE_LINE.map(({ text }) => `  - { skill: ${JSON.stringify(text)}, condition: ${JSON.stringify(`{{ ${text} }}`)}, ${JSON.stringify(text)}: 1 }\n`).join('')}`,
      '.github/countersign/chains/broken.yaml': PLANTED.map(({ text }) => `${text}: [\n`).join(''),
    },
  });
  await harness.advance(A_RECHECK);

  expect(ownCheck(harness, headSha).annotations.length).toBeGreaterThan(50);
  await expectClean(harness, {
    log: 'run is over',
    requests: 'src/planted-1.ts',
    'table effects': 'src/planted-1.ts',
    'table artifacts': 'src/planted-1.ts',
    blobs: 'src/planted-1.ts',
    'command line': 'review',
  });
  const said = JSON.stringify(github.checkRuns(REPO, headSha));
  expect(said).toContain('src/[redacted: GitHub token]');
});

const TALKATIVE = `name: pr-review
trigger: { event: pr.opened }
steps:
  - id: ci
    skill: ci
  - id: merge
    action: gh-merge
    depends_on: [ci]
    requires_approval: true
    with: { pr: "{{ trigger.pr_number }}" }
  - id: tell
    action: gh-comment
    depends_on: []
    with: { pr: "{{ trigger.pr_number }}", body: "Witness: {{ trigger.title }} from {{ trigger.head }}" }
  - id: mark
    action: gh-label
    depends_on: []
    with: { pr: "{{ trigger.pr_number }}", labels: ["{{ trigger.title }}", "{{ trigger.head }}"] }
`;

/** All of them in the long form, otherwise a few, drawn by the seed. */
function some<T>(all: readonly T[], count: number): readonly T[] {
  return LONG ? all : Array.from({ length: count }, (_, nth) => all[(SEED + nth * 7) % all.length] as T);
}

test(`secrets in titles, descriptions, commits, labels, checks and statuses are shown nowhere (seed ${SEED})`, async () => {
  const harness = await recordedApp({ chain: TALKATIVE });
  const { github } = harness;
  for (const [nth, { text }] of some(ONE_LINE, 1).entries()) {
    const more = some(ONE_LINE, 3)
      .map((other) => other.text)
      .join(' ');
    const title = `Witness ${text} ${more}`.slice(0, 250);
    const body = PLANTED.map((one) => one.text).join('\n');
    const { number } = await open(harness, { branch: `change-${nth}`, title, body });
    await github.addLabel(REPO, number, 'mia', text.slice(0, 50));
    await github.push({
      repo: REPO,
      branch: `change-${nth}`,
      author: 'ada',
      message: body,
      coAuthors: [`${text} <a@b.test>`],
    });
    await harness.settle();
  }
  const { number, headSha } = await open(harness, { branch: 'checked', title: 'Witness' });
  for (const { text } of some(PLANTED, 4)) {
    const output = { title: text, summary: text, text, annotations: [] };
    await github.reportCheck(REPO, headSha, {
      name: `Witness ${text}`,
      status: 'completed',
      conclusion: 'failure',
      detailsUrl: `https://ci.test/?q=${encodeURIComponent(text)}`,
      output,
    });
    await github.setStatus(REPO, headSha, {
      context: `Witness ${text}`,
      state: 'success',
      description: text,
      targetUrl: `https://ci.test/${encodeURIComponent(text)}`,
    });
  }
  await harness.advance(A_RECHECK);
  await github.review(REPO, number, 'will', 'CHANGES_REQUESTED', PLANTED.map(({ text }) => text).join('\n'));
  await harness.advance(A_RECHECK);
  expect(github.comments(REPO, number).length).toBeGreaterThan(1);
  await expectClean(harness, {
    requests: 'Witness',
    'table chain_runs': 'Witness',
    'table invocations': 'Witness',
    'table artifacts': 'Witness',
    'table effects': 'Witness',
    'command line': 'Witness',
  });
});

test(`secrets in branches and in the title of a merged pull request are shown nowhere (seed ${SEED})`, async () => {
  const harness = await recordedApp({ chain: TALKATIVE.replace('depends_on: [ci]', 'depends_on: []') });
  const { github } = harness;
  for (const { text } of some(ONE_WORD, 1)) {
    const { number } = await open(harness, { branch: `witness/${text}`, title: `Witness ${text}` });
    await countersign(harness, number);
    expect(github.pullRequest(REPO, number)).toMatchObject({ merged: true });
  }
  await expectClean(harness, {
    requests: 'witness/',
    'table chain_runs': 'witness/',
    'command line': 'merged',
  });
});

test('secrets in commands and other comments are shown nowhere, and a command that contains one is not run', async () => {
  const harness = await recordedApp({ chain: TALKATIVE });
  const { github } = harness;
  const { number } = await open(harness);
  const runs = (await harness.app.storage.read.runs.list({})).length;
  for (const command of [
    'fire pr-review witness=',
    'fire pr-review witness="',
    'rerun ',
    'fire ',
    '',
    'status ',
  ]) {
    // The app reads no more commands than this in one comment.
    for (let from = LONG ? 0 : 20; from < ONE_LINE.length; from += 10) {
      const lines = ONE_LINE.slice(from, from + 10).map(({ text }) => `/countersign ${command}${text}`);
      await github.comment(REPO, number, 'mia', lines.join('\n'));
    }
    await harness.settle();
  }
  await github.comment(REPO, number, 'otto', PLANTED.map(({ text }) => text).join('\n'));
  await harness.advance(A_RECHECK);
  expect(github.comments(REPO, number).length).toBeGreaterThan(10);
  await expectClean(harness, {
    requests: 'Inputs are written',
    'table effects': 'Inputs are written',
    log: 'commands answered',
  });
  expect((await harness.app.storage.read.runs.list({})).length - runs).toBeLessThan(10);
});
