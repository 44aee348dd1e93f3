import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { DEFAULT_LEVELS, findingsOf } from '../../src/analyzers/sarif/findings.ts';
import { pathOf } from '../../src/analyzers/sarif/path-of.ts';
import { readReport, type SarifPlace } from '../../src/analyzers/sarif/report.ts';
import { rulesOf } from '../../src/analyzers/sarif/rule-of.ts';
import { textsInZip, ZipError } from '../../src/core/zip.ts';
import { ci } from '../../src/skills/builtin/ci/ci.ts';
import { readReports } from '../../src/skills/kinds/analyzer/sarif-reports.ts';
import { withinEffort } from '../support/effort.ts';
import { stepContext } from '../support/step-context.ts';
import { zip } from '../support/zip.ts';

const LIMITS = { maxEntries: 3, maxBytes: 1_000 };
const all = () => true;

describe('an archive', () => {
  test('yields the texts with the requested names, compressed or not', () => {
    const files = [
      { name: 'a.sarif', content: 'one' },
      { name: '../../b.sarif', content: 'zwei ü', stored: true },
      { name: 'c.txt', content: 'x'.repeat(5_000) },
    ];
    const wanted = (name: string) => name.endsWith('.sarif');
    expect(textsInZip(zip(files), wanted, LIMITS)).toEqual([
      { name: 'a.sarif', text: 'one' },
      { name: '../../b.sarif', text: 'zwei ü' },
    ]);
    expect(textsInZip(Buffer.concat([zip([]), Buffer.from('')]), all, LIMITS)).toEqual([]);
  });

  const file = (content: string, stored = false) => ({ name: 'a', content, stored });
  test.each([
    ['a bomb', zip([file('0'.repeat(10_000_000))]), 'hold more than 0.001 MB'],
    [
      'several files that are too large together',
      zip([file('a'.repeat(600)), file('b'.repeat(600))]),
      'hold more',
    ],
    ['a large file that is not compressed', zip([file('a'.repeat(1_001), true)]), 'hold more'],
    ['more files than allowed', zip([1, 2, 3, 4].map(() => file('a'))), 'more than 3 files'],
    ['encryption', zip([file('a')], { flags: 1 }), 'encrypted'],
    ['another method of compression', zip([file('a')], { method: 12 }), 'not read here (12)'],
    ['a size beyond its end', zip([file('a')], { size: 5_000 }), 'ends in the middle'],
    ['an offset beyond its end', zip([file('a')], { offset: 90_000 }), 'damaged'],
    ['an offset to nowhere', zip([file('a')], { offset: 1 }), 'damaged'],
    ['no zip', Buffer.from('hello'), 'no zip archive'],
    ['nothing', Buffer.alloc(0), 'no zip archive'],
  ])('that is %s is refused', (_, bytes, because) => {
    expect(() => textsInZip(bytes, all, LIMITS)).toThrow(ZipError);
    expect(() => textsInZip(bytes, all, LIMITS)).toThrow(because);
  });

  test('of any bytes is read or refused, and yields at most what the limits allow', () => {
    const whole = zip([
      { name: 'a', content: 'some text' },
      { name: 'b', content: 'more', stored: true },
    ]);
    fc.assert(
      fc.property(fc.nat(whole.length - 1), fc.nat(255), fc.nat(whole.length), (at, byte, length) => {
        const broken = Buffer.from(whole.subarray(0, whole.length - (length % 7)));
        broken[at % broken.length] = byte;
        try {
          const texts = textsInZip(broken, all, LIMITS);
          expect(texts.reduce((sum, { text }) => sum + text.length, 0)).toBeLessThanOrEqual(LIMITS.maxBytes);
        } catch (error) {
          expect(error).toBeInstanceOf(ZipError);
        }
      }),
      { numRuns: 500 },
    );
  });
});

const run = (more: object = {}) => ({ tool: { driver: { name: 'lint' } }, results: [], ...more });
const report = (...runs: object[]) => JSON.stringify({ version: '2.1.0', runs });

describe('a report', () => {
  test.each([
    ['another version', JSON.stringify({ version: '2.0.0', runs: [run()] })],
    ['no runs', report()],
    ['a run without a list of results', report(run({ results: null }))],
    ['a run whose tool failed', report(run({ invocations: [{ executionSuccessful: false }] }))],
    [
      'a line before the first',
      report(run({ results: [{ locations: [{ physicalLocation: { region: { startLine: 0 } } }] }] })),
    ],
    ['more results than are read', report(run({ results: Array.from({ length: 20_001 }, () => ({})) }))],
    ['half a report', report(run()).slice(0, 40)],
    ['a list nested endlessly', '['.repeat(100_000)],
    ['a text', '"fine"'],
  ])('with %s is refused', (_, text) => {
    expect(() => readReport(text)).toThrow(SyntaxError);
  });

  test('may begin with a byte order mark', () => {
    expect(readReport(`\uFEFF${report(run())}`)).toHaveLength(1);
  });
});

const [PLAIN] = readReport(
  report(
    run({
      originalUriBaseIds: {
        ROOT: { uri: 'file:///home/runner/work/shop/shop/' },
        SRC: { uri: 'src/', uriBaseId: 'ROOT' },
        LOOP: { uri: 'a/', uriBaseId: 'LOOP' },
        EMPTY: {},
      },
      artifacts: [{ location: { uri: 'src/listed.ts' } }, {}],
    }),
  ),
);

test.each<[SarifPlace, string | undefined]>([
  [{ uri: 'src/a.ts' }, 'src/a.ts'],
  [{ uri: './src//b/../a%20b.ts' }, 'src/a b.ts'],
  [{ uri: 'a.ts', uriBaseId: '%SRCROOT%' }, 'a.ts'],
  [{ uri: 'a.ts', uriBaseId: 'SRC' }, 'src/a.ts'],
  [{ uri: 'a.ts', uriBaseId: 'EMPTY' }, 'a.ts'],
  [{ uri: 'a.ts', uriBaseId: '__proto__' }, 'a.ts'],
  [{ uri: 'a.ts', uriBaseId: 'LOOP' }, undefined],
  [{ uri: 'file:///home/runner/work/shop/shop/src/a.ts' }, 'src/a.ts'],
  [{ uri: '/github/workspace/a.ts' }, 'a.ts'],
  [{ uri: 'file:///D:/a/shop/shop/src/a.ts' }, 'src/a.ts'],
  [{ uri: '/home/ubuntu/actions-runner/_work/shop/shop/src/a.ts' }, 'src/a.ts'],
  [{ uri: '/_work/shop/shop/_work/a/a/b.ts' }, '_work/a/a/b.ts'],
  [{ uri: 'C:\\runner\\_work\\shop\\shop\\a.ts' }, 'a.ts'],
  [{ uri: '/home/ci/_work/shop/other/a.ts' }, undefined],
  [{ uri: '/home/ci/_work/shop/shop/../../../etc/passwd' }, undefined],
  [{ index: 0 }, 'src/listed.ts'],
  [{ index: 1 }, undefined],
  [{ index: 9 }, undefined],
  [{ uri: '../a.ts' }, undefined],
  [{ uri: 'a/%2e%2e/%2e%2e/a.ts' }, undefined],
  [{ uri: '/etc/passwd' }, undefined],
  [{ uri: 'file:///etc/passwd' }, undefined],
  [{ uri: 'https://a.test/a.ts' }, undefined],
  [{ uri: '%E0%A4%A' }, undefined],
  [{ uri: 'a%00.ts' }, undefined],
  [{ uri: '' }, undefined],
  [{}, undefined],
])('%j is the path %j', (place, expected) => {
  expect(PLAIN && pathOf(place, PLAIN)).toBe(expected);
});

const at = (uri: string, startLine?: number) => ({
  physicalLocation: {
    artifactLocation: { uri },
    ...(startLine === undefined ? {} : { region: { startLine } }),
  },
});
const told = (result: object, rule: object = {}) => {
  const runs = readReport(
    report({
      tool: {
        driver: { rules: [{ id: 'r', ...rule }] },
        extensions: [{ name: 'empty' }, { name: 'more', rules: [{ id: 'x', ...score(9.8) }] }],
      },
      results: [{ ruleId: 'r', message: { text: 'Said' }, locations: [at('a.ts', 3)], ...result }],
    }),
  );
  const { rules, findings, nowhere } = findingsOf(runs, DEFAULT_LEVELS);
  return [
    ...findings.map(({ rule, path, line }) => `${rules[rule]?.severity} ${rule} ${path}:${line}`),
    ...(nowhere.results ? [`nowhere ${nowhere.results}, blocking ${nowhere.blocking}`] : []),
  ];
};
const score = (value: unknown) => ({ properties: { 'security-severity': value } });

test.each<[string, object, object, string[]]>([
  ['a level', { level: 'error' }, {}, ['high r a.ts:3']],
  ['no level', {}, {}, ['medium r a.ts:3']],
  ['its rule’s level', {}, { defaultConfiguration: { level: 'note' } }, ['low r a.ts:3']],
  [
    'a level of its own over its rule’s',
    { level: 'none' },
    { defaultConfiguration: { level: 'error' } },
    ['info r a.ts:3'],
  ],
  ['a number for its security severity', { level: 'note' }, score('9.1'), ['critical r a.ts:3']],
  ['a smaller number', {}, score(7), ['high r a.ts:3']],
  ['an invalid number', {}, score('high'), ['medium r a.ts:3']],
  ['a suppression', { level: 'error', suppressions: [{ kind: 'inSource' }] }, score(9), ['info r a.ts:3']],
  [
    'a rejected suppression',
    { level: 'error', suppressions: [{ status: 'rejected' }] },
    {},
    ['high r a.ts:3'],
  ],
  ['no suppressions', { level: 'error', suppressions: [] }, {}, ['high r a.ts:3']],
  ['the kind pass', { kind: 'pass', level: 'none' }, {}, []],
  ['the kind review', { kind: 'review' }, {}, ['info r a.ts:3']],
  ['the state absent', { baselineState: 'absent' }, {}, []],
  ['its rule by index', { ruleId: undefined, ruleIndex: 0, level: 'error' }, {}, ['high r a.ts:3']],
  ['no rule', { ruleId: undefined }, {}, ['medium result a.ts:3']],
  ['a rule with an invisible name', { ruleId: 'a b\n`c`<!--' }, {}, ['medium a-b-c--- a.ts:3']],
  ['a rule named like a member of every object', { ruleId: '__proto__' }, {}, ['medium result a.ts:3']],
  ['no line', { locations: [at('a.ts')] }, {}, ['medium r a.ts:undefined']],
  ['two places', { locations: [at('a.ts', 1), at('b.ts', 2)] }, {}, ['medium r a.ts:1', 'medium r b.ts:2']],
  ['a place outside of the repository', { locations: [at('../a.ts', 1)] }, {}, ['nowhere 1, blocking 0']],
  ['no place', { locations: [] }, {}, ['nowhere 1, blocking 0']],
  [
    'a place outside of the repository, and a blocking severity',
    { locations: [at('../a.ts', 1)], level: 'error' },
    {},
    ['nowhere 1, blocking 1'],
  ],
  [
    'one place inside and one outside',
    { locations: [at('a.ts', 1), at('/b.ts', 1)] },
    score(9),
    ['critical r a.ts:1', 'nowhere 1, blocking 1'],
  ],
  ['a suffix to its rule’s name', { ruleId: 'r/1/2' }, score(9), ['critical r/1/2 a.ts:3']],
  [
    'a rule of an extension by index',
    { ruleId: 'x', rule: { id: 'x', index: 0, toolComponent: { index: 1 } } },
    score(1),
    ['critical x a.ts:3'],
  ],
  [
    'a rule of an extension by its name',
    { ruleId: undefined, rule: { index: 0, toolComponent: { name: 'more' } } },
    score(1),
    ['critical x a.ts:3'],
  ],
  ['an index that belongs to another rule', { ruleId: 'x', ruleIndex: 0 }, score(1), ['critical x a.ts:3']],
  [
    'an index and a name that belong to no rule',
    { ruleId: 'y', ruleIndex: 0 },
    score(9),
    ['critical y a.ts:3'],
  ],
])('a result with %s becomes the expected finding', (_, result, rule, expected) => {
  expect(told(result, rule)).toEqual(expected);
});

test('a result whose message is only an id shows the text of its rule', () => {
  const results = [{ ruleId: 'r', message: { id: 'default', arguments: ['x'] }, locations: [at('a.ts')] }];
  expect(findingsOf(readReport(report(run({ results }))), DEFAULT_LEVELS).findings).toEqual([
    { rule: 'r', path: 'a.ts', message: 'r' },
  ]);
});

test('a level can be switched off, and the worst severity of a rule counts', () => {
  const results = ['note', 'error', 'warning'].map((level) => ({
    ruleId: 'r',
    level,
    locations: [at('a.ts', 1)],
  }));
  const runs = readReport(report(run({ results })));
  expect(findingsOf(runs, DEFAULT_LEVELS).rules.r?.severity).toBe('high');
  const quiet = findingsOf(runs, { ...DEFAULT_LEVELS, error: 'off' });
  expect(quiet.rules.r?.severity).toBe('medium');
  expect(quiet.findings).toHaveLength(2);
});

/** A step whose GitHub has only this archive for its head. */
function stepWith(archive: Buffer) {
  const step = stepContext('id: report, skill: ci');
  const { headSha } = step.state.run;
  const reader = {
    ...step.reader,
    workflowArtifacts: async () => [{ id: 1, name: 'report', runId: 1, headSha }],
    workflowArchive: async (_repo: unknown, _id: number, maxBytes: number) =>
      archive.byteLength > maxBytes ? undefined : archive,
  };
  return { ...step, reader };
}

test.each<[string, Buffer, string]>([
  ['no archive', Buffer.from('hello'), 'no zip archive'],
  ['an archive without a report', zip([{ name: 'a.txt', content: 'x' }]), 'no file that ends in .sarif'],
  ['a bomb', zip([{ name: 'a.sarif', content: Buffer.alloc(20_000_000) }]), 'more than 10 MB'],
  ['more than the limit', Buffer.alloc(10_000_001), 'too large'],
  ['prose', zip([{ name: 'a.sarif', content: 'All is fine.' }]), 'is not valid JSON'],
  ['another format', zip([{ name: 'a.sarif', content: '{}' }]), 'version'],
])('an artifact that is %s is a reported failure', async (_, archive, because) => {
  const file = { analyzer: 'sarif', artifact: 'report' } as const;
  expect(await readReports(stepWith(archive), [{ name: 'codeql', file }], ci)).toEqual({
    kind: 'failed',
    because: expect.stringMatching(new RegExp(`"report" is no report that can be read: .*${because}`)),
  });
});

test('ids with hundreds of parts take little work', { tags: 'slow' }, () => {
  const rules = rulesOf({ tool: { driver: { rules: [{ id: 'r' }] } } });
  const ruleId = '/'.repeat(500);
  withinEffort(1_000, () => {
    for (let index = 0; index < 20_000; index++) rules({ ruleId: `${ruleId}${index}` });
  });
});
