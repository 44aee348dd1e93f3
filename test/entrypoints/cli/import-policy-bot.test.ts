import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { beforeEach, describe, expect, it } from 'vitest';
import { temporaryFolders } from '../../support/temp.ts';
import { countersign, parsed } from './support.ts';

const newFolder = temporaryFolders();
let folder: string;
beforeEach(() => {
  folder = newFolder();
});

const put = (path: string, text: string) => {
  mkdirSync(join(folder, path, '..'), { recursive: true });
  writeFileSync(join(folder, path), text);
};

function importing(policy: string, ...options: string[]) {
  put('.policy.yml', policy);
  return countersign(['import', 'policy-bot', '.policy.yml', ...options], { cwd: folder });
}

const TWO_TEAMS = `policy:
  approval:
    - the team approves
    - migrations need two of the databases team
approval_rules:
  - name: the team approves
    requires: { count: 1, teams: [octo/core] }
  - name: migrations need two of the databases team
    if:
      changed_files: { paths: ["^migrations/"] }
    requires: { count: 2, teams: [octo/databases] }
`;

const ALTERNATIVES = `policy:
  approval:
    - or:
        - only documentation
        - renovate
        - a maintainer approves
  disapproval:
    if:
      title: { matches: ["^WIP"] }
    requires: { organizations: [octo] }
approval_rules:
  - name: only documentation
    if:
      only_changed_files: { paths: ["^docs/", "\\\\.md$"] }
    requires: { count: 1, teams: [octo/writers], organizations: [octo] }
  - name: renovate
    if:
      has_author_in: { users: ["renovate[bot]"] }
      from_branch: { pattern: "^renovate/" }
      has_status: { statuses: [build] }
    requires: { count: 0 }
  - name: a maintainer approves
    options:
      allow_contributor: true
      methods: { comments: [lgtm] }
    requires: { count: 1, permissions: [maintain] }
  - name: forgotten
    requires: { count: 1 }
`;

describe('countersign import policy-bot', () => {
  it.each([
    ['rules that must all hold', TWO_TEAMS],
    ['alternatives, a disapproval and what has no counterpart', ALTERNATIVES],
    [
      'members of an organisation alone, and conditions',
      `policy: { approval: [{ and: [members, build] }] }
approval_rules:
  - name: members
    requires: { count: 1, organizations: [octo] }
  - name: build
    if: { targets_branch: { pattern: "^(main|release/.*)$" }, no_changed_files: { paths: ["^docs/"] } }
    requires: { conditions: { has_status: { statuses: ["ci / build"], conclusions: [success, neutral, skipped] }, has_labels: [Ready] } }
`,
    ],
    ['a policy without rules', 'policy: { approval: [] }\n'],
  ])('prints settings and a chain for %s, with each difference at its line', async (_, policy) => {
    const { code, stdout, stderr } = await importing(policy);
    expect({ code, stderr }).toEqual({ code: 0, stderr: '' });
    expect(stdout).toMatchSnapshot();
    expect(existsSync(join(folder, '.github'))).toBe(false);
  });

  it('writes both files with --out, which chain lint finds without errors or warnings', async () => {
    const { code, stdout } = await importing(TWO_TEAMS, '--out', '.');
    expect([code, stdout]).toEqual([0, expect.stringMatching(/\nWrote \.github\/countersign\.yml and /)]);
    expect((await countersign(['chain', 'lint', '--strict'], { cwd: folder })).code).toBe(0);
  });

  it('never writes over files', async () => {
    put('.github/countersign.yml', 'noise: quiet\n');
    const { code, stderr } = await importing(TWO_TEAMS, '--out', '.');
    expect([code, stderr]).toEqual([
      1,
      'Countersign is configured here already, so nothing was written: there is .github/countersign.yml. countersign chain lint checks it.\n',
    ]);
    expect(readFileSync(join(folder, '.github/countersign.yml'), 'utf8')).toBe('noise: quiet\n');
    expect(existsSync(join(folder, '.github/countersign/chains/policy.yaml'))).toBe(false);
  });

  it('prints rules, differences and files as JSON', async () => {
    const { rules, differences, files, ...rest } = parsed(await importing(ALTERNATIVES, '--json')) as Record<
      string,
      { name: string; result: string; kind: string; line: number; blocks: boolean; path: string }[]
    >;
    expect(rest).toEqual({ file: '.policy.yml', written: false });
    expect(rules?.map(({ name, result }) => [name, result])).toEqual([
      ['only documentation', 'stricter'],
      ['renovate', 'stricter'],
      ['a maintainer approves', 'stricter'],
      ['forgotten', 'unused'],
    ]);
    expect(differences?.filter(({ blocks }) => blocks).map(({ kind, line }) => [kind, line])).toEqual([
      ['disapproval', 9],
      ['disapprovers', 10],
    ]);
    expect(files?.map(({ path }) => path)).toEqual([
      '.github/countersign.yml',
      '.github/countersign/chains/policy.yaml',
    ]);
  });

  it('makes a chain that asks whom the policy asks', async () => {
    await importing(TWO_TEAMS, '--out', '.');
    put(
      '.github/countersign/tests/policy.yml',
      `chain: policy
cases:
  - name: only the team is asked about code
    files: { src/a.ts: a }
    expect: { result: asked, steps: { ask-2: skipped, merge-1: waiting_approval } }
  - name: the databases team is asked first about migrations
    files: { migrations/1.sql: a }
    expect: { result: asked, steps: { ask-2: waiting_approval, merge-1: pending } }
`,
    );
    const { stdout } = await countersign(['chain', 'test'], { cwd: folder });
    expect(stdout).toMatch(/\nRan 2 cases: none failed\.\n$/);
  });

  it('applies merge keys and default options, as policy-bot does', async () => {
    const { stdout } = await importing(`approval_defaults: { options: { allow_author: true } }
policy: { approval: [one, two] }
approval_rules:
  - &one { name: one, requires: { count: 1, teams: [octo/core] } }
  - { <<: *one, name: two }
`);
    expect(stdout).toContain('Approve? (one / two)');
    expect(stdout).toMatch(/\.policy\.yml:1:\d+: allow_author has no counterpart/);
  });

  const bomb = [
    'a0: &a0 [x, x, x, x, x, x, x, x, x]',
    ...Array.from({ length: 9 }, (_, at) => `a${at + 1}: &a${at + 1} [${`*a${at}, `.repeat(9)}]`),
  ].join('\n');
  const deep = `policy: { approval: [${'{ or: ['.repeat(12)}r${'] }'.repeat(12)}] }\napproval_rules: [{ name: r }]\n`;
  it.each([
    ['is no YAML', '{', /:1:\d+: /],
    ['is no mapping', '[]', /a policy is a mapping/],
    ['is another file', 'name: x', /this is no policy/],
    [
      'names a policy elsewhere',
      'remote: octo/policies',
      /:1:9: this file only names a policy in another repository/,
    ],
    ['names a rule that there is not', 'policy: { approval: [x] }', /:1:\d+: there is no rule "x"/],
    ['has another connective', 'policy: { approval: [{ xor: [x] }] }', /"xor" is neither "and" nor "or"/],
    ['is too large', `# ${'x'.repeat(70_000)}`, /the file is larger than 64 KB/],
    ['is a bomb of aliases', bomb, /alias/],
    ['is nested too deeply', deep, /nested more than 10 deep/],
    ['is nested so deeply that no reader goes on', `policy: ${'['.repeat(5_000)}`, /nested too deeply|:1:/],
    [
      'has too many rules',
      `policy: { approval: [] }\napproval_rules: [${'{ name: x }, '.repeat(300)}]`,
      /more than 200 rules/,
    ],
  ])('says where a policy is wrong that %s, and writes nothing', async (_, policy, message) => {
    const { code, stdout, stderr } = await importing(policy, '--out', '.');
    expect({ code, stdout }).toEqual({ code: 1, stdout: '' });
    expect(stderr).toMatch(/^The policy cannot be imported:\n/);
    expect(stderr).toMatch(message);
    expect(existsSync(join(folder, '.github'))).toBe(false);
  });

  it('ends for a policy whose conditions would be endless, and lets nothing merge by what it cannot say', {
    tags: 'slow',
  }, async () => {
    const names = Array.from({ length: 60 }, (_, at) => `r${at}`);
    const rules = names.map(
      (name, at) =>
        `  - { name: ${name}, if: { changed_files: { paths: ["^d${at}/"] } }, requires: { count: ${(at % 3) + 1}, teams: [octo/t${at}] } }`,
    );
    const alternatives = `{ or: [${names.join(', ')}] }`;
    const { code, stdout } = await importing(
      `policy: { approval: [{ or: [{ and: [${alternatives}, ${alternatives}] }, ${alternatives}] }] }\napproval_rules:\n${rules.join('\n')}\n`,
    );
    if (code === 0) expect(stdout).toContain('this is too long for one expression');
    else expect(code).toBe(1);
  });

  it('shows texts of the policy without what could steer a terminal', async () => {
    const { stdout } = await importing(
      'policy: { approval: ["a\\u001b[2Jb"] }\napproval_rules: [{ name: "a\\u001b[2Jb", requires: { count: 1, organizations: ["\\u202E"] } }]\n',
    );
    expect(stdout.replaceAll('\n', '')).not.toMatch(/[\p{Cc}\p{Cf}]/u);
  });
});
