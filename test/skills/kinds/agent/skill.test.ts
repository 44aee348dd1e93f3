import { afterAll, beforeAll, expect, test } from 'vitest';
import { type AgentDeps, agentSkill } from '../../../../src/skills/kinds/agent/agent-skill.ts';
import type { AgentModel } from '../../../../src/skills/kinds/agent/proxy.ts';
import { isSandboxAvailable } from '../../../../src/skills/kinds/agent/sandbox.ts';
import { caseStep } from '../../../../src/skills/testing/case-step.ts';
import { message, startStubResponses } from '../../../support/model/responses.ts';
import { files, packageOf, skillMd } from '../../../support/packages.ts';
import { countingLedger, fakeAgents, KEY } from './support.ts';

const agents = fakeAgents();
let stub: Awaited<ReturnType<typeof startStubResponses>>;
beforeAll(async () => {
  stub = await startStubResponses();
  stub.answers(message('the model said so'));
});
afterAll(() => stub.stop());

/** The result of an agent; `heads` are the globs of each head that was written for it. */
async function look(lines: string, script: string, more: Partial<AgentDeps> = {}, calls = 99) {
  const skill = packageOf(
    files(
      { 'agents/look.yml': `agent: codex\nprompt: prompts/look.md\n${lines}`, 'prompts/look.md': 'Look.\n' },
      skillMd('outcome: gate_verdict\n'),
    ),
  );
  const artifact = skill.artifacts.find(({ kind }) => kind === 'agent');
  if (!artifact) throw new Error('the package has an agent');
  const heads: unknown[] = [];
  const handler = agentSkill({
    agents: { codex: agents.program(script) },
    model: modelOf('openai', calls),
    gitAccess: async () => ({ url: 'https://git.example/acme/shop.git', token: 'ghs_x' }),
    async head(_folder, _sha, _access, { paths }) {
      heads.push(paths);
      return [];
    },
    ...more,
  });
  const { signal } = new AbortController();
  const printed: Uint8Array[] = [];
  const step = {
    ...caseStep(skill, { name: 'one', files: { 'a.ts': 'x\n' }, expect: {} }, signal),
    print: (part: string | Uint8Array) => void printed.push(Buffer.from(part)),
  };
  const owner = { callId: 'one' };
  const output = await handler.execute(artifact, { step, skill, outcome: 'gate_verdict', owner });
  return { output, heads, printed: Buffer.concat(printed).toString() };
}

function modelOf(provider: 'openai' | 'anthropic', calls = 99): AgentModel {
  const { ledger } = countingLedger(calls);
  return { name: { provider, model: 'a-model' }, apiKey: KEY, baseUrl: stub.url, ledger };
}

const PASSES = `import fs from 'node:fs'; fs.writeFileSync('/tmp/answer.json', JSON.stringify({ summary: 'x', passed: true, criteria: [] }));`;

test('no agent is run, and no head is fetched, if the machine has no sandbox for it', async () => {
  const { output, heads } = await look('', PASSES, { sandboxAvailable: async () => false });
  expect(output).toMatchObject({
    kind: 'failed',
    because: expect.stringContaining('does not allow the namespaces'),
  });
  expect(heads).toEqual([]);
});

test.each([
  ['a model of another provider', () => modelOf('anthropic')],
  ['no model', () => undefined],
])('no agent is run, and no head is fetched, with %s', async (_, model) => {
  const { output, heads } = await look('', PASSES, { model: model(), sandboxAvailable: async () => true });
  expect(output).toMatchObject({
    kind: 'failed',
    because: 'the agent codex needs a model of openai or openai-compatible, and none is configured',
  });
  expect(heads).toEqual([]);
});

const SANDBOX = await isSandboxAvailable();

test.skipIf(!SANDBOX)(
  'an agent sees the files that its package names, and has its time limit',
  { tags: 'slow' },
  async () => {
    const { output, heads } = await look('timeout: 1s\npaths: [src/**]\n', 'setInterval(() => {}, 1000);');
    expect(heads).toEqual([['src/**']]);
    expect(output).toMatchObject({
      kind: 'failed',
      because: 'the agent took longer than 1 s and was ended',
      retryable: true,
    });
  },
);

test.skipIf(!SANDBOX)(
  'an agent that fails because its model was refused says why, and its text is shown as it comes and kept',
  async () => {
    const secret = ['ghp', 'abcdefghijklmnopqrstuvwxyz0123456789'].join('_');
    const asks = `
const base = process.argv.find((one) => one.includes('base_url')).match(/base_url="([^"]+)"/)[1];
const headers = { authorization: 'Bearer ' + process.env.AGENT_TOKEN };
const { status } = await fetch(base + '/responses', { method: 'POST', headers, body: JSON.stringify({ input: 'x' }) });
console.log('found ${secret}, refused with', status);
process.exit(3);`;
    const { output, printed } = await look('', asks, {}, 0);
    // What is shown is redacted where it is stored.
    expect(printed).toContain(`found ${secret}, refused with 403\n`);
    expect(output).toMatchObject({
      kind: 'failed',
      because: expect.stringMatching(
        /^the agent ended with exit code 3, after a call to the model was refused: The budget for language models is spent/,
      ),
      log: expect.stringMatching(/^found \[redacted: GitHub token\], refused with 403\n/),
    });
    expect(stub.asked).toEqual([]);
  },
);
