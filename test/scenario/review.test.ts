import { expect, test } from 'vitest';
import { REPO } from '../support/harness.ts';
import {
  A_RECHECK,
  approvalOf,
  approvals,
  checkLines,
  countersign,
  open,
  ownCheck,
  pushAgain,
  readable,
  reportCi,
  start,
} from './support.ts';

const SWALLOWED = `export async function send(mail: () => Promise<void>): Promise<void> {
  try {
    await mail();
  } catch {}
}
`;

test('suggestions about changed lines appear in the diff and in the approval comment, and block nothing', {
  tags: 'slow',
}, async () => {
  const harness = await start({ files: { 'src/old.ts': SWALLOWED } });
  const files = { 'src/send.ts': SWALLOWED, 'src/old.ts': `// Sends one mail.\n${SWALLOWED}` };
  const { number, headSha } = await open(harness, { files });
  await reportCi(harness, headSha, 'success');
  await harness.advance(A_RECHECK);

  expect(
    ownCheck(harness, headSha).annotations.map(
      ({ path, startLine, level }) => `${path}:${startLine} ${level}`,
    ),
  ).toEqual(['src/send.ts:4 warning']);
  const { body } = approvalOf(harness, number);
  const why = body.indexOf('#### What was checked');
  expect(body.slice(why, body.indexOf('#### How to answer'))).toMatchInlineSnapshot(`
    "#### What was checked

    - ✅ **Review (analyzers only, no language model):** approved, with suggestions: 1 medium finding in 2 files, and nothing that stands in the way of merging
    - ✅ **CI:** the only check passed
    - ✅ **Artifacts:** 3 of 3 expected artifacts are there
    - ⚠️ **Risks:** one is known
      - 🟡 \`src/send.ts:4\` An error is caught and thrown away, so nobody will know that it happened.

    #### What is missing

    - ⏳ nobody has countersigned yet

    "
  `);
  await countersign(harness, number);
  expect(harness.github.merges).toHaveLength(1);
});

test('a name that suggests built or generated code exempts it from nothing, and the approval comment names what no analyzer knows', {
  tags: 'slow',
}, async () => {
  const harness = await start();
  const evil = await open(harness, {
    branch: 'evil',
    files: {
      'dist/index.js': 'export const run = (code) => eval(code);\n',
      'src/handler.gen.ts': 'export const run = (code: string) => eval(code);\n',
    },
  });
  const other = await open(harness, {
    files: {
      'src/greet.ts': 'export const greet = (name: string) => name;\n',
      'main.rb': 'puts 1\n',
      'dist/app.min.js': `export const a = ${JSON.stringify('a'.repeat(1_000))};\n`,
      'lib/native.so': 'x',
    },
  });
  await reportCi(harness, other.headSha, 'success');
  await harness.advance(A_RECHECK);

  expect(checkLines(harness, evil.headSha)).toEqual(['failure: Changes requested: 2 high']);
  expect(approvalOf(harness, other.number).body).toContain(
    '- ⚠️ **Review (analyzers only, no language model):** approved: no findings in 3 files, 2 of them searched for secrets only and 1 more not read at all\n',
  );
});

test('sixty findings are all annotated, fifty per request, and none twice over the life of the run', {
  tags: 'slow',
}, async () => {
  const harness = await start();
  const { github } = harness;
  const batches: number[] = [];
  github.onRequest(({ path, body }) => {
    const { annotations } = (body as { output?: { annotations?: unknown[] } } | undefined)?.output ?? {};
    if (path.includes('/check-runs') && annotations?.length) batches.push(annotations.length);
  });
  const { number, headSha } = await open(harness, {
    files: {
      'src/send.ts': Array.from({ length: 60 }, (_, nth) => SWALLOWED.replace('send', `send${nth}`)).join(''),
    },
  });
  await reportCi(harness, headSha, 'success');
  await harness.advance(A_RECHECK);
  await countersign(harness, number);

  expect(batches).toEqual([50, 10]);
  const lines = ownCheck(harness, headSha).annotations.map(({ startLine }) => startLine);
  expect(new Set(lines).size).toBe(60);
  expect(lines).toHaveLength(60);
});

test('a fix of the findings is approved in the second round and merged', async () => {
  const harness = await start();
  const { github } = harness;
  const { number, headSha: first } = await open(harness, {
    files: { 'src/greet.ts': 'export const run = (code: string) => eval(code);\n' },
  });
  await harness.advance(A_RECHECK);
  expect(checkLines(harness, first)).toEqual(['failure: Changes requested: 1 high']);
  const before = github.comments(REPO, number).length;

  const second = await pushAgain(harness);
  await reportCi(harness, second, 'success');
  await harness.advance(A_RECHECK);
  expect(readable(harness, ownCheck(harness, second).summary ?? '', { second })).toContain(
    'Round 2: 1 file reviewed at `<second>`.',
  );
  expect(checkLines(harness, first)).toEqual(['failure: Changes requested: 1 high']);
  expect(approvals(harness, number)).toHaveLength(1);
  expect(github.comments(REPO, number)).toHaveLength(before + 1);
  await countersign(harness, number);
  expect(github.merges).toMatchObject([{ headSha: second }]);
});

test('a file too large to be read makes the review incomplete, which is not an approval', {
  tags: 'slow',
}, async () => {
  const harness = await start();
  const { number, headSha } = await open(harness, {
    files: { 'src/big.ts': '// padding\n'.repeat(120_000) },
  });
  await reportCi(harness, headSha, 'success');
  await harness.advance(A_RECHECK);
  expect(checkLines(harness, headSha)).toMatchInlineSnapshot(`
    [
      "failure: Review incomplete: 1 file was not reviewed",
    ]
  `);
  expect(ownCheck(harness, headSha).summary).toMatch(/src\/big\.ts.*larger than 1 MB/);
  expect(approvals(harness, number)).toEqual([]);
});
