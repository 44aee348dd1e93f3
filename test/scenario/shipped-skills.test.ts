import { expect, test } from 'vitest';
import type { ReviewVerdict } from '../../src/domain/outcome/review-verdict.ts';
import { CHAINS, only, type Scene, SETTINGS, scenes } from './support-scene.ts';

const startScene = scenes();

const reviewing = (...skills: string[]) =>
  ['name: flow', 'trigger: { event: pr.opened }', 'steps:']
    .concat(skills.map((skill) => `  - { id: ${skill}, skill: ${skill}, depends_on: [] }`))
    .join('\n');

/** The outcome of each step of the newest run, by its id. */
async function outcomes(scene: Scene): Promise<Record<string, ReviewVerdict>> {
  const [run] = await scene.runs('flow');
  const state = await scene.app.storage.read.runs.load(run?.id ?? '');
  return Object.fromEntries(
    (state?.invocations ?? []).flatMap(({ stepId, outcome }) =>
      outcome?.outcome_kind === 'review_verdict' ? [[stepId, outcome]] : [],
    ),
  );
}

const findings = ({ findings }: ReviewVerdict) =>
  findings.map(({ severity, rule, file, line }) => `${severity} ${rule} ${file}:${line}`);

const LOCK = (integrity: string) =>
  JSON.stringify({ packages: { '': {}, 'node_modules/left': { version: '1.0.0', integrity } } }, null, 1);

test('each shipped skill checks its own files of a pull request, and compares them with the base branch', {
  tags: 'slow',
}, async () => {
  const names = ['migration-review', 'dependency-review', 'workflow-review', 'docs-review'];
  const scene = await startScene({
    ...only({ flow: reviewing(...names) }),
    'package-lock.json': LOCK('sha512-a'),
  });
  const { headSha } = await scene.open({
    files: {
      'db/migrations/1.sql': 'DROP TABLE users;\n',
      'reports/1.sql': 'DROP TABLE scratch;\n',
      'package-lock.json': LOCK('sha512-b'),
      'docs/a.md': '[app](../README.md)\n[gone](gone.md)\n',
    },
  });
  const came = await outcomes(scene);
  expect(Object.fromEntries(Object.entries(came).map(([step, one]) => [step, findings(one)]))).toEqual({
    'migration-review': ['high sql/drop-table db/migrations/1.sql:1'],
    'dependency-review': ['critical npm/integrity-changed package-lock.json:6'],
    'workflow-review': [],
    'docs-review': ['medium links/broken-link docs/a.md:2'],
  });
  expect(
    Object.values(came).map(({ verdict, files_reviewed, head_sha }) => [verdict, files_reviewed, head_sha]),
  ).toEqual([
    ['REQUEST_CHANGES', 1, headSha],
    ['REQUEST_CHANGES', 1, headSha],
    ['APPROVE', 0, headSha],
    ['APPROVE_WITH_SUGGESTIONS', 1, headSha],
  ]);
});

const OWN = '.github/countersign/skills/own-review';
const own = (analyzers: Record<string, string>, outcome = 'review_verdict') => ({
  [SETTINGS]: 'chains: [flow]\n',
  [`${CHAINS}/flow.yaml`]: reviewing('own-review'),
  [`${OWN}/SKILL.md`]: `---\nname: own-review\ndescription: Reviews.\noutcome: ${outcome}\n---\n`,
  ...Object.fromEntries(
    Object.entries(analyzers).map(([name, text]) => [`${OWN}/analyzers/${name}.yml`, text]),
  ),
});

const NO_MOMENT = `analyzer: ast-grep
paths: src/**
others: off
own_rules:
  no-moment:
    severity: high
    category: style
    description: It is not used here.
    suggestion: Use another.
    languages: typescript
    match: { pattern: "import $_ from 'moment'" }
`;

test('a repository’s own package runs all of its analyzers, with the base branch’s rules on changed lines', {
  tags: 'slow',
}, async () => {
  const links = 'analyzer: doc-links\nrules: { broken-link: off }\n';
  const scene = await startScene({
    ...own({ style: NO_MOMENT, links }),
    'src/old.ts': "import moment from 'moment';\nexport const a = 1;\n",
  });
  await scene.open({
    files: {
      [`${OWN}/analyzers/style.yml`]: NO_MOMENT.replace('high', 'info'),
      'src/old.ts': "import moment from 'moment';\nexport const a = 2;\n",
      'src/new.ts': "import moment from 'moment';\neval(a);\n",
      'docs/a.md': '# A\n[gone](gone.md) [b](#b)\n',
    },
  });
  const came = (await outcomes(scene))['own-review'];
  expect(came && findings(came)).toEqual([
    'high style/no-moment src/new.ts:1',
    'low links/broken-anchor docs/a.md:2',
  ]);
  expect(came?.analyzers.map(({ name, status }) => `${name} ${status}`)).toEqual([
    'links ok',
    'style ok',
    'secrets to hide ok',
  ]);
});

test('an unreadable file that a package is for is no verdict', async () => {
  const scene = await startScene(own({ sql: 'analyzer: sql-migrations\n' }));
  await scene.open({ files: { 'db/migrations/1.sql': 'SELECT 1;\0\n' } });
  const came = (await outcomes(scene))['own-review'];
  expect(came).toMatchObject({ verdict: null, passed: null, left_out: [{ path: 'db/migrations/1.sql' }] });
});

test('a match that ast-grep does not accept is no verdict', { tags: 'slow' }, async () => {
  const scene = await startScene(own({ style: NO_MOMENT.replace(/pattern: .*\}/, 'kind: no_such_kind }') }));
  await scene.open({ files: { 'src/new.ts': 'export const a = 1;\n' } });
  expect((await outcomes(scene))['own-review']).toMatchObject({
    verdict: null,
    analyzers: expect.arrayContaining([expect.objectContaining({ name: 'style', status: 'crashed' })]),
  });
});

test('a package of analyzers that declares another outcome fails its step with the reason', {
  tags: 'slow',
}, async () => {
  const scene = await startScene(own({ links: 'analyzer: doc-links\n' }, 'gate_verdict'));
  const { headSha } = await scene.open();
  expect(scene.check(headSha, 'flow')).toMatchObject({
    conclusion: 'failure',
    title: expect.stringContaining('analyzers produce a review_verdict'),
  });
});

test('a rule that quotes a file does not show a secret in it', { tags: 'slow' }, async () => {
  const token = ['ghp', '0123456789abcdefghijABCDEFGHIJ012345'].join('_');
  const scene = await startScene(own({ links: 'analyzer: doc-links\n' }));
  await scene.open({ files: { 'docs/a.md': `[a](${token}.md)\n` } });
  const came = (await outcomes(scene))['own-review'];
  expect(came?.findings).toHaveLength(1);
  expect(came?.findings[0]?.description).toMatch(/repository does not have \(.*\[redacted/);
  expect(JSON.stringify(came)).not.toContain(token);
});
