import { expect, test } from 'vitest';
import { isSandboxAvailable } from '../../../../src/skills/kinds/agent/sandbox.ts';
import { message, startStubResponses } from '../../../support/model/responses.ts';
import { fakeAgents, KEY } from './support.ts';

const { COUNTERSIGN_LONG: long, COUNTERSIGN_CODEX: codex = '' } = process.env;
const agents = fakeAgents();
const runs = long === '1' && codex !== '' && (await isSandboxAvailable());

test.skipIf(!runs)(
  'the real Codex runs a command inside its sandbox and answers in the requested form',
  async () => {
    const stub = await startStubResponses();
    const command = { cmd: 'cat a.txt; env; ls /' };
    const answer = JSON.stringify({ summary: 'fine', passed: true, criteria: [] });
    stub.answers(
      { type: 'function_call', name: 'exec_command', call_id: 'call_1', arguments: JSON.stringify(command) },
      message(answer),
    );
    const end = await agents.run(codex, stub.url, { timeoutMs: 100_000, memoryMb: 2_048 });
    await stub.stop();
    expect(end).toMatchObject({ answer, settled: [{ input: 1_200 }, { input: 1_200 }], refused: undefined });
    const [first, second] = stub.asked;
    expect(first).toMatchObject({
      path: '/v1/responses',
      authorization: `Bearer ${KEY}`,
      body: { model: 'gpt-5-mini' },
    });
    expect(first?.body.tools?.every(({ type }) => type === 'function' || type === 'custom')).toBe(true);
    const told = JSON.stringify(second?.body.input);
    expect(told).toContain('of the head');
    expect(told).not.toContain(KEY);
    expect(told).not.toContain(process.cwd());
  },
  90_000,
);
