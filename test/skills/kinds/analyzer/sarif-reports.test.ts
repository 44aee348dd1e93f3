import { expect, test } from 'vitest';
import type { ReportFile } from '../../../../src/domain/skill/analyzer-file.ts';
import type { GitHubReader } from '../../../../src/ports/github.ts';
import { ci } from '../../../../src/skills/builtin/ci/ci.ts';
import { readReports } from '../../../../src/skills/kinds/analyzer/sarif-reports.ts';
import { HEAD } from '../../../support/builders.ts';
import { stepContext } from '../../../support/step-context.ts';
import { zip } from '../../../support/zip.ts';

function reportOf(...results: [uri: string, level: string][]): Buffer {
  const listed = results.map(([uri, level]) => ({
    ruleId: level,
    level,
    message: { text: 'It is wrong' },
    locations: [{ physicalLocation: { artifactLocation: { uri }, region: { startLine: 1 } } }],
  }));
  const report = { version: '2.1.0', runs: [{ tool: { driver: { name: 'Tool' } }, results: listed }] };
  return zip([{ name: 'a.sarif', content: JSON.stringify(report) }]);
}

/** Reads what so many workflow runs have left for the head. */
async function read(archive: Buffer, more: Partial<ReportFile> = {}, workflowRuns = 1) {
  const fetched: number[] = [];
  const reader = {
    workflowArtifacts: async () =>
      Array.from({ length: workflowRuns }, (_, id) => ({ id, name: 'report', runId: id, headSha: HEAD })),
    async workflowArchive(_repo: unknown, id: number) {
      fetched.push(id);
      return archive;
    },
  } as Partial<GitHubReader> as GitHubReader;
  const file: ReportFile = { analyzer: 'sarif', artifact: 'report', ...more };
  const came = await readReports(stepContext('id: a', { reader }), [{ name: 'tool', file }], ci);
  if (came.kind !== 'read') throw new Error(`the reports are not read but ${came.kind}`);
  const [told] = came.told;
  return {
    fetched,
    leftOut: came.leftOut,
    findings: told?.findings.map(({ path, rule }) => `${told.rules[rule]?.severity} ${path}`),
  };
}

test('a level in a report has the severity of its package, or the default', async () => {
  const report = reportOf(['a.ts', 'error'], ['b.ts', 'warning'], ['c.ts', 'note']);
  expect((await read(report)).findings).toEqual(['high a.ts', 'medium b.ts', 'low c.ts']);
  expect((await read(report, { levels: { error: 'low', note: 'off' } })).findings).toEqual([
    'low a.ts',
    'medium b.ts',
  ]);
});

test('only the paths that the package names count in a report', async () => {
  const report = reportOf(['src/a.ts', 'error'], ['docs/b.ts', 'error']);
  expect((await read(report, { paths: ['src/**'] })).findings).toEqual(['high src/a.ts']);
});

test('the ten newest reports of more workflow runs are read, and there is no verdict without the others', async () => {
  const many = await read(reportOf(['a.ts', 'note']), {}, 12);
  expect(many.fetched).toEqual([0, 1, 2, 3, 4, 5, 6, 7, 8, 9]);
  expect(many.leftOut).toEqual([
    {
      path: '(the report)',
      reason: '2 further workflow runs left one as well, and only those of the newest 10 are read',
      needed: true,
    },
  ]);
  expect((await read(reportOf(['a.ts', 'note']), {}, 10)).leftOut).toEqual([]);
});
