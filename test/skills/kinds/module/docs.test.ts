import { readFileSync } from 'node:fs';
import { expect, test } from 'vitest';
import {
  KNOWN_INPUTS,
  MODULE_TEMPLATES,
  MODULE_TOOLS,
  parseModule,
} from '../../../../src/domain/skill/module.ts';
import { parsePackage } from '../../../../src/domain/skill/parse.ts';
import { describeModuleFault, type ModuleFault } from '../../../../src/messages/skills/module.ts';
import { parseExamples } from '../../../../src/skills/kinds/module/examples.ts';
import { limitsOf } from '../../../../src/skills/kinds/module/program.ts';

const page = readFileSync(new URL('../../../../docs/modules.md', import.meta.url), 'utf8');
const FOLDER = '.github/countersign/skills/promises';
const blocks = [...page.matchAll(/^```\w+ (\S+)\n([\s\S]*?)^```$/gm)].map(([, path = '', text = '']) => ({
  path,
  text,
}));
const files = blocks
  .filter(({ path }) => path.startsWith(FOLDER))
  .map(({ path, text }) => ({ path: path.slice(FOLDER.length + 1), text }));
const module = parseModule(files.find(({ path }) => path.startsWith('modules/'))?.text ?? '');

test('docs/modules.md shows a package without errors', () => {
  expect(files).toHaveLength(3);
  expect(parsePackage(files, FOLDER).diagnostics).toEqual([]);
});

test('docs/modules.md shows an example of that module', () => {
  const text = blocks.find(({ path }) => path === 'examples.jsonl')?.text ?? '';
  // One example is too few to optimize with, and has no other error.
  expect(parseExamples(text, 'examples.jsonl', module, 'gate_verdict')).toMatchObject({
    diagnostics: [{ message: 'there must be 6 to 500 different examples, and there are 1' }],
  });
});

test.each([...MODULE_TEMPLATES, ...MODULE_TOOLS, ...Object.keys(KNOWN_INPUTS)])(
  'docs/modules.md names %s',
  (name) => {
    expect(page).toContain(`\`${name}\``);
  },
);

const { modelCalls } = limitsOf({ ...module, template: 'react' });
const SAID: ModuleFault[] = [
  { kind: 'no_such_input', name: 'tone' },
  { kind: 'too_long', limit: 262_144 },
  { kind: 'too_many_calls', limit: modelCalls },
  { kind: 'timed_out', ms: limitsOf(module).timeoutMs },
];

test.each(SAID)('docs/modules.md quotes the message for $kind', (fault) => {
  expect(page).toContain(describeModuleFault(fault));
});
