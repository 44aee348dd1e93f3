// @module-tag slow
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { agentSkill } from '../../src/skills/kinds/agent/agent-skill.ts';
import { isSandboxAvailable } from '../../src/skills/kinds/agent/sandbox.ts';
import { countingLedger, fakeAgents, KEY } from '../skills/kinds/agent/support.ts';
import { REPO } from '../support/harness.ts';
import { message, startStubResponses } from '../support/model/responses.ts';
import { only, type Scene, scenes } from './support-scene.ts';
import { logOf } from './support-skills.ts';

const startScene = scenes();
const agents = fakeAgents();
let stub: Awaited<ReturnType<typeof startStubResponses>>;
beforeAll(async () => {
  stub = await startStubResponses();
  stub.answers(message('the model said so'));
});
afterAll(() => stub.stop());

const SKILL = '.github/countersign/skills/careful';
const repository = (step = '') => ({
  ...only({
    flow: `
name: flow
trigger: { event: pr.opened }
steps:
  - { id: look, skill: careful${step} }
  - { action: gh-comment, with: { body: "said: {{ steps.look.outcome.summary }}" } }
`,
  }),
  [`${SKILL}/SKILL.md`]:
    '---\nname: careful\ndescription: Looks closely.\noutcome: review_verdict\nartifacts: { agents/look.yml: {} }\n---\n',
  [`${SKILL}/agents/look.yml`]: 'agent: codex\nprompt: prompts/look.md\ntimeout: 1m\n',
  [`${SKILL}/prompts/look.md`]: 'This is for other models.\n',
  [`${SKILL}/prompts/look@gpt.md`]:
    'Look at {{ pr.title }}; {{ state | length }} kinds of outcomes are known.\n',
});

const SECRET = ['ghp', 'abcdefghijklmnopqrstuvwxyz0123456789'].join('_');
/** The mark of a program: its words appear in what the program shows. */
const PRINTS_SECRET = `console.log('found', ${JSON.stringify(SECRET)});`;

/** Asks its model, and gives what it saw as its verdict. */
const PROGRAM = `
${PRINTS_SECRET}
import fs from 'node:fs';
const base = process.argv.find((one) => one.includes('base_url')).match(/base_url="([^"]+)"/)[1];
const asked = await fetch(base + '/responses', { method: 'POST', headers: { authorization: 'Bearer ' + process.env.AGENT_TOKEN }, body: JSON.stringify({ input: 'x' }) });
const schema = JSON.parse(fs.readFileSync(process.argv[process.argv.indexOf('--output-schema') + 1], 'utf8'));
const prompt = fs.readFileSync(0, 'utf8');
console.log('key', process.env.AGENT_TOKEN.length > 20, (await asked.text()).includes('the model said so'));
fs.writeFileSync('/tmp/answer.json', JSON.stringify({
  summary: fs.readdirSync('/work').join() + ' of ' + /BEGIN DATA \\w+\\n(.*)/.exec(prompt)[1] + ' with ' + Object.keys(schema.properties).join() + /; \\d+ kinds/.exec(prompt)[0],
  verdict: 'REQUEST_CHANGES',
  findings: [{ severity: 'high', category: 'security', file: 'docs/page.txt', line: 1, description: 'It is bad.', suggestion: '' }],
}));
`;

/**
 * An app whose agent is a program of the test. The test writes the head itself, because the stand-in does not speak git's
 * protocol.
 */
async function start(files: Record<string, string>, script = PROGRAM, turnedOn = true) {
  const heads: string[] = [];
  const { ledger, settled } = countingLedger();
  const name = { provider: 'openai', model: 'gpt-5-mini' } as const;
  const handler = agentSkill({
    agents: turnedOn ? { codex: agents.program(script) } : {},
    model: { name, apiKey: KEY, baseUrl: stub.url, ledger },
    gitAccess: async ({ repository }) => ({ url: `https://git.example/${repository}.git`, token: 'ghs_x' }),
    async head(folder, sha) {
      heads.push(sha);
      writeFileSync(join(folder, 'seen.txt'), 'x');
      return ['AGENTS.md'];
    },
  });
  const scene = await startScene(files, { artifactHandlers: [handler] });
  return Object.assign(scene, { heads, settled });
}

const said = ({ github }: Scene, number: number) =>
  github.comments(REPO, number).flatMap(({ body }) => /said: (.*)/.exec(body)?.[1] ?? []);

async function look(scene: Scene) {
  const [run] = await scene.runs('flow');
  const state = await scene.app.storage.read.runs.load(run?.id ?? '');
  return state?.invocations[0];
}

async function countersigned(scene: Scene, number: number): Promise<void> {
  const question = scene.github
    .comments(REPO, number)
    .find(({ body }) => body.includes('countersign:question'));
  await scene.github.react(REPO, question?.id ?? 0, 'mia', 'rocket');
  await scene.advance(10_000);
}

const OUTSIDER = { author: 'otto', fork: 'otto/app' };

test.skipIf(!(await isSandboxAvailable()))(
  'an agent reviews an outsider’s head once a maintainer has countersigned it, and its whole output is kept',
  async () => {
    const scene = await start(repository(', requires_approval: true'));
    const { number, headSha } = await scene.open({ ...OUTSIDER, title: 'Change it' });
    expect(scene.heads).toEqual([]);
    await countersigned(scene, number);
    expect(scene.heads).toEqual([headSha]);
    expect(said(scene, number)).toEqual([
      expect.stringMatching(/^seen.txt of Change it with summary,verdict,findings; \d+ kinds$/),
    ]);
    expect((await look(scene))?.outcome).toMatchObject({
      head_sha: headSha,
      verdict: 'REQUEST_CHANGES',
      passed: false,
      findings: [{ rule: 'careful/look.yml', file: 'docs/page.txt', line: 1 }],
    });
    expect(scene.settled).toEqual([{ input: 1_200, output: 34 }]);
    const [run] = await scene.runs('flow');
    const [trace] = await scene.app.storage.read.skillTraces.ofRun(run?.id ?? '');
    expect(trace).toMatchObject({ model: 'openai/gpt-5-mini', tokens: { input: 1_200, output: 34 } });
    expect(await logOf(scene)).toBe(
      'found [redacted: GitHub token]\nkey true true\n\nFiles of the head that the agent did not see: AGENTS.md\n' +
        'openai/gpt-5-mini: 1 call, 1,200 tokens in, 34 out, cost unknown\n',
    );
  },
);

test.each([
  ['an outsider’s pull request', OUTSIDER],
  ['a member’s pull request that nobody fired', {}],
])('no agent starts for %s, and the reason is shown', async (_, opened) => {
  const scene = await start(repository());
  const { number } = await scene.open(opened);
  expect(await look(scene)).toMatchObject({ status: 'failed', reason: { code: 'gate.blocked.policy' } });
  expect((await look(scene))?.reason?.summary).toContain('it needs elevated trust');
  expect({ heads: scene.heads, said: said(scene, number) }).toEqual({ heads: [], said: [] });
});

test('a package cannot lower what its agent needs', async () => {
  const files = repository();
  const skillMd = files[`${SKILL}/SKILL.md`]?.replace('outcome:', 'trust: sandbox\noutcome:') ?? '';
  const scene = await start({ ...files, [`${SKILL}/SKILL.md`]: skillMd });
  await scene.open(OUTSIDER);
  expect((await look(scene))?.reason?.summary).toContain('it needs elevated trust');
});

test('an agent that is not turned on fails with that reason, and nothing is fetched', async () => {
  const scene = await start(repository(', requires_approval: true'), PROGRAM, false);
  const { number } = await scene.open();
  await countersigned(scene, number);
  expect((await look(scene))?.reason?.summary).toContain('not turned on here');
  expect(scene.heads).toEqual([]);
});

test.skipIf(!(await isSandboxAvailable()))(
  'an agent without a valid answer gives no verdict, and its output is kept',
  async () => {
    const approving = `${PRINTS_SECRET} import fs from 'node:fs'; fs.writeFileSync('/tmp/answer.json', 'All is well. {"verdict": "APPROVE"}');`;
    const scene = await start(repository(', requires_approval: true'), approving);
    const { number } = await scene.open();
    await countersigned(scene, number);
    expect(await look(scene)).toMatchObject({ status: 'failed', outcome: null });
    expect((await look(scene))?.reason?.summary).toContain('gave no answer of the form');
    expect(await logOf(scene)).toMatch(/^found \[redacted: GitHub token\]\n/);
  },
);

test.skipIf(!(await isSandboxAvailable()))(
  'an agent leaves the files of its folder, and neither a link nor a device',
  async () => {
    const script = `
import fs from 'node:fs';
fs.mkdirSync('/artifacts/notes');
fs.writeFileSync('/artifacts/review.md', '# Review');
fs.writeFileSync('/artifacts/notes/a.txt', 'a');
fs.writeFileSync('/artifacts/skill.log', 'not mine');
fs.symlinkSync('/etc/passwd', '/artifacts/passwd');
fs.writeFileSync('/tmp/answer.json', JSON.stringify({ summary: 'Fine.', verdict: 'APPROVE', findings: [] }));
`;
    const expected = ', requires_approval: true, artifacts: { expected: [{ id: review, path: review.md }] }';
    const scene = await start(repository(expected), script);
    const { number } = await scene.open();
    await countersigned(scene, number);
    expect(await look(scene)).toMatchObject({ status: 'completed', verification: { status: 'passed' } });
    const [run] = await scene.runs('flow');
    const left = await scene.app.storage.read.artifacts.ofRun(run?.id ?? '');
    expect(left.filter(({ kind }) => kind === 'file').map(({ name }) => name)).toEqual([
      'review.md',
      'notes/a.txt',
    ]);
    expect(await logOf(scene)).toContain('the file "skill.log" is not kept');
  },
);
