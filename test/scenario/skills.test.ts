import { expect, test } from 'vitest';
import { packageId } from '../../src/domain/skill/package.ts';
import type { ArtifactHandler, ArtifactOutput } from '../../src/skills/runtime/handler.ts';
import type { SkillContext } from '../../src/skills/runtime/skill-context.ts';
import { eachFirstQuick } from '../support/each-first-quick.ts';
import { REPO } from '../support/harness.ts';
import { CHAINS, only, type Scene, SETTINGS, scenes, UPDATES_SHOWN_MS } from './support-scene.ts';

const startScene = scenes();
const SKILLS = '.github/countersign/skills';

/** Replaces a model: a prompt's text is its answer. */
const echo: ArtifactHandler<SkillContext> = {
  kind: 'prompt_template',
  async execute({ content }): Promise<ArtifactOutput> {
    return content.startsWith('fail:')
      ? { kind: 'failed', because: content.slice('fail:'.length).trim(), retryable: false, log: content }
      : { kind: 'done', value: JSON.parse(content), log: 'asked once' };
  },
};

const start = (files: Record<string, string>) => startScene(files, { artifactHandlers: [echo] });

function gate(passed: boolean, summary: string): string {
  return JSON.stringify({
    summary,
    passed,
    gate_passed: passed,
    feedback: '',
    notes: [],
    criteria: [],
    blocking_reason: passed ? null : 'no',
    next_action: null,
  });
}

const skillMd = (name: string, lines = 'outcome: gate_verdict\n') =>
  `---\nname: ${name}\ndescription: Looks at the names of things.\n${lines}---\n`;

function skill(name: string, answer: string, root = SKILLS): Record<string, string> {
  return { [`${root}/${name}/SKILL.md`]: skillMd(name), [`${root}/${name}/prompts/ask.md`]: answer };
}

/** A chain that runs a skill and comments its outcome. */
const asking = (name: string, chain = 'flow') => `
name: ${chain}
trigger: { event: pr.opened }
steps:
  - { id: ask, skill: ${name} }
  - { action: gh-comment, with: { body: "said: {{ steps.ask.outcome.summary }}" } }
`;

const said = (scene: Scene, number: number) =>
  scene.github.comments(REPO, number).flatMap(({ body }) => /said: (.*)/.exec(body)?.[1] ?? []);

function organisation(scene: Scene, files: Record<string, string>): void {
  scene.github.addRepository({ owner: 'octo', name: '.github', files });
}

test('a package whose files begin with byte order marks is the same as one without them', {
  tags: 'slow',
}, async () => {
  const plain = skill('naming', gate(true, 'good names'));
  const marked = Object.entries(plain).map(([path, text]) => [path, `\uFEFF${text}`]);
  const scene = await start({ ...only({ flow: asking('naming') }), ...Object.fromEntries(marked) });
  const { number } = await scene.open();
  expect(said(scene, number)).toEqual(['good names']);
  const [run] = await scene.runs('flow');
  const files = Object.entries(plain).map(([path, text]) => ({
    path: path.slice(`${SKILLS}/naming/`.length),
    text,
  }));
  expect(run?.definition.steps[0]?.uses).toMatchObject({ package: { id: packageId('naming', files) } });
});

test('a step whose package promises a file and leaves none fails its run, and names the file', {
  tags: 'slow',
}, async () => {
  const files = skill('naming', gate(true, 'good names'));
  const promising = 'outcome: gate_verdict\nartifact_defaults: [{ id: report, path: report.json }]\n';
  const scene = await start({
    ...only({ flow: asking('naming') }),
    ...files,
    [`${SKILLS}/naming/SKILL.md`]: skillMd('naming', promising),
  });
  await scene.open();
  const [run] = await scene.runs('flow');
  expect(run?.reason).toMatchObject({
    code: 'run.failed.missing_artifact',
    summary: expect.stringContaining('report (report.json): it is not there'),
  });
});

async function pushToMain(scene: Scene, files: Record<string, string>): Promise<void> {
  await scene.github.push({ repo: REPO, branch: 'main', author: 'mia', files });
  await scene.settle();
}

test('a step runs a skill of the repository, and its outcome is kept with its text', {
  tags: 'slow',
}, async () => {
  const scene = await start({
    ...only({ flow: asking('naming') }),
    ...skill('naming', gate(true, 'good names')),
  });
  const { number, headSha } = await scene.open();
  expect(scene.verdicts(headSha)).toEqual({ 'countersign / flow': 'success' });
  expect(said(scene, number)).toEqual(['good names']);
  const [run] = await scene.runs('flow');
  const artifacts = await scene.app.storage.read.artifacts.ofRun(run?.id ?? '');
  expect(artifacts.map(({ kind, name }) => [kind, name])).toEqual(
    expect.arrayContaining([
      ['gate_verdict', 'Gate skill naming'],
      ['log', 'skill.log'],
    ]),
  );
});

test('an organisation’s skill is available to its repositories, and a repository’s own is nearer', {
  tags: 'slow',
}, async () => {
  const scene = await start(only({ flow: asking('naming'), other: asking('spelling', 'other') }));
  organisation(scene, {
    ...skill('naming', gate(true, 'of octo'), 'countersign/skills'),
    ...skill('spelling', gate(true, 'spelled by octo'), 'countersign/skills'),
  });
  const first = await scene.open();
  expect(said(scene, first.number)).toEqual(expect.arrayContaining(['of octo', 'spelled by octo']));

  await pushToMain(scene, skill('naming', gate(true, 'our own')));
  const second = await scene.open({ branch: 'second' });
  expect(said(scene, second.number)).toEqual(expect.arrayContaining(['our own', 'spelled by octo']));
});

test('the head’s version of a skill governs nothing', { tags: 'slow' }, async () => {
  const scene = await start({
    ...only({ flow: asking('naming') }),
    ...skill('naming', gate(false, 'of the base')),
  });
  const { number, headSha } = await scene.open({ files: skill('naming', gate(true, 'of the head')) });
  expect(said(scene, number)).toEqual(['of the base']);
  expect(scene.verdicts(headSha)['countersign / configuration']).toBe('success');
});

test('a run keeps the skill it started with, also when the base changes and the app restarts', {
  tags: 'slow',
}, async () => {
  const chain = `
name: flow
trigger: { event: pr.opened }
steps:
  - skill: ci
  - { id: ask, skill: naming }
  - { action: gh-comment, with: { body: "said: {{ steps.ask.outcome.summary }}" } }
`;
  const scene = await start({ ...only({ flow: chain }), ...skill('naming', gate(true, 'as it was')) });
  const { number, headSha } = await scene.open();
  await pushToMain(scene, skill('naming', gate(true, 'as it became')));
  await scene.restart();
  await scene.github.reportCheck(REPO, headSha, { name: 'test', status: 'completed', conclusion: 'success' });
  await scene.advance(UPDATES_SHOWN_MS);
  expect(said(scene, number)).toEqual(['as it was']);
});

test('an invalid skill is reported with every error, stops the chains that name it, and leaves the rest working', {
  tags: 'slow',
}, async () => {
  const scene = await start({
    ...only({ flow: asking('naming'), other: asking('spelling', 'other') }),
    ...skill('spelling', gate(true, 'fine')),
    [`${SKILLS}/naming/SKILL.md`]: skillMd('naming', 'outcom: gate_verdict\nversion: one\n'),
    [`${SKILLS}/naming/notes.txt`]: 'x',
  });
  const { number, headSha } = await scene.open();
  expect(scene.verdicts(headSha)).toEqual({
    'countersign / base configuration': 'neutral',
    'countersign / other': 'success',
  });
  expect(said(scene, number)).toEqual(['fine']);
  const told = scene.check(headSha, 'base configuration')?.summary ?? '';
  expect(told.split('\n').filter((line) => line.startsWith('- '))).toMatchInlineSnapshot(`
    [
      "- \`.github/countersign/chains/flow.yaml:5:23\` the skill "naming" has errors of its own, which countersign skill lint shows; no step can run it until they are fixed",
      "- \`.github/countersign/skills/naming/SKILL.md:4:1\` unknown key "outcom": did you mean "outcome"? Allowed: name, description, version, author, tags, intent\\_patterns, trigger\\_phrases, paths, outcome, outcome\\_schema, trust, artifact\\_defaults, cognitive\\_hints, sequence, uses, artifacts, license, compatibility, allowed-tools, metadata",
      "- \`.github/countersign/skills/naming/SKILL.md:5:10\` a version is a text such as 1.2.0",
      "- \`.github/countersign/skills/naming/notes.txt:1:1\` a package has no such file; allowed: SKILL.md, prompts/\\*.md, code/\\*.py, code/\\*.js, modules/\\*.json, analyzers/\\*.yml, agents/\\*.yml, tests/\\*.yml",
    ]
  `);
  expect(told).toContain('`countersign chain lint` or `countersign skill lint`');
});

test('a chain is judged again when an organisation’s skill becomes one that steps can run', {
  tags: 'slow',
}, async () => {
  const scene = await start(only({ flow: asking('naming') }));
  organisation(scene, { 'countersign/skills/naming/SKILL.md': skillMd('naming', '') });
  const early = await scene.open();
  expect(scene.check(early.headSha, 'base configuration')?.summary).toContain('names no outcome');
  await scene.github.push({
    repo: 'octo/.github',
    branch: 'main',
    author: 'mia',
    files: skill('naming', gate(true, 'good names'), 'countersign/skills'),
  });
  await scene.advance(10 * 60_000);
  const { number } = await scene.open({ branch: 'second' });
  expect(said(scene, number)).toEqual(['good names']);
});

test('an invalid skill of the repository does not let the organisation’s with its name run instead', {
  tags: 'slow',
}, async () => {
  const scene = await start({
    ...only({ flow: asking('naming') }),
    [`${SKILLS}/naming/SKILL.md`]: 'nothing',
  });
  organisation(scene, skill('naming', gate(true, 'of octo'), 'countersign/skills'));
  const { number, headSha } = await scene.open();
  expect(scene.verdicts(headSha)).toEqual({ 'countersign / base configuration': 'neutral' });
  expect(said(scene, number)).toEqual([]);
});

test('no package replaces the built-in review', { tags: 'slow' }, async () => {
  const approving = JSON.stringify({
    summary: 'fine',
    passed: true,
    verdict: 'APPROVE',
    findings: [],
    files_reviewed: 1,
  });
  const scene = await start({
    ...only({ flow: asking('pr-review') }),
    [`${SKILLS}/pr-review/SKILL.md`]: skillMd('pr-review', 'outcome: review_verdict\n'),
    [`${SKILLS}/pr-review/prompts/ask.md`]: approving,
  });
  const { number, headSha } = await scene.open({ files: { 'src/bad.js': `eval(location.hash);\n` } });
  expect(said(scene, number).join()).toMatch(/must be fixed/);
  expect(scene.check(headSha, 'base configuration')?.summary).toContain('"pr-review" is built in');
});

test('a skill that needs more trust than the run has is not run', { tags: 'slow' }, async () => {
  const scene = await start({
    ...only({ flow: asking('naming') }),
    ...skill('naming', gate(true, 'good names')),
    [`${SKILLS}/naming/SKILL.md`]: skillMd('naming', 'outcome: gate_verdict\ntrust: privileged\n'),
  });
  const { number, headSha } = await scene.open();
  expect(scene.verdicts(headSha)).toEqual({ 'countersign / flow': 'failure' });
  expect(scene.check(headSha, 'flow')?.summary).toContain('privileged');
  expect(said(scene, number)).toEqual([]);
});

eachFirstQuick([
  [true, 'success'],
  [false, 'failure'],
])('a gate asks a package, and with passed: %s the check ends in %s', async (passed, verdict) => {
  const gated = asking('naming').replace(
    'skill: naming',
    'skill: naming, gates: { pre: [{ id: calm, skill: other }] }',
  );
  const scene = await start({
    ...only({ flow: gated }),
    ...skill('naming', gate(true, 'good names')),
    ...skill('other', gate(passed, 'other said so')),
  });
  const { headSha } = await scene.open();
  expect(scene.verdicts(headSha)).toEqual({ 'countersign / flow': verdict });
  if (!passed) expect(scene.check(headSha, 'flow')?.summary).toContain('other said so');
});

test('a gate cannot ask a package without an outcome', { tags: 'slow' }, async () => {
  const gated = asking('naming').replace(
    'skill: naming',
    'skill: naming, gates: { pre: [{ id: calm, skill: other }] }',
  );
  const scene = await start({
    ...only({ flow: gated }),
    ...skill('naming', gate(true, 'x')),
    [`${SKILLS}/other/SKILL.md`]: skillMd('other', ''),
  });
  const { headSha } = await scene.open();
  expect(scene.check(headSha, 'base configuration')?.summary).toContain(
    'the skill "other" has no outcome in its SKILL.md, so it can decide nothing',
  );
});

test('a repository’s package does not replace the one that its organisation’s gate asks', {
  tags: 'slow',
}, async () => {
  const scene = await start({
    ...only({ flow: asking('naming') }),
    ...skill('naming', gate(true, 'good names')),
    ...skill('other', gate(true, 'all is well')),
  });
  organisation(scene, {
    ...skill('other', gate(false, 'the organisation objects'), 'countersign/skills'),
    '.github/countersign.yml': 'gates: [{ uses: "*", pre: [{ id: calm, skill: other }] }]\n',
  });
  const { headSha } = await scene.open();
  expect(scene.verdicts(headSha)).toEqual({ 'countersign / flow': 'failure' });
  expect(scene.check(headSha, 'flow')?.summary).toContain('the organisation objects');
});

test('a skill of a kind that cannot run here fails its step with that sentence', {
  tags: 'slow',
}, async () => {
  const scene = await start({
    ...only({ flow: asking('naming') }),
    [`${SKILLS}/naming/SKILL.md`]: skillMd('naming'),
    [`${SKILLS}/naming/code/a.py`]: 'submit(1)\n',
  });
  const { headSha } = await scene.open();
  expect(scene.verdicts(headSha)).toEqual({ 'countersign / flow': 'failure' });
  expect(scene.check(headSha, 'flow')?.summary).toContain(
    'its code/a.py is of the kind code\\_template, and only prompt\\_template can be',
  );
});

eachFirstQuick([
  ['an invalid outcome', '{"summary": "hi", "passed": true}', 'what it gave back is no gate'],
  [
    'a verdict that contradicts itself',
    gate(true, 'x').replace('"gate_passed":true', '"gate_passed":false'),
    'contradicts itself',
  ],
  ['a failure', 'fail: the model said nothing', 'the model said nothing'],
])('%s is no verdict, and no later step runs', async (_, answer, message) => {
  const scene = await start({ ...only({ flow: asking('naming') }), ...skill('naming', answer) });
  const { number, headSha } = await scene.open();
  expect(scene.verdicts(headSha)).toEqual({ 'countersign / flow': 'failure' });
  expect(scene.check(headSha, 'flow')?.summary).toContain(message);
  expect(said(scene, number)).toEqual([]);
});

test('a pull request that changes a skill gets all errors of the package', { tags: 'slow' }, async () => {
  const scene = await start({ [SETTINGS]: 'chains: []\n', ...skill('naming', gate(true, 'x')) });
  const { headSha } = await scene.open({
    files: { [`${SKILLS}/naming/prompts/ask.md`]: null, [`${SKILLS}/naming/modules/m.json`]: '{' },
  });
  const check = scene.check(headSha, 'configuration');
  expect(check?.conclusion).toBe('failure');
  expect(check?.summary).toContain('naming/modules/m.json:1:1');
  expect(check?.summary).toContain('`countersign skill lint`');
});

test('a chain can name a skill of the same pull request, and a built-in name is refused', {
  tags: 'slow',
}, async () => {
  // On the base branch it is for reading only; the pull request gives it an outcome.
  const forReading = { [`${SKILLS}/naming/SKILL.md`]: skillMd('naming', '') };
  const scene = await start({ [SETTINGS]: 'chains: []\n', ...forReading });
  const files = { ...skill('naming', gate(true, 'x')), [`${CHAINS}/flow.yaml`]: asking('naming') };
  const sound = await scene.open({ files });
  expect(scene.check(sound.headSha, 'configuration')?.summary).toContain(`\`${SKILLS}/naming\``);
  expect(scene.verdicts(sound.headSha)).toEqual({ 'countersign / configuration': 'success' });
  const taken = await scene.open({ branch: 'second', files: skill('ci', gate(true, 'x')) });
  expect(scene.check(taken.headSha, 'configuration')?.summary).toContain('"ci" is built in');
});

test('a chain of the same pull request is checked against the data that its new skill produces', {
  tags: 'slow',
}, async () => {
  const scene = await start({ [SETTINGS]: 'chains: []\n' });
  const own = `outcome: octo/coverage
outcome_schema: { type: object, properties: { percent: { type: number } } }
`;
  const files = {
    [`${SKILLS}/cover/SKILL.md`]: skillMd('cover', own),
    [`${SKILLS}/cover/prompts/ask.md`]: 'Ask.',
    [`${CHAINS}/flow.yaml`]: `name: flow
trigger: { event: pr.opened }
steps:
  - { id: c, skill: cover }
  - { id: t, action: gh-comment, condition: "{{ steps.c.outcome.data.precent > 80 }}", with: { body: Hi } }
`,
  };
  const { headSha } = await scene.open({ files });
  expect(scene.check(headSha, 'configuration')?.summary).toContain('did you mean "percent"?');
});

test('a pull request cannot add a package that runs a skill which nobody has', async () => {
  const scene = await start({ [SETTINGS]: 'chains: []\n' });
  const using = skillMd('naming', 'outcome: gate_verdict\nuses: imapct-report\n');
  const { headSha } = await scene.open({
    files: { [`${SKILLS}/naming/SKILL.md`]: using, [`${SKILLS}/naming/prompts/ask.md`]: 'Ask.' },
  });
  const check = scene.check(headSha, 'configuration');
  expect(check?.conclusion).toBe('failure');
  expect(check?.summary).toContain('there is no skill "imapct-report" that a program can run');
});
