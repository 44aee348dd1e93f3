import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { createTools } from '../../../src/cli-tools.ts';
import { openStorage } from '../../../src/composition/storage.ts';
import { systemClock } from '../../../src/core/clock.ts';
import { runCli } from '../../../src/entrypoints/cli/command-line.ts';
import { useStubModel } from '../../support/model/questions.ts';
import { temporaryFolders } from '../../support/temp.ts';

const t = useStubModel();
const newFolder = temporaryFolders();
const SENTENCE = 'Judges whether the names in a change say what the things are.';
const DRAFT = {
  description: 'Judges names: use it when code is added.',
  tags: ['names'],
  trigger_phrases: ['check the names'],
  body: 'It looks at every name that the change adds.',
  prompt: 'Pass unless a name says something untrue.',
  cases: [true, false].map((passes) => ({
    name: passes ? 'a true name passes' : 'a false name fails',
    title: 'Add a sum',
    path: 'src/sum.js',
    before: null,
    after: `export const sum = (a, b) => a ${passes ? '+' : '-'} b;`,
    passes,
  })),
};
const answer = (value: object) => ({ text: JSON.stringify(value) });
const isDrafting = (prompt: string) => prompt.startsWith('Draft a skill');
const judge = (passed: boolean) => answer({ summary: 'Looked.', passed, criteria: [] });

async function draft(...args: string[]) {
  const cwd = newFolder();
  const database = `sqlite:${join(cwd, 'app.db')}`;
  await (await openStorage(database, { clock: systemClock })).close();
  const said = { err: '' };
  const code = await runCli(['skill', 'new', 'naming', '--draft', ...args], {
    cwd,
    clock: systemClock,
    tools: createTools({
      DATABASE_URL: database,
      COUNTERSIGN_MODEL: 'openai-compatible/stub',
      COUNTERSIGN_MODEL_BASE_URL: `${t.stub.url}/v1`,
    }),
    out: () => {},
    err: (text) => {
      said.err += text;
    },
  });
  const folder = join(cwd, '.github/countersign/skills/naming');
  const file = (path: string) => readFileSync(join(folder, path), 'utf8');
  return { code, ...said, file, isThere: existsSync(folder) };
}

test('the model drafts a skill that passes its own cases, with its answers recorded in them', {
  tags: 'slow',
}, async () => {
  t.stub.answers(({ body }) => {
    const prompt = body.messages?.at(-1)?.content ?? '';
    return isDrafting(prompt) ? answer(DRAFT) : judge(prompt.includes('a + b'));
  });
  const { code, file } = await draft('--description', SENTENCE);
  expect(code).toBe(0);
  expect(t.stub.asked).toHaveLength(3);
  expect(t.stub.asked[0]?.body.messages?.at(-1)?.content).toContain(SENTENCE);
  expect(file('SKILL.md')).toContain('trigger_phrases: ["check the names"]');
  expect(file('prompts/naming.md')).toMatch(/^Pass unless a name[\s\S]*\{\{ diff \}\}/);
  expect(file('tests/naming.yml').match(/summary: Looked\./g)).toHaveLength(2);
});

test('what is wrong with a draft goes back to the model until its cases pass', { tags: 'slow' }, async () => {
  const drafts: string[] = [];
  t.stub.answers(({ body }) => {
    const prompt = body.messages?.at(-1)?.content ?? '';
    if (!isDrafting(prompt)) return judge(!prompt.includes('Be strict.') || prompt.includes('a + b'));
    drafts.push(prompt);
    return answer(drafts.length === 1 ? DRAFT : { ...DRAFT, prompt: 'Be strict.' });
  });
  const { code, file } = await draft('--description', SENTENCE);
  expect({ code, drafts: drafts.length }).toEqual({ code: 0, drafts: 2 });
  expect(drafts[1]).toContain('a false name fails');
  expect(drafts[1]).toContain('passed: expected false, and it was true');
  expect(file('prompts/naming.md')).toContain('Be strict.');
});

test('a draft whose cases never pass is written after three rounds, and the command fails', {
  tags: 'slow',
}, async () => {
  t.stub.answers(({ body }) =>
    isDrafting(body.messages?.at(-1)?.content ?? '') ? answer(DRAFT) : judge(true),
  );
  const ended = await draft('--description', SENTENCE);
  expect(ended).toMatchObject({ code: 1, isThere: true });
  // Three drafts with two cases each.
  expect(t.stub.asked).toHaveLength(9);
});

test('a draft with template tags, or without any words of a skill, is rejected and nothing is written', {
  tags: 'slow',
}, async () => {
  t.stub.answers({ text: JSON.stringify({ ...DRAFT, prompt: 'See {{ inputs }}.' }) });
  const ended = await draft('--description', SENTENCE);
  expect(ended).toMatchObject({ code: 1, isThere: false });
  expect(ended.err).toContain('Nothing was drafted and nothing written');
});

test('a draft needs a sentence', async () => {
  const ended = await draft();
  expect(ended).toMatchObject({ code: 2, isThere: false });
  expect(ended.err).toContain('--draft needs a --description');
  expect(t.stub.asked).toEqual([]);
});
