import { createServer, type IncomingHttpHeaders } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterEach, beforeEach, expect, test } from 'vitest';
import type { ReviewVerdict } from '../../src/domain/outcome/review-verdict.ts';
import { REPO } from '../support/harness.ts';
import { zip } from '../support/zip.ts';
import { CHAINS, type Scene, SETTINGS, scenes, UPDATES_SHOWN_MS } from './support-scene.ts';

const startScene = scenes();
const OWN = '.github/countersign/skills/ci-report';

/** Another host, which keeps the artifacts of workflows. */
interface Store {
  url: string;
  asked: IncomingHttpHeaders[];
  archive: Buffer;
  status: number;
  stop(): Promise<void>;
}
let store: Store;

beforeEach(async () => {
  const server = createServer(({ headers, url }, response) => {
    store.asked.push(headers);
    response.writeHead(url === '/again' ? 200 : store.status, { location: '/again' }).end(store.archive);
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  store = {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/archive?sig=only-for-you`,
    asked: [],
    archive: Buffer.alloc(0),
    status: 200,
    stop: () => new Promise((resolve) => server.close(() => resolve())),
  };
});
afterEach(() => store.stop());

const FILES = {
  [SETTINGS]: 'chains: [flow]\n',
  [`${CHAINS}/flow.yaml`]:
    'name: flow\ntrigger: { event: pr.opened }\nsteps:\n  - { id: report, skill: ci-report }\n',
  [`${OWN}/SKILL.md`]: '---\nname: ci-report\ndescription: Reads a report.\noutcome: review_verdict\n---\n',
  [`${OWN}/analyzers/codeql.yml`]: 'analyzer: sarif\nartifact: report\n',
  'src/a.ts': 'one\ntwo\nthree\n',
};

function packed(...results: [uri: string, line: number][]): Buffer {
  const listed = results.map(([uri, startLine]) => ({
    ruleId: 'sql',
    level: 'error',
    message: { text: 'It is injected' },
    locations: [{ physicalLocation: { artifactLocation: { uri }, region: { startLine } } }],
  }));
  const report = { version: '2.1.0', runs: [{ tool: { driver: { name: 'CodeQL' } }, results: listed }] };
  return zip([{ name: 'out/result.sarif', content: JSON.stringify(report) }]);
}

const leave = ({ github }: Scene, headSha: string, more: object = {}) =>
  github.leaveArtifact(REPO, { name: 'report', headSha, archiveUrl: store.url, ...more });

async function ciEnds(scene: Scene, headSha: string): Promise<void> {
  await scene.github.reportCheck(REPO, headSha, { name: 'test', status: 'completed', conclusion: 'success' });
  await scene.advance(UPDATES_SHOWN_MS);
}

const opened = (scene: Scene) => scene.open({ files: { 'src/a.ts': 'one\ntwo changed\nthree\n' } });

async function verdict(scene: Scene): Promise<ReviewVerdict | undefined> {
  const [run] = await scene.runs('flow');
  const state = await scene.app.storage.read.runs.load(run?.id ?? '');
  const outcome = state?.invocations[0]?.outcome;
  return outcome?.outcome_kind === 'review_verdict' ? outcome : undefined;
}

const why = (scene: Scene, sha: string) => scene.check(sha, 'flow')?.title;

test('a report from CI becomes findings on changed lines, and the token goes to no other host', {
  tags: 'slow',
}, async () => {
  const scene = await startScene(FILES);
  const { headSha } = await opened(scene);
  expect((await scene.runs('flow'))[0]?.status).toBe('waiting_ci');

  store.archive = packed(['src/a.ts', 2], ['src/a.ts', 3], ['src/other.ts', 1], ['../a.ts', 1]);
  leave(scene, 'f'.repeat(40));
  leave(scene, headSha);
  await ciEnds(scene, headSha);
  const came = await verdict(scene);
  expect(came).toMatchObject({
    verdict: 'REQUEST_CHANGES',
    findings: [
      {
        severity: 'high',
        rule: 'codeql/sql',
        file: 'src/a.ts',
        line: 2,
        description: 'A tool of the repository’s CI says: It is injected.',
      },
    ],
    left_out: [
      { path: '(the report)', reason: expect.stringContaining('1 of its results cannot be placed') },
    ],
  });
  expect(came?.analyzers).toContainEqual(expect.objectContaining({ name: 'codeql', version: 'of CodeQL' }));
  expect(store.asked).toHaveLength(1);
  expect(store.asked[0]).not.toHaveProperty('authorization');
});

test('a report with blocking results at an unknown place is no verdict', { tags: 'slow' }, async () => {
  const scene = await startScene(FILES);
  const { headSha } = await opened(scene);
  store.archive = packed(['/srv/build/app/src/a.ts', 2]);
  leave(scene, headSha);
  await ciEnds(scene, headSha);
  expect(await verdict(scene)).toMatchObject({ verdict: null, passed: null, findings: [] });
  expect(scene.check(headSha, 'flow')?.conclusion).not.toBe('success');
  expect((await verdict(scene))?.summary).toContain(
    '1 of its results cannot be placed in the repository, and 1 of them would block the merge',
  );
});

test('a report without results is an approval of this tool only', { tags: 'slow' }, async () => {
  const scene = await startScene(FILES);
  const { headSha } = await opened(scene);
  store.archive = packed();
  leave(scene, headSha);
  await ciEnds(scene, headSha);
  expect(await verdict(scene)).toMatchObject({ verdict: 'APPROVE', findings: [] });
});

test('a report that is missing when CI is done fails the step, and one of another head does not count', {
  tags: 'slow',
}, async () => {
  const scene = await startScene(FILES);
  const { headSha } = await opened(scene);
  store.archive = packed();
  leave(scene, 'f'.repeat(40));
  leave(scene, headSha, { name: 'report2' });
  await ciEnds(scene, headSha);
  expect(await verdict(scene)).toBeUndefined();
  expect(why(scene, headSha)).toContain('has left an artifact "report"');
  expect(store.asked).toEqual([]);
});

test('without the permission the step fails and names it', async () => {
  const scene = await startScene(FILES);
  scene.github.fail(({ path }) => path.includes('/actions/artifacts'), {
    status: 403,
    body: { message: 'Resource not accessible by integration' },
  });
  const { headSha } = await opened(scene);
  await scene.advance(UPDATES_SHOWN_MS);
  expect(await verdict(scene)).toBeUndefined();
  expect(why(scene, headSha)).toContain('actions: read');
});

test('a report that has expired fails the step with the reason', { tags: 'slow' }, async () => {
  const scene = await startScene(FILES);
  const { headSha } = await opened(scene);
  leave(scene, headSha, { expired: true });
  await ciEnds(scene, headSha);
  expect(await verdict(scene)).toBeUndefined();
  expect(why(scene, headSha)).toContain('has expired');
});

test('a redirecting store is not followed, and its address is not shown', { tags: 'slow' }, async () => {
  const logged: unknown[] = [];
  const log = {
    debug() {},
    info() {},
    warn: (...said: unknown[]) => logged.push(said),
    error: (...said: unknown[]) => logged.push(said),
  };
  const scene = await startScene(FILES, { log });
  store.status = 302;
  store.archive = packed();
  const { headSha } = await opened(scene);
  leave(scene, headSha);
  await ciEnds(scene, headSha);
  expect(store.asked.length).toBeGreaterThan(0);
  expect(await verdict(scene)).toBeUndefined();
  const [run] = await scene.runs('flow');
  expect(JSON.stringify([logged, run, scene.check(headSha, 'flow')])).not.toContain('only-for-you');
});

test('a fix in a report becomes a suggestion that replaces exactly the lines of its finding', {
  tags: 'slow',
}, async () => {
  const flow =
    'name: flow\ntrigger: { event: pr.opened }\nsteps:\n  - { id: report, skill: ci-report }\n  - { action: gh-review, with: { outcome: "{{ steps.report.outcome }}" } }\n';
  const scene = await startScene({ ...FILES, [`${CHAINS}/flow.yaml`]: flow });
  const { number, headSha } = await opened(scene);
  const at = (line: number) => ({
    physicalLocation: { artifactLocation: { uri: 'src/a.ts' }, region: { startLine: line } },
  });
  const fixed = (uri: string, startLine: number, text: string) => ({
    artifactChanges: [
      {
        artifactLocation: { uri },
        replacements: [
          { deletedRegion: { startLine, startColumn: 1, endColumn: 4 }, insertedContent: { text } },
        ],
      },
    ],
  });
  const result = (ruleId: string, fix: object) => ({
    ruleId,
    message: { text: 'It is wrong' },
    locations: [at(2)],
    fixes: [fix],
  });
  const results = [
    result('right', fixed('src/a.ts', 2, '2')),
    result('other-file', fixed('src/b.ts', 2, '2')),
    result('other-line', fixed('src/a.ts', 3, '3')),
    result('broken', { artifactChanges: 'all' }),
    result('hidden', fixed('src/a.ts', 2, '2\u202E')),
  ];
  const report = { version: '2.1.0', runs: [{ tool: { driver: { name: 'CodeQL' } }, results }] };
  store.archive = zip([{ name: 'out/result.sarif', content: JSON.stringify(report) }]);
  leave(scene, headSha);
  await ciEnds(scene, headSha);
  const [review] = scene.github.reviews(REPO, number);
  const suggested = review?.comments.map(({ line, body }) => [
    line,
    /codeql\/([\w-]+)/.exec(body)?.[1],
    /```suggestion\n(.*?)\n```/s.exec(body)?.[1],
  ]);
  expect(suggested?.sort()).toEqual([
    [2, 'broken', undefined],
    [2, 'hidden', undefined],
    [2, 'other-file', undefined],
    [2, 'other-line', undefined],
    [2, 'right', '2 changed'],
  ]);
});
