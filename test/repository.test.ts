import { execFileSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { describe, expect, it, onTestFinished } from 'vitest';
import { parse } from 'yaml';
import { z } from 'zod';
import { countersign, parsed } from './entrypoints/cli/support.ts';

/** This repository's own maintenance, as far as it can be checked without GitHub. */
const ROOT = fileURLToPath(new URL('..', import.meta.url));
const text = (path: string) => readFileSync(join(ROOT, path), 'utf8');
const yaml = (path: string): unknown => parse(text(path));
const filesIn = (folder: string) => readdirSync(join(ROOT, folder)).map((name) => `${folder}/${name}`);

const WORKFLOWS = filesIn('.github/workflows');
const workflowSchema = z.object({
  jobs: z.record(
    z.string(),
    z.object({
      name: z.string(),
      'timeout-minutes': z.number(),
      strategy: z.object({ matrix: z.record(z.string(), z.array(z.number())) }).optional(),
      steps: z.array(z.object({ uses: z.string().optional(), run: z.string().optional() })),
    }),
  ),
});
const jobsOf = (path: string) => Object.values(workflowSchema.parse(yaml(path)).jobs);
const stepsOf = (path: string) => jobsOf(path).flatMap(({ steps }) => steps);

describe('the repository’s own configuration of Countersign', () => {
  it('has settings and a chain without errors', async () => {
    const { code, stdout } = await countersign(['chain', 'lint'], { cwd: ROOT });
    expect({ code, stdout }).toEqual({
      code: 0,
      stdout: expect.stringContaining('Checked 2 files: no errors.'),
    });
  });

  it('runs the chain that the settings name, and merges as they say', async () => {
    const { chains, merge } = z
      .object({ chains: z.tuple([z.string()]), merge: z.object({ method: z.string() }) })
      .parse(yaml('.github/countersign.yml'));
    const shown = parsed(await countersign(['chain', 'show', chains[0], '--json'], { cwd: ROOT }));
    expect(shown).toMatchObject({
      scope: 'repository',
      steps: expect.arrayContaining([
        expect.objectContaining({
          uses: { kind: 'action', name: 'gh-merge' },
          with: expect.objectContaining({ method: merge.method }),
          requires_approval: true,
        }),
      ]),
    });
  });

  // Without an agent, codex-pr-review would be a second `pr-review`. The others report, and CI leaves no coverage.
  const NOT_FOR_REVIEWS = [
    'codex-pr-review',
    'coverage-gate',
    'impact-report',
    'release-notes',
    'stale-pull-requests',
    'version-updates',
  ];

  it('reviews with every shipped skill that reviews', async () => {
    const skills = parsed(await countersign(['skill', 'list', '--json'], { cwd: ROOT })) as {
      name: string;
    }[];
    const used = z
      .object({ steps: z.array(z.object({ skill: z.string().optional() })) })
      .parse(yaml('.github/countersign/chains/review-and-merge.yaml'));
    expect(used.steps.flatMap(({ skill }) => skill ?? []).sort()).toEqual(
      skills.flatMap(({ name }) => (NOT_FOR_REVIEWS.includes(name) ? [] : name)).sort(),
    );
  });

  it('requires checks that are jobs of the CI workflow', () => {
    const { ci } = z
      .object({ ci: z.object({ required: z.array(z.string()) }) })
      .parse(yaml('.github/countersign.yml'));
    const names = jobsOf('.github/workflows/ci.yml').flatMap(({ name, strategy }) =>
      Object.entries(strategy?.matrix ?? {}).reduce(
        (some, [key, values]) =>
          some.flatMap((one) => values.map((value) => one.replace(`\${{ matrix.${key} }}`, String(value)))),
        [name],
      ),
    );
    expect(ci.required.sort()).toEqual(names.sort());
  });
});

describe('the workflows', () => {
  it('pass the shipped review for workflows', { tags: 'slow' }, async () => {
    const folder = mkdtempSync(join(tmpdir(), 'countersign-repository-'));
    onTestFinished(() => rmSync(folder, { recursive: true }));
    mkdirSync(join(folder, '.github/workflows'), { recursive: true });
    for (const path of WORKFLOWS) writeFileSync(join(folder, path), text(path));
    const git = (...args: string[]) => execFileSync('git', args, { cwd: folder, encoding: 'utf8' });
    git('init', '--quiet');
    git('add', '--intent-to-add', '.');
    writeFileSync(join(folder, 'change.diff'), git('diff', '--no-ext-diff'));
    const { code, stdout } = await countersign(['skill', 'run', 'workflow-review', '--diff', 'change.diff'], {
      cwd: folder,
    });
    expect({ code, stdout }).toEqual({
      code: 0,
      stdout: expect.stringContaining(`No findings in ${WORKFLOWS.length} files.`),
    });
  });

  it('name each action by a full commit, with its version in a comment', () => {
    const used = WORKFLOWS.flatMap((path) => text(path).match(/uses: .+/g) ?? []);
    expect(used.length).toBeGreaterThan(5);
    expect(used.filter((line) => !/^uses: [\w-]+\/[\w-]+@[0-9a-f]{40} # v\d+\.\d+\.\d+$/.test(line))).toEqual(
      [],
    );
  });

  it('run scripts and files that exist', () => {
    const { scripts } = JSON.parse(text('package.json')) as { scripts: Record<string, string> };
    const commands = WORKFLOWS.flatMap(stepsOf).flatMap(({ run }) => run ?? []);
    const named = commands.flatMap((command) => [
      ...command.matchAll(/npm (?:run )?(test\S*|lint|typecheck|build|demo)/g),
    ]);
    expect(named.map(([, name = '']) => name).filter((name) => scripts[name] === undefined)).toEqual([]);
    const files = commands.flatMap((command) => [
      ...command.matchAll(/(?:^|node )((?:scripts|\.ci)\/[\w.]+)/g),
    ]);
    expect(files.length).toBeGreaterThan(1);
    for (const [, path = ''] of files) expect(text(path)).not.toBe('');
  });

  it('test what .ci/run tests', () => {
    // One runs a share of the slow tests, and the other all shares, each in a job of its own.
    const whole = (command: string) => command.replace(/(?<=^npm run test:slow) .+/, '');
    const commands = stepsOf('.github/workflows/ci.yml').flatMap(({ run }) => (run ? whole(run) : []));
    const steps = [...text('.ci/run').matchAll(/^step (.+)$/gm)].map(([, command = '']) => whole(command));
    // Installation and tests in one command are two steps of the workflow.
    expect(steps.flatMap((step) => (step === 'npm cit' ? ['npm ci', 'npm test'] : [step]))).toEqual(
      expect.arrayContaining(commands.filter((command) => command.startsWith('npm'))),
    );
    expect(commands).toEqual(expect.arrayContaining(steps.filter((step) => step !== 'npm cit')));
  });

  it('run every share of the slow tests', () => {
    const [slow] = jobsOf('.github/workflows/ci.yml').filter(({ strategy }) => strategy?.matrix.share);
    const shares = slow?.strategy?.matrix.share ?? [];
    expect(shares).toEqual(shares.map((_, index) => index + 1));
    expect(slow?.steps.at(-1)?.run).toBe(
      `npm run test:slow -- --shares=${shares.length} --share=\${{ matrix.share }}`,
    );
    expect(slow?.name).toContain(` of ${shares.length},`);
  });
});

describe('the issue forms', () => {
  const formSchema = z.strictObject({
    name: z.string(),
    description: z.string(),
    labels: z.array(z.string()),
    body: z.array(
      z.strictObject({
        type: z.enum(['markdown', 'textarea', 'input', 'dropdown', 'checkboxes']),
        id: z.string().optional(),
        attributes: z.record(z.string(), z.unknown()),
        validations: z.strictObject({ required: z.boolean() }).optional(),
      }),
    ),
  });
  const forms = filesIn('.github/ISSUE_TEMPLATE').filter((path) => !path.endsWith('config.yml'));

  it.each(forms)('in %s have fields that GitHub knows, each with its own id and a label', (path) => {
    const fields = formSchema.parse(yaml(path)).body.filter(({ type }) => type !== 'markdown');
    expect(new Set(fields.map(({ id }) => id ?? '')).size).toBe(fields.length);
    expect(fields.filter(({ id, attributes }) => !id || typeof attributes.label !== 'string')).toEqual([]);
  });

  it('send people who found a vulnerability to SECURITY.md', () => {
    const { contact_links } = z
      .object({ contact_links: z.array(z.object({ about: z.string() })) })
      .parse(yaml('.github/ISSUE_TEMPLATE/config.yml'));
    expect(contact_links.some(({ about }) => about.includes('SECURITY.md'))).toBe(true);
    expect(text('SECURITY.md')).toContain('(docs/security.md)');
  });
});

it('.editorconfig matches Biome’s format', () => {
  const { formatter } = z
    .object({
      formatter: z.object({ indentStyle: z.string(), indentWidth: z.number(), lineWidth: z.number() }),
    })
    .parse(JSON.parse(text('biome.json')));
  const lines = text('.editorconfig').split('\n');
  for (const line of [
    `indent_style = ${formatter.indentStyle}`,
    `indent_size = ${formatter.indentWidth}`,
    `max_line_length = ${formatter.lineWidth}`,
  ])
    expect(lines).toContain(line);
});
