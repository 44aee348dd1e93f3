import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import type { AddressInfo } from 'node:net';
import { createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import type { Json } from '../../../src/core/canonical.ts';
import { codeTemplate } from '../../../src/skills/kinds/code/code-template.ts';
import type { CodeHost } from '../../../src/skills/kinds/code/host.ts';
import type { CodeLimits } from '../../../src/skills/kinds/code/limits.ts';
import { commandFor } from '../../../src/skills/kinds/code/process.ts';
import type { ArtifactOutput } from '../../../src/skills/runtime/handler.ts';

/** The quick form omits what takes seconds and tests the same barrier again. */
export const LONG = process.env.COUNTERSIGN_LONG === '1';

/** A host that answers at once; `checkpoints` is what it was given to keep. */
export function fakeHost(overrides: Partial<CodeHost> = {}): CodeHost & { checkpoints: Json[] } {
  const checkpoints: Json[] = [];
  return {
    checkpoints,
    search: async (text) => [{ path: 'a.ts', line: 3, text: `has ${text}` }],
    file: async (path) => (path === 'none' ? null : `content of ${path}`),
    diff: async () => '+added\n',
    history: async (path) => [{ sha: 'a'.repeat(40), message: `Change ${path}`, author: 'ada' }],
    checkpoint: async (value) => {
      checkpoints.push(value);
    },
    ...overrides,
  };
}

interface Options {
  host?: CodeHost;
  input?: Json;
  limits?: Partial<CodeLimits>;
  signal?: AbortSignal;
  command?: typeof commandFor;
  onLog?: (text: string) => void;
}

/** Runs a program as a skill would; the ending of its name determines the language. */
export function run(
  name: 'template.js' | 'template.py',
  content: string,
  {
    host = fakeHost(),
    input = null,
    limits,
    signal = new AbortController().signal,
    command = commandFor,
    onLog = () => {},
  }: Options = {},
): Promise<ArtifactOutput> {
  const artifact = {
    kind: 'code_template',
    name,
    ordinal: 0,
    content,
    modelVariant: null,
    metadata: {},
  } as const;
  return codeTemplate.execute(artifact, {
    host,
    input,
    limits: { timeoutMs: 100_000, ...limits },
    signal,
    command,
    onLog,
  });
}

/** Where an attack would show: a file to be read, one to be written, a listener, and a variable of the app's environment. */
export interface Canaries {
  secretFile: string;
  writtenFile: string;
  ownFile: string;
  port: number;
  appPid: number;
  contacts(): number;
  written(): boolean;
}

export const SECRET = 'a canary that must not sing';

export async function canaries(): Promise<Canaries & AsyncDisposable> {
  const folder = mkdtempSync(join(tmpdir(), 'countersign-canary-'));
  const [secretFile, writtenFile] = [join(folder, 'secret'), join(folder, 'written')];
  writeFileSync(secretFile, SECRET);
  process.env.COUNTERSIGN_CANARY = SECRET;
  let contacts = 0;
  const server = createServer((socket) => {
    contacts += 1;
    socket.end(SECRET);
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  return {
    secretFile,
    writtenFile,
    ownFile: fileURLToPath(new URL('../../../src/config/config.ts', import.meta.url)),
    port: (server.address() as AddressInfo).port,
    appPid: process.pid,
    contacts: () => contacts,
    written: () => exists(writtenFile),
    async [Symbol.asyncDispose]() {
      server.close();
      delete process.env.COUNTERSIGN_CANARY;
      rmSync(folder, { recursive: true });
    },
  };
}

/** What an attack learns about the canaries: everything except how to query them. */
export function targets({ secretFile, writtenFile, ownFile, port, appPid }: Canaries): Json {
  return { secretFile, writtenFile, ownFile, port, appPid };
}

export const fixture = (name: string) => readFileSync(new URL(`./fixtures/${name}`, import.meta.url), 'utf8');

function exists(path: string): boolean {
  try {
    readFileSync(path);
    return true;
  } catch {
    return false;
  }
}
