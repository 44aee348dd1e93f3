import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, afterEach, beforeAll, expect, test } from 'vitest';
import { createFileBlobs } from '../../src/adapters/files/file-blobs.ts';
import { createSkills } from '../../src/composition/skills.ts';
import type { AppConfig } from '../../src/config/config.ts';
import { criterion } from '../../src/domain/explanation/explanation.ts';
import { DEFAULT_BUDGETS } from '../../src/domain/model/budget.ts';
import type { GitHub } from '../../src/ports/github.ts';
import { toStored } from '../../src/skills/catalogue/keep.ts';
import { isSandboxAvailable } from '../../src/skills/kinds/agent/sandbox.ts';
import { caseStep } from '../../src/skills/testing/case-step.ts';
import { gitIn, startGitServer } from '../skills/kinds/agent/git-server.ts';
import { fakeAgents, KEY } from '../skills/kinds/agent/support.ts';
import { useDatabase } from '../support/database.ts';
import { message, startStubResponses } from '../support/model/responses.ts';
import { files, packageOf, skillMd } from '../support/packages.ts';
import { stepContext } from '../support/step-context.ts';
import { sqliteTestDatabase, temporaryFolders } from '../support/temp.ts';

const TOKEN = 'token-of-one-repository';
const agents = fakeAgents();
const newFolder = temporaryFolders();
const db = useDatabase(sqliteTestDatabase);
let stub: Awaited<ReturnType<typeof startStubResponses>>;
beforeAll(async () => {
  stub = await startStubResponses();
  stub.answers(message('the model said so'));
});
afterAll(() => stub.stop());
let stop = async () => {};
afterEach(() => stop());

/** Asks its model, and reports what it read in the head. */
const PROGRAM = `
import fs from 'node:fs';
const base = process.argv.find((one) => one.includes('base_url')).match(/base_url="([^"]+)"/)[1];
const headers = { authorization: 'Bearer ' + process.env.AGENT_TOKEN };
await fetch(base + '/responses', { method: 'POST', headers, body: JSON.stringify({ input: 'x' }) });
const summary = fs.readFileSync('/work/src/a.ts', 'utf8').trim();
fs.writeFileSync('/tmp/answer.json', JSON.stringify({ summary, passed: true, criteria: [] }));
`;

/** A repository as GitHub serves it, at its address there. */
async function startPages() {
  const folder = newFolder();
  const own = join(folder, 'acme/shop.git');
  mkdirSync(join(own, 'src'), { recursive: true });
  writeFileSync(join(own, 'src/a.ts'), 'of the head\n');
  const git = gitIn(own);
  git('init', '-q');
  git('config', 'uploadpack.allowAnySHA1InWant', 'true');
  git('add', '-A');
  git('commit', '-qm', 'head');
  const { url, stop, requests } = await startGitServer(folder, TOKEN);
  return { origin: new URL(url).origin, headSha: git('rev-parse', 'HEAD'), stop, requests };
}

test.skipIf(!(await isSandboxAvailable()))(
  'an agent that the operator turned on gets its program, model, budget and head',
  { tags: 'slow' },
  async () => {
    const pages = await startPages();
    const skill = packageOf(
      files(
        { 'agents/look.yml': 'agent: codex\nprompt: prompts/look.md\n', 'prompts/look.md': 'Look.\n' },
        skillMd('outcome: gate_verdict\nartifacts: { agents/look.yml: {} }\n'),
      ),
    );
    const step = ofHead(skill, pages.headSha);
    await db.storage.transaction(async (tx) => {
      await tx.runs.insert(step.state);
      await tx.runs.insertSession(step.session);
      await tx.skills.keep(toStored({ skill, scope: 'workspace' }, db.clock.now()));
    });
    const asked: number[][] = [];
    const github = {
      app: {
        async readToken(...ids: number[]) {
          asked.push(ids);
          return TOKEN;
        },
      },
    } as unknown as GitHub;
    const config = {
      githubApiUrl: `${pages.origin}/api/v3`,
      agents: { codex: agents.program(PROGRAM) },
      model: {
        name: { provider: 'openai', model: 'gpt-5-mini' },
        apiKey: KEY,
        baseUrl: stub.url,
        price: undefined,
        budgets: DEFAULT_BUDGETS,
      },
    } as unknown as AppConfig;
    const skills = await createSkills(
      config,
      { storage: db.storage, blobs: createFileBlobs(newFolder()), github, clock: db.clock },
      { policy: { decide: () => ({ verdict: 'allowed', why: criterion('met', 'it is allowed') }) } },
    );
    stop = async () => {
      await skills.stop();
      await pages.stop();
    };
    expect(
      await skills.registry.attempt({ ...stepContext('id: a, action: gh-label'), ...step }),
    ).toMatchObject({
      kind: 'done',
      outcome: { passed: true, summary: 'of the head' },
    });
    expect(asked).toEqual([[5, 70]]);
    expect(stub.asked).toMatchObject([{ authorization: `Bearer ${KEY}`, body: { model: 'gpt-5-mini' } }]);
    expect(await db.storage.read.modelCalls.ofRun(step.state.run.id)).toMatchObject([
      { skill: 'naming', artifact: 'agents/look.yml', tokens: 1_234 },
    ]);
  },
);

/** A step of a run of this head, which GitHub lists for its pull request. */
function ofHead(skill: Parameters<typeof caseStep>[0], headSha: string) {
  const change = { name: 'one', files: { 'src/a.ts': 'of the head\n' }, expect: {} };
  const step = caseStep(skill, change, new AbortController().signal);
  const reader = {
    ...step.reader,
    async pullRequest(...given: Parameters<typeof step.reader.pullRequest>) {
      return { ...(await step.reader.pullRequest(...given)), headSha, authorAssociation: 'MEMBER' };
    },
    async pullRequestFiles(...given: Parameters<typeof step.reader.pullRequestFiles>) {
      const list = await step.reader.pullRequestFiles(...given);
      return { ...list, files: list.files.map((file) => ({ ...file, headSha })) };
    },
  };
  const state = { ...step.state, run: { ...step.state.run, headSha, installationId: 5, repositoryId: 70 } };
  return { ...step, reader, state };
}
