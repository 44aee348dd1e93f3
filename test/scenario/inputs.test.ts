import { expect, test } from 'vitest';
import { chainComments } from './support-chains.ts';
import { only, type Scene, scenes } from './support-scene.ts';

/** A chain with typed inputs, fired by a comment. */
const start = scenes();

const DEPLOY = `
name: deploy
trigger: { event: manual.fired }
inputs:
  environment: { required: true, choices: [staging, production] }
  replicas: { type: number, default: 2 }
  dry_run: { type: boolean, default: false }
  note: {}
steps:
  - action: gh-comment
    condition: "{{ not inputs.dry_run }}"
    with: { body: "To {{ inputs.environment }}, times {{ inputs.replicas * 2 }}: {{ inputs.note }}" }
`;

async function firedWith(scene: Scene, inputs: string): Promise<{ replies: string[]; comments: string[] }> {
  const { number } = await scene.open();
  const asked = await scene.say(number, 'mia', `/countersign fire deploy ${inputs}`);
  await scene.advance(10_000);
  return { replies: scene.replies(number, asked), comments: chainComments(scene, number) };
}

test('expressions read the inputs of a fired chain by their types, and the defaults of the others', {
  tags: 'slow',
}, async () => {
  const scene = await start(only({ deploy: DEPLOY }));
  expect(await firedWith(scene, 'environment=staging note="two words"')).toEqual({
    replies: ['Fired `deploy`.'],
    comments: ['To staging, times 4: two words'],
  });
});

test('a wrong input starts no run, and the reply lists all that is wrong and what is allowed', async () => {
  const scene = await start(only({ deploy: DEPLOY }));
  const { replies } = await firedWith(scene, 'environment=prod replica=3 dry_run=yes');
  expect(replies).toEqual([
    '`deploy` is not fired: there is no input "replica": did you mean "replicas"?; ' +
      '"environment" is one of staging, production, and not "prod"; ' +
      '"dry\\_run" is true or false, and not "yes"; ' +
      'its inputs are environment (one of staging, production; required), replicas (a number; 2 if left out), ' +
      'dry\\_run (true or false; false if left out), note (text).',
  ]);
  expect(await scene.runs('deploy')).toEqual([]);
});

test('an input is plain text in the comment of a chain, whatever it says', { tags: 'slow' }, async () => {
  const scene = await start(only({ deploy: DEPLOY }));
  const { comments } = await firedWith(
    scene,
    'environment=staging note="@octo/owners **#1** ::error::x <!-- {{ repo.name }} -->"',
  );
  expect(comments).toEqual([
    'To staging, times 4: @&#8203;octo/owners \\*\\*#&#8203;1\\*\\* ::&#8203;error::x &lt;!-- {{ repo.name }} --&gt;',
  ]);
});

test('a run that begins again has the inputs that it had', { tags: 'slow' }, async () => {
  const scene = await start(only({ deploy: `${DEPLOY}  - skill: ci\n` }));
  const { number } = await scene.open();
  await scene.say(number, 'mia', '/countersign fire deploy environment=production replicas=7');
  await scene.say(number, 'mia', '/countersign cancel');
  await scene.say(number, 'mia', '/countersign rerun');
  const runs = await scene.runs('deploy');
  expect(runs.map(({ facts }) => facts.inputs)).toEqual(
    [1, 2].map(() => ({ environment: 'production', replicas: 7, dry_run: false })),
  );
});
