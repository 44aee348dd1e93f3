import { readFileSync } from 'node:fs';
import { expect, test } from 'vitest';
import { parsePackage } from '../../../../src/domain/skill/parse.ts';
import { type CodeFault, describeCodeFault } from '../../../../src/messages/skills/code.ts';
import { DEFAULT_LIMITS } from '../../../../src/skills/kinds/code/limits.ts';
import { HOST_FUNCTIONS, type HostFunction } from '../../../../src/skills/kinds/code/protocol.ts';
import { answerSchema } from '../../../../src/skills/runtime/answer.ts';
import { run } from '../../../security/sandbox/support.ts';

const page = readFileSync(new URL('../../../../docs/code-templates.md', import.meta.url), 'utf8');
const FOLDER = '.github/countersign/skills/tested';
const files = [...page.matchAll(/^```\w+ (\S+)\n([\s\S]*?)^```$/gm)].map(([, path = '', text = '']) => ({
  path: path.slice(FOLDER.length + 1),
  text,
}));

test('docs/code-templates.md shows a package without errors, whose program produces its outcome', {
  tags: 'slow',
}, async () => {
  const { skill, diagnostics } = parsePackage(files, FOLDER);
  expect(diagnostics).toEqual([]);
  const program = skill?.artifacts.find(({ kind }) => kind === 'code_template')?.content ?? '';
  const input = { files: [{ path: 'src/a.ts', status: 'added' }] };
  const output = await run('template.js', program, { input });
  expect(output).toMatchObject({ kind: 'done', value: { passed: false } });
  const value = output.kind === 'done' ? output.value : null;
  expect(answerSchema('gate_verdict').safeParse(value).success).toBe(true);
});

const size = (bytes: number) => `${bytes / 1_000_000} MB`;

test.each(Object.keys(HOST_FUNCTIONS) as HostFunction[])(
  'docs/code-templates.md has the budget of %s',
  (name) => {
    const { calls, bytes, ms } = DEFAULT_LIMITS.budgets[name];
    const row = page.split('\n').find((line) => line.startsWith(`| \`${name}(`));
    expect(row).toMatch(new RegExp(`\\| ${calls} \\| ${size(bytes)} \\| ${ms / 1_000} s \\|$`));
  },
);

const { timeoutMs, processMb, logBytes, resultBytes } = DEFAULT_LIMITS;
const SAID: CodeFault[] = [
  { kind: 'timed_out', ms: timeoutMs },
  { kind: 'out_of_memory', message: '', at: null },
  { kind: 'too_much_memory', mb: processMb },
  { kind: 'printed_too_much', limit: logBytes },
  { kind: 'result_too_large', limit: resultBytes },
  { kind: 'too_much_output', limit: 64_000_000 },
  { kind: 'threw', message: '…', at: null },
  { kind: 'no_result', message: '' },
  { kind: 'out_of_turn' },
  { kind: 'no_message' },
  { kind: 'not_started', detail: '' },
  { kind: 'wrong_result', outcome: 'gate_verdict', detail: '…' },
];

test.each(SAID)('docs/code-templates.md quotes the message for $kind', (fault) => {
  expect(page.replaceAll(/\s+/g, ' ')).toContain(describeCodeFault(fault));
});
