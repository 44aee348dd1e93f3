// @module-tag slow
import { randomBytes } from 'node:crypto';
import { afterEach, expect, test } from 'vitest';
import { openBlobs } from '../../src/composition/blobs.ts';
import { Visible } from '../../src/ports/visible.ts';
import { type Harness, startHarness } from '../support/harness.ts';
import { studioFor, textOf } from '../support/studio.ts';

let harness: Harness | undefined;
afterEach(() => harness?.stop());

const SCRIPT = '<script>alert(1)</script>';

/** A reviewed pull request, and a file of its review with this content. */
async function world(name: string, content: string | Uint8Array) {
  harness = await startHarness();
  await harness.github.openPullRequest({
    repo: 'octo/app',
    author: 'ada',
    branch: 'two',
    title: 'Two',
    files: { 'src/two.ts': 'export const two = eval("2");\n' },
  });
  await harness.settle();
  const { read } = harness.app.storage;
  const [review] = await read.artifacts.list({ kind: 'review_verdict', limit: 1 });
  if (!review) throw new Error('there is no review');
  const filePath = `${review.runId}/shown`;
  await openBlobs(harness.config.artifactsUrl).put(filePath, content);
  const file = { ...review, id: 'art_file', kind: 'file', name, content: null, filePath };
  await harness.app.storage.transaction((tx) => tx.artifacts.insert(file));
  return { harness, review, filePath };
}

test('the list of artifacts links reviews that did not pass this week', async () => {
  const { harness, review } = await world('a.txt', 'text');
  const open = await studioFor(harness);
  const list = await open('/artifacts');
  const [link = ''] = /\/artifacts\?[^"]*failed[^"]*/.exec(list.html) ?? [];
  expect(link).toContain('since=7d');
  const failed = await open(link.replaceAll('&amp;', '&'));
  expect(failed.html).toContain(`/artifacts/${review.id}`);
  expect(failed.html).not.toContain('/artifacts/art_file');
});

test('an outcome is shown as its card, and a text as text', async () => {
  const { harness, review } = await world('a.log', `one\n${SCRIPT}\u202e\u001b[31m`);
  const open = await studioFor(harness);
  expect(textOf((await open(`/artifacts/${review.id}`)).html)).toContain('eval');
  const { html } = await open('/artifacts/art_file');
  expect(html).not.toContain(SCRIPT);
  expect(['\u202e', '\u001b'].filter((letter) => html.includes(letter))).toEqual([]);
  expect(html).toContain('&lt;script&gt;');
});

test('only the beginning of a long text is shown, and what is no text is only downloaded', async () => {
  const long = await world('a.log', 'x'.repeat(1_000_000));
  const open = await studioFor(long.harness);
  const page = await open('/artifacts/art_file');
  expect(page.html).toContain('Only the beginning is shown');
  expect(page.html.length).toBeLessThan(250_000);
  await openBlobs(long.harness.config.artifactsUrl).put(long.filePath, new Uint8Array([0, 1, 2]));
  expect((await open('/artifacts/art_file')).html).toContain('only offered for download');
});

test('a Markdown file is shown with its form, and nothing of its own runs or is fetched', async () => {
  const source = `# Report\n\n**Bold** ${SCRIPT} ![pixel](https://evil.example/p.png) [x](javascript:alert(1))\n\n- one\n`;
  const { harness } = await world('report.md', source);
  const { html } = await (await studioFor(harness))('/artifacts/art_file');
  expect(html).toContain('<h2>Report</h2>');
  expect(html).toContain('<strong>Bold</strong>');
  expect(html).toContain('<li><p>one</p>');
  expect(html).not.toMatch(/<script>alert|<img|href="javascript/);
});

test('a JSON file is folded, and a report in SARIF is a table of its findings with links to their lines', async () => {
  const report = {
    version: '2.1.0',
    runs: [
      {
        tool: { driver: { name: 'scan' } },
        results: [
          {
            ruleId: 'no-eval',
            level: 'error',
            message: { text: `Do not ${SCRIPT}` },
            locations: [
              {
                physicalLocation: { artifactLocation: { uri: 'src/two.ts' }, region: { startLine: 1 } },
              },
            ],
          },
        ],
      },
    ],
  };
  const { harness } = await world('report.sarif', JSON.stringify(report));
  const open = await studioFor(harness);
  const { html } = await open('/artifacts/art_file');
  expect(textOf(html)).toContain('The report has 1 finding.');
  expect(html).toMatch(/href="[^"]+\/octo\/app\/blob\/[^"]+\/src\/two.ts\?plain=1#L1"/);
  expect(html).not.toContain(SCRIPT);
  await harness.app.storage.transaction(async (tx) => {
    const file = await tx.artifacts.get('art_file');
    if (file) await tx.artifacts.insert({ ...file, id: 'art_json', name: 'report.json' });
  });
  expect((await open('/artifacts/art_json')).html).toContain('<span class="name">version</span>');
});

test('an image is shown from its bytes, in a sandbox, and nothing else is served as one', async () => {
  const png = Buffer.from(
    'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==',
    'base64',
  );
  const { harness, filePath } = await world('page"><x.png', png);
  const open = await studioFor(harness);
  expect((await open('/artifacts/art_file')).html).toContain(
    '<img class="artifact" src="/artifacts/art_file/image" alt="page&quot;&gt;&lt;x.png">',
  );
  const { headers, body } = await open.raw('/artifacts/art_file/image');
  expect(Object.fromEntries(headers)).toMatchObject({
    'content-type': 'image/png',
    'content-security-policy': "sandbox; default-src 'none'",
    'x-content-type-options': 'nosniff',
  });
  expect(Buffer.from(body).equals(png)).toBe(true);
  const { artifactsUrl } = harness.config;
  await openBlobs(artifactsUrl).put(filePath, `<svg xmlns="http://www.w3.org/2000/svg">${SCRIPT}</svg>`);
  expect((await open('/artifacts/art_file/image')).status).toBe(404);
  await openBlobs(artifactsUrl).put(filePath, Buffer.concat([png, Buffer.alloc(5_000_000)]));
  expect((await open('/artifacts/art_file/image')).status).toBe(404);
  expect((await open('/artifacts/art_file')).html).toContain('only offered for download');
});

test('a download is an attachment in a sandbox, whatever its name says', async () => {
  const bytes = randomBytes(3_000_000);
  const { harness } = await world('../../x"\r\nSet-Cookie: a=b; é.html', bytes);
  const open = await studioFor(harness);
  const { headers, body } = await open.raw('/artifacts/art_file/download');
  expect(Object.fromEntries(headers)).toMatchObject({
    'content-type': 'application/octet-stream',
    'content-disposition': expect.stringMatching(
      /^attachment; filename="[\w.-]+"; filename\*=UTF-8''[\w.%~!-]+$/,
    ),
    'content-security-policy': "sandbox; default-src 'none'",
    'x-content-type-options': 'nosniff',
    'content-length': '3000000',
  });
  expect(headers.get('set-cookie')).toBeNull();
  expect(Buffer.from(body).equals(bytes)).toBe(true);
});

test('a file that is gone says so, and its download is not found', async () => {
  const { harness, filePath } = await world('a.txt', 'text');
  await openBlobs(harness.config.artifactsUrl).delete(filePath);
  const open = await studioFor(harness);
  expect((await open('/artifacts/art_file')).html).toContain('no longer in the store');
  expect((await open('/artifacts/art_file/download')).status).toBe(404);
});

test('an artifact of a repository that somebody cannot see is not found', async () => {
  const { harness, review } = await world('a.txt', 'text');
  const open = await studioFor(harness, { visible: Visible.only([1]) });
  const answers = [
    `/artifacts/${review.id}`,
    ...['', '/image', '/download'].map((end) => `/artifacts/art_file${end}`),
  ];
  expect(await Promise.all(answers.map(async (path) => (await open(path)).status))).toEqual([
    404, 404, 404, 404,
  ]);
  expect((await open('/artifacts')).html).toContain('No artifacts yet');
});
