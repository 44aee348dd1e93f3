import { describe, expect, it } from 'vitest';
import { mayIssue, PERMISSIONS, VERBS } from '../../../src/entrypoints/commands/command.ts';
import { helpText, usageOf, whoMay } from '../../../src/entrypoints/commands/help.ts';
import { parseCommands } from '../../../src/entrypoints/commands/parse.ts';
import { isDone, replyText } from '../../../src/entrypoints/commands/replies.ts';

describe('who may issue a command', () => {
  it.each([
    ['a reader', 'why', { role: 'read', isAuthor: false }, true],
    ['a reader', 'ci', { role: 'read', isAuthor: false }, false],
    ['somebody with triage access', 'review', { role: 'triage', isAuthor: false }, false],
    ['a writer', 'rerun', { role: 'write', isAuthor: false }, true],
    ['the author, who can only read', 'rerun', { role: 'read', isAuthor: true }, true],
    ['the author without any access', 'cancel', { role: 'none', isAuthor: true }, true],
    ['the author, who can write', 'pause', { role: 'write', isAuthor: true }, false],
    ['a maintainer', 'pause', { role: 'maintain', isAuthor: false }, true],
    ['an administrator', 'fire', { role: 'admin', isAuthor: false }, true],
    ['somebody without access', 'help', { role: 'none', isAuthor: false }, false],
  ] as const)('%s, for %s with %o: %s', (_, verb, issuer, allowed) => {
    expect(mayIssue(verb, issuer)).toBe(allowed);
  });
});

describe('the help', () => {
  it.each(VERBS)('shows how to write %s, as the parser reads it', (verb) => {
    expect(helpText()).toContain(`\`${usageOf(verb)}\``);
    const example = usageOf(verb)
      .replace('[step]', 'unit')
      .replace('<chain>', 'deploy')
      .replace('<finding>', '3f9a1c07')
      .replace('[key=value …]', 'key=value');
    expect(parseCommands(example)).toEqual([{ ok: expect.objectContaining({ verb }) }]);
  });

  it('has no line that is itself a command', () => {
    expect(parseCommands(helpText())).toEqual([]);
  });

  it('says who may issue a command, from the table that decides', () => {
    const row = helpText()
      .split('\n')
      .find((line) => line.includes('/countersign pause'));
    expect(whoMay(PERMISSIONS.pause)).toBe('people with maintain access');
    expect(row).toContain(whoMay(PERMISSIONS.pause));
  });
});

describe('the reply to a command', () => {
  it.each([
    [
      { kind: 'not_allowed', verb: 'rerun', role: 'none' },
      '`/countersign rerun` is for people with write access or the author of the pull request; you have no access.',
    ],
    [
      { kind: 'head_moved', from: 'a'.repeat(40), to: 'b'.repeat(40) },
      'The head moved from `aaaaaaa` to `bbbbbbb` since you wrote this, so nothing was done; send it again if you mean the new head.',
    ],
    [
      { kind: 'no_such_step', step: 'reviw', steps: ['review', 'ci'] },
      'There is no step `reviw`; did you mean `review`?',
    ],
    [
      { kind: 'no_such_chain', chain: 'zzz', chains: ['deploy', 'nightly'] },
      'There is no chain `zzz` that can be fired; the chains are `deploy`, `nightly`.',
    ],
    [
      { kind: 'no_such_chain', chain: 'x', chains: [] },
      'There is no chain `x` that can be fired; there are no chains.',
    ],
    [{ kind: 'cancelled', runs: 1 }, 'Cancelled one run.'],
    [{ kind: 'cancelled', runs: 3 }, 'Cancelled 3 runs.'],
    [{ kind: 'fired', chain: 'deploy' }, 'Fired `deploy`.'],
  ] as const)('to %o is one sentence', (result, sentence) => {
    expect(replyText(result)).toBe(sentence);
  });

  it('does not notify the person it names', () => {
    expect(replyText({ kind: 'already_paused', by: '@mona' })).toBe(
      '@&#8203;mona has paused this pull request already.',
    );
  });

  it('is a success only if something was done', () => {
    expect(isDone({ kind: 'paused' })).toBe(true);
    expect(isDone({ kind: 'already_paused', by: 'mona' })).toBe(false);
  });
});
