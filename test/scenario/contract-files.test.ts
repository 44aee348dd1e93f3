import { expect } from 'vitest';
import { makeOutcome } from '../../src/domain/outcome/outcome.ts';
import type { StepHandler } from '../../src/engine/steps/step.ts';
import { eachFirstQuick } from '../support/each-first-quick.ts';
import { A_RECHECK, open, ownCheck, start } from './support.ts';

const PNG = new Uint8Array([0x89, 0x50, 0x4e, 0x47, 0x0d, 0x0a, 0x1a, 0x0a, 0, 0, 0, 0]);

/** A skill that writes a report, a log, and two pictures, one of them invalid. */
const report: StepHandler = {
  name: 'report',
  capability: { name: 'report', minimumTrust: 'sandbox', sideEffects: false, confirmation: 'none' },
  async run() {
    return {
      kind: 'done',
      outcome: makeOutcome<'action_result'>({
        outcome_kind: 'action_result',
        summary: 'reported',
        passed: true,
        action: 'report',
        details: {},
      }),
      blobs: [
        { kind: 'analyzer_output', name: 'reports/review.json', data: '{"findings": []}' },
        { kind: 'analyzer_output', name: 'pictures/a.png', data: PNG },
        { kind: 'analyzer_output', name: 'pictures/b.png', data: 'no picture' },
        { kind: 'log', name: 'report.log', data: 'looked\n' },
      ],
    };
  },
};

const findings = (items: string) =>
  `{ type: object, required: [findings], properties: { findings: { type: array, ${items} } } }`;

eachFirstQuick([
  ['as many files as required', '{ id: x, glob: "pictures/*.png", count: 2 }', 'success'],
  [
    'fewer files',
    '{ id: x, glob: "pictures/*.png", count: { min: 3, max: 9 } }',
    'failure: 2 files match, and there must be 3 to 9',
  ],
  [
    'files of another type',
    '{ id: x, glob: "pictures/*.png", count: 2, mime_type: image/png }',
    'failure: pictures/b.png: it is not of the type image/png',
  ],
  ['a file of the right type', '{ id: x, path: pictures/a.png, mime_type: image/png }', 'success'],
  [
    'a file that is too small',
    '{ id: x, path: report.log, min_size: 100 }',
    'failure: it has 7 bytes, and needs 100',
  ],
  [
    'a file that fits its schema',
    `{ id: x, path: reports/review.json, schema: ${findings('minItems: 0')} }`,
    'success',
  ],
  [
    'a file that does not fit its schema',
    `{ id: x, path: reports/review.json, schema: ${findings('minItems: 1')} }`,
    'failure: it does not have the shape that was asked for (findings: ',
  ],
  ['the outcome', '{ id: x, kind: outcome, outcome: action_result }', 'success'],
  [
    'another outcome',
    '{ id: x, kind: outcome, outcome: review_verdict }',
    'failure: the session has no such outcome',
  ],
])('a step that leaves behind %s is judged by that', async (_, entry, expected) => {
  const chain = `name: pr-review
trigger: { event: pr.opened }
steps: [{ id: report, skill: report, artifacts: { expected: [${entry}] } }]
`;
  const harness = await start({ chain, skills: [report] });
  const { headSha } = await open(harness);
  await harness.advance(A_RECHECK);
  const check = ownCheck(harness, headSha);
  const because = /(?:missing|not as asked): ([^|]+) \|/.exec(check.summary ?? '')?.[1] ?? '';
  expect(`${check.conclusion}: ${because}`).toContain(expected);
  expect(check.conclusion === 'failure').toBe(because !== '');
});
