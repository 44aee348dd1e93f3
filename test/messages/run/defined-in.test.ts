import { expect, test } from 'vitest';
import { SCOPES } from '../../../src/domain/chain/scope.ts';
import { definedIn } from '../../../src/messages/run/defined-in.ts';

test('a run says where its chain is defined, whatever the scope', () => {
  expect(
    SCOPES.map((scope) => definedIn(scope === 'stored' ? { scope } : { scope, file: 'a.yaml' })),
  ).toEqual([
    'a file of the repository (a.yaml)',
    'a file of the organisation (a.yaml)',
    'stored on this server',
    'one that ships with Countersign',
  ]);
});
