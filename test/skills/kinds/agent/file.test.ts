import { chmodSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { readConfig } from '../../../../src/config/config.ts';
import { answerIn } from '../../../../src/skills/kinds/agent/command.ts';
import { filesOfProgram } from '../../../../src/skills/kinds/agent/sandbox.ts';
import { errorsOf, files, packageOf, skillMd } from '../../../support/packages.ts';
import { temporaryFolders } from '../../../support/temp.ts';

const newFolder = temporaryFolders();
const PROMPT = { 'prompts/look.md': 'Look.\n' };

describe('agents/*.yml', () => {
  it('says which agent is asked what, and makes its package need elevated trust', () => {
    const given = files({
      'agents/look.yml': 'agent: codex\nprompt: prompts/look.md\ntimeout: 20m\npaths: src/**\n',
      ...PROMPT,
    });
    expect(packageOf(given, 'x/naming')).toMatchObject({ trust: 'elevated' });
    expect(
      errorsOf(files({ 'agents/look.yml': given[1]?.text ?? '', ...PROMPT }, skillMd('trust: sandbox\n'))),
    ).toEqual([]);
  });

  it.each([
    ['agent: codx\nprompt: prompts/look.md\n', 'look.yml:1:8: '],
    ['agent: codex\n', 'prompt'],
    [
      'agent: codex\nprompt: prompts/lok.md\n',
      'look.yml:2:9: the package has no "prompts/lok.md": did you mean "prompts/look.md"?',
    ],
    ['agent: codex\nprompt: ../../etc/passwd\n', 'the package has no'],
    ['agent: codex\nprompt: prompts/look.md\ntimeout: 2h\n', 'look.yml:3:10: '],
    ['agent: codex\nprompt: prompts/look.md\nargs: [--yes]\n', 'look.yml:3:1: unknown key "args"'],
    ['- x', 'look.yml:1:1'],
  ])('is reported as invalid for %j', (text, fault) => {
    const diagnostics = errorsOf(files({ 'agents/look.yml': text, ...PROMPT }));
    expect(diagnostics.join('\n')).toContain(fault);
  });
});

describe('COUNTERSIGN_AGENTS', () => {
  const diagnostics = (value: string) => {
    const read = readConfig({ COUNTERSIGN_AGENTS: value });
    return read.ok ? [] : read.diagnostics;
  };

  it('turns agents on by their programs, and none by default', () => {
    const program = join(newFolder(), 'codex');
    writeFileSync(program, '');
    chmodSync(program, 0o755);
    expect(readConfig({ COUNTERSIGN_AGENTS: `codex=${program}` })).toMatchObject({
      config: { agents: { codex: program } },
    });
    expect(readConfig({})).not.toHaveProperty('config.agents');
  });

  it.each(['codex', 'codex=codex', 'vim=/bin/sh', 'codex=/bin/sh,codex=/bin/sh', 'codex=/nowhere/codex'])(
    'is refused as %s',
    (value) => {
      expect(diagnostics(value)).toEqual([expect.stringMatching(/^COUNTERSIGN_AGENTS /)]);
    },
  );
});

it('the sandbox shows only a program’s own file, or the node_modules that it is installed in', () => {
  const own = join(newFolder(), 'codex');
  writeFileSync(own, '');
  expect(filesOfProgram(own)).toBe(own);
  expect(filesOfProgram(process.execPath)).toMatch(/node_modules$/);
});

describe('the answer of claude', () => {
  it.each([
    ['{"is_error":false,"result":"{\\"a\\":1}"}', '{"a":1}'],
    ['{"is_error":false,"result":"text","structured_output":{"a":1}}', '{"a":1}'],
    ['{"is_error":true,"result":"{\\"a\\":1}"}', ''],
    ['{"result":"{\\"a\\":1}"}', ''],
    ['null', ''],
    ['half {', ''],
  ])('is read from %s', (stdout, answer) => {
    expect(answerIn('claude', { answer: '', stdout })).toBe(answer);
  });
});
