// @module-tag slow
import { afterAll, beforeAll, expect, test } from 'vitest';
import { syncSkills } from '../../src/skills/catalogue/sync/sync.ts';
import type { ArtifactHandler, ArtifactOutput } from '../../src/skills/runtime/handler.ts';
import type { SkillContext } from '../../src/skills/runtime/skill-context.ts';
import { exported, startStubIndex } from '../skills/catalogue/stub-index.ts';
import { REPO } from '../support/harness.ts';
import { only, type Scene, scenes } from './support-scene.ts';

const startScene = scenes();
let web: Awaited<ReturnType<typeof startStubIndex>>;
beforeAll(async () => {
  web = await startStubIndex();
});
afterAll(() => web.stop());

/** Replaces a model: a prompt's text is the summary. */
const echo: ArtifactHandler<SkillContext> = {
  kind: 'prompt_template',
  async execute({ content }): Promise<ArtifactOutput> {
    const gate = { summary: content.trim(), passed: true, gate_passed: true, criteria: [] };
    return { kind: 'done', value: gate, log: '' };
  },
};

const FLOW = `
name: flow
trigger: { event: pr.opened }
steps:
  - { id: ask, skill: naming }
  - { action: gh-comment, with: { body: "said: {{ steps.ask.outcome.summary }}" } }
`;

const said = ({ github }: Scene, number: number) =>
  github.comments(REPO, number).flatMap(({ body }) => /said: (.*)/.exec(body)?.[1] ?? []);

const sync = ({ app, clock }: Scene, version: string, prompt: string) =>
  syncSkills(
    new URL(web.publish('all', [['naming', version, exported('naming', version, prompt)]])),
    { storage: app.storage, clock, reserved: [] },
    { force: false, prune: false, signal: new AbortController().signal },
  );

test('an index’s skill is available to chains from their next event, and its next version replaces it, also without the index', async () => {
  const scene = await startScene(only({ flow: FLOW }), { artifactHandlers: [echo] });
  const before = await scene.open();
  expect(scene.verdicts(before.headSha)).toEqual({ 'countersign / base configuration': 'neutral' });

  await sync(scene, '1.0.0', 'of the index');
  const second = await scene.open({ branch: 'second' });
  expect(said(scene, second.number)).toEqual(['of the index']);

  await sync(scene, '1.1.0', 'of its next version');
  await web.stop();
  const third = await scene.open({ branch: 'third' });
  expect(said(scene, third.number)).toEqual(['of its next version']);
  web = await startStubIndex();
});

test('chains keep running the repository’s own skill, whatever an index lists', async () => {
  const own = '.github/countersign/skills/naming';
  const scene = await startScene(
    {
      ...only({ flow: FLOW }),
      [`${own}/SKILL.md`]: '---\nname: naming\ndescription: Ours.\noutcome: gate_verdict\n---\n',
      [`${own}/prompts/ask.md`]: 'our own',
    },
    { artifactHandlers: [echo] },
  );
  await sync(scene, '9.0.0', 'of the index');
  const { number } = await scene.open();
  expect(said(scene, number)).toEqual(['our own']);
});
