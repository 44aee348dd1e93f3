// @module-tag security
import { describe, expect, test } from 'vitest';
import { localPath } from '../../../src/entrypoints/studio/local-path.ts';

const HERE = 'https://countersign.example';

describe('the path to come back to', () => {
  test.each([
    '/',
    '/runs?chain=review&before=2026-01-01T00:00:00.000Z_x',
    '/octo/app/pull/12',
    '/skills/a%20b%2Fc',
  ])('is kept: %s', (path) => {
    expect(localPath(path)).toBe(path);
  });

  test.each([
    undefined,
    '',
    'runs',
    '//evil.example/x',
    '///evil.example',
    '/\\evil.example',
    '/\\/evil.example',
    '\\\\evil.example',
    '\\/evil.example',
    '/\t/evil.example',
    '\t//evil.example',
    '/\n/evil.example',
    ' //evil.example',
    '/.//evil.example',
    '/..//evil.example',
    '/./\\evil.example',
    '/%2e//evil.example',
    '/%2E%2e//evil.example',
    '/a/..//evil.example',
    'https://evil.example',
    'https:/evil.example',
    'https:evil.example',
    '//countersign.example@evil.example',
    'javascript:hit()',
    'data:text/html,x',
    '/\u2044evil.example',
    '/\u{ff0f}evil.example',
    '/runs\r\nLocation: https://evil.example',
    `/${'x'.repeat(2_001)}`,
  ])('is the first page instead of %j', (path) => {
    expect(localPath(path)).toBe('/');
  });

  // A browser takes these for paths: https://url.spec.whatwg.org/#path-state
  test.each([
    '/%2f%2fevil.example',
    '/%5cevil.example',
    '/%09/evil.example',
    '/runs%0d%0aSet-Cookie:%20a=b',
    '/@evil.example',
  ])('stays on this server: %s', (path) => {
    expect(new URL(localPath(path), HERE).origin).toBe(HERE);
    expect(localPath(path)).toMatch(/^\/(?![/\\])[\x21-\x7e]*$/);
  });
});
