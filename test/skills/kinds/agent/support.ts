import { chmodSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach } from 'vitest';
import type { Tokens } from '../../../../src/domain/model/price.ts';
import type { Ledger } from '../../../../src/engine/models/ledger.ts';
import type { Purpose } from '../../../../src/ports/model.ts';
import { startProxy } from '../../../../src/skills/kinds/agent/proxy.ts';
import {
  type AgentEnd,
  type AgentLimits,
  PORT,
  runAgent,
} from '../../../../src/skills/kinds/agent/run-agent.ts';

export const KEY = 'stub-key-9fQ2mXv7LbTz41';
export const PURPOSE: Purpose = {
  runId: 'run_1',
  sessionId: 'ses_1',
  repositoryId: 1,
  pullRequest: 7,
  skill: 'careful',
  artifact: 'agents/look.yml',
};

/** A ledger that records calls and allows so many; `atOnce` is the most that were under way together. */
export function countingLedger(most = 99) {
  const settled: (Tokens | null)[] = [];
  let reserved = 0;
  let atOnce = 0;
  const ledger: Ledger = {
    async reserve() {
      reserved += 1;
      atOnce = Math.max(atOnce, reserved - settled.length);
      if (reserved <= most) return { ok: true, id: reserved };
      const exceeded = { scope: 'run', unit: 'tokens', limit: 1, spent: 1, needed: 1 } as const;
      return { ok: false, exceeded };
    },
    async settle(_, tokens) {
      settled.push(tokens);
      return null;
    },
  };
  return { ledger, settled, reserved: () => reserved, atOnce: () => atOnce };
}

/** A test's program instead of an agent: a Node script, because Node is available inside. */
export function fakeAgents() {
  const folders: string[] = [];
  afterEach(() => {
    for (const folder of folders.splice(0)) rmSync(folder, { recursive: true, force: true });
  });
  const folder = () => {
    const made = mkdtempSync(join(tmpdir(), 'countersign-fake-'));
    folders.push(made);
    return made;
  };
  return {
    folder,
    program(script: string): string {
      const home = folder();
      chmodSync(home, 0o755);
      const file = join(home, 'agent.mjs');
      writeFileSync(file, `#!/usr/local/bin/node\n${script}`);
      chmodSync(file, 0o755);
      return file;
    },
    /** Runs it as codex is run; `modelUrl` is where its proxy leads. */
    async run(
      program: string,
      modelUrl: string,
      limits: Partial<AgentLimits> = {},
      signal = new AbortController().signal,
    ): Promise<AgentEnd & { settled: (Tokens | null)[]; refused: string | undefined }> {
      const scratch = folder();
      const work = join(scratch, 'work');
      mkdirSync(work);
      writeFileSync(join(work, 'a.txt'), 'of the head');
      const socket = join(scratch, 'proxy.sock');
      const { ledger, settled } = countingLedger();
      const name = { provider: 'openai', model: 'gpt-5-mini' } as const;
      const proxy = await startProxy(socket, { name, apiKey: KEY, baseUrl: modelUrl, ledger }, PURPOSE);
      const end = await runAgent(scratch, {
        agent: 'codex',
        program,
        work,
        socket,
        endpoint: {
          url: `http://127.0.0.1:${PORT}${proxy.path}/v1`,
          token: proxy.token,
          model: 'gpt-5-mini',
        },
        prompt: 'Judge it.',
        schema: { type: 'object' },
        limits: { timeoutMs: 100_000, memoryMb: 500, outputBytes: 100_000, ...limits },
        signal,
      }).finally(() => proxy.stop());
      return { ...end, settled, refused: proxy.refused() };
    },
  };
}
