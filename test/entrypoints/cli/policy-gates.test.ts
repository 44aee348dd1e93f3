import { afterAll, beforeAll, expect, it } from 'vitest';
import { createTools } from '../../../src/cli-tools.ts';
import { runCli } from '../../../src/entrypoints/cli/command-line.ts';
import { type Harness, REPO, startHarness } from '../../support/harness.ts';

const CHAIN = `name: pr-review
trigger: { event: pr.opened }
steps:
  - id: small
    action: gh-comment
    with: { body: Hello }
    gates: { pre: [{ id: size, criteria: [{ id: lines, if: "{{ pr.additions < 400 }}" }] }] }
  - id: asks
    action: gh-label
    with: { labels: [seen] }
    gates: { pre: [{ id: outsiders, on_failure: require_human, criteria: [{ id: inside, if: "{{ pr.fork }}" }] }] }
  - id: later
    action: gh-comment
    with: { body: Bye }
    gates: { post: [{ id: said, criteria: [{ id: it, if: "{{ steps.later.outcome.passed }}" }] }] }
`;

let harness: Harness;
let number: number;

beforeAll(async () => {
  harness = await startHarness({ files: { '.github/countersign/chains/pr-review.yaml': CHAIN } });
  const files = { 'docs/page.txt': 'A page.\n' };
  const input = { repo: REPO, author: 'ada', branch: 'own', title: 'Change', files };
  ({ number } = await harness.github.openPullRequest(input));
  await harness.settle();
});
afterAll(() => harness.stop());

/** From the table on, without the facts that trust depends on. */
async function policy(line: string): Promise<string> {
  const { appId, privateKey, webhookSecret, githubApiUrl, databaseUrl } = harness.config;
  const environment = {
    APP_ID: String(appId),
    PRIVATE_KEY: privateKey,
    WEBHOOK_SECRET: webhookSecret,
    GITHUB_API_URL: githubApiUrl,
    DATABASE_URL: databaseUrl,
  };
  let said = '';
  const out = (text: string) => {
    said += text;
  };
  const { clock } = harness;
  await runCli(line.split(' '), { cwd: '/nowhere', clock, tools: createTools(environment), out, err: out });
  const lines = said.slice(said.indexOf('STEP')).split('\n');
  return lines.filter((one) => !/^ {4}\S (its head|ada, who|nobody fired|this step)/.test(one)).join('\n');
}

it('policy explain shows the last verdict of each gate, and the gates without a verdict', async () => {
  const [run] = await harness.app.storage.read.runs.list({ pullRequest: number, limit: 1 });
  expect(await policy(`policy explain ${run?.id}`)).toMatchInlineSnapshot(`
    "STEP   CAPABILITY  NEEDS    HAS       CONFIRMATION  CHANGES GITHUB  DECISION
    small  gh-comment  sandbox  standard  none          yes             allowed
    asks   gh-label    sandbox  standard  none          yes             asks first
    later  gh-comment  sandbox  standard  none          yes             not known yet

    small:
    ✔ gh-comment is allowed
      ✔ it needs sandbox trust; this run has standard
      ✔ nobody has to confirm it
      ✔ gate size is passed
        ✔ pr.additions < 400 (pr.additions is 1)

    asks:
    … gh-label is allowed once somebody confirms it
      ✔ it needs sandbox trust; this run has standard
      ✔ nobody has to confirm it
      … gate outsiders is not passed: pr.fork (pr.fork is false); the step needs a countersign
        ✘ pr.fork (pr.fork is false)

    later:
    ? whether gh-comment is allowed is not known yet
      ✔ it needs sandbox trust; this run has standard
      ✔ nobody has to confirm it
      ? gate said after the step is unknown until the step runs
    "
  `);
});

it('policy simulate calls no step allowed because of a gate without a verdict', async () => {
  expect(await policy(`policy simulate --repo ${REPO} --pr ${number}`)).toMatchInlineSnapshot(`
    "STEP   CAPABILITY  NEEDS    HAS       CONFIRMATION  CHANGES GITHUB  DECISION
    small  gh-comment  sandbox  standard  none          yes             not known yet
    asks   gh-label    sandbox  standard  none          yes             not known yet
    later  gh-comment  sandbox  standard  none          yes             not known yet

    small:
    ? whether gh-comment is allowed is not known yet
      ✔ it needs sandbox trust; this run has standard
      ✔ nobody has to confirm it
      ? gate size before the step is unknown until the step runs

    asks:
    ? whether gh-label is allowed is not known yet
      ✔ it needs sandbox trust; this run has standard
      ✔ nobody has to confirm it
      ? gate outsiders before the step is unknown until the step runs

    later:
    ? whether gh-comment is allowed is not known yet
      ✔ it needs sandbox trust; this run has standard
      ✔ nobody has to confirm it
      ? gate said after the step is unknown until the step runs
    "
  `);
});
