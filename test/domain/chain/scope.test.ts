import { describe, expect, test } from 'vitest';
import { parseChain } from '../../../src/domain/chain/parse.ts';
import { isChosen, type ParsedChain, resolveChains } from '../../../src/domain/chain/scope.ts';
import { KNOWN } from '../../support/chains.ts';

function file(path: string, name: string, skill = 'ci'): ParsedChain {
  const text = `name: ${name}\ndescription: ${path}\ntrigger: {event: pr.opened}\nsteps: [{skill: ${skill}}]`;
  return { file: path, ...parseChain(text, path, KNOWN) };
}

function unreadable(path: string): ParsedChain {
  return { file: path, ...parseChain('[', path, KNOWN) };
}

function resolved(scopes: Partial<Parameters<typeof resolveChains>[0]>) {
  const { chains, broken } = resolveChains({
    repository: [],
    organisation: [],
    stored: [],
    shipped: [],
    ...scopes,
  });
  return {
    chains: chains.map((chain) => chain.description),
    broken: broken.map(({ chain, scope, file }) => `${chain} (${scope}: ${file})`),
  };
}

describe('among chains with one name', () => {
  test('the nearest one runs', () => {
    expect(
      resolved({
        repository: [file('r/a.yaml', 'a')],
        organisation: [file('o/a.yaml', 'a'), file('o/b.yaml', 'b')],
        shipped: [file('s/a.yaml', 'a'), file('s/b.yaml', 'b'), file('s/c.yaml', 'c')],
      }),
    ).toEqual({ chains: ['r/a.yaml', 'o/b.yaml', 's/c.yaml'], broken: [] });
  });

  test('a nearer one with errors keeps a farther one from running', () => {
    expect(
      resolved({ repository: [file('r/x.yaml', 'a', 'gone')], shipped: [file('s/a.yaml', 'a')] }),
    ).toEqual({ chains: [], broken: ['a (repository: r/x.yaml)'] });
  });

  test('a shipped one that is not for everybody runs where the settings name it, and one of yours everywhere', () => {
    const shipped = [{ ...file('s/a.yaml', 'a'), onlyIfNamed: true as const }];
    const none = { repository: [], organisation: [], stored: [], shipped: [] };
    const { onlyIfNamed } = resolveChains({ ...none, shipped });
    expect(isChosen('a', {}, onlyIfNamed)).toBe(false);
    expect(isChosen('a', { chains: ['a'] }, onlyIfNamed)).toBe(true);
    const own = resolveChains({ ...none, shipped, repository: [file('r/a.yaml', 'a')] });
    expect(isChosen('a', {}, own.onlyIfNamed)).toBe(true);
  });

  test('one with errors and without a readable name counts under its file name', () => {
    expect(resolved({ organisation: [unreadable('o/a.yml')], shipped: [file('s/1.yaml', 'a')] })).toEqual({
      chains: [],
      broken: ['a (organisation: o/a.yml)'],
    });
  });

  test('a farther one with errors does not matter', () => {
    expect(resolved({ repository: [file('r/a.yaml', 'a')], organisation: [unreadable('o/a.yaml')] })).toEqual(
      {
        chains: ['r/a.yaml'],
        broken: [],
      },
    );
  });

  test('two in one scope are both invalid, and each error names the other file', () => {
    const { chains, broken } = resolveChains({
      repository: [file('r/1.yaml', 'a'), file('r/2.yaml', 'a')],
      organisation: [],
      stored: [],
      shipped: [file('s/a.yaml', 'a')],
    });
    expect(chains).toEqual([]);
    expect(broken.flatMap(({ diagnostics }) => diagnostics.map((diagnostic) => diagnostic.message))).toEqual([
      'the chain name "a" is also used by r/2.yaml',
      'the chain name "a" is also used by r/1.yaml',
    ]);
  });
});
