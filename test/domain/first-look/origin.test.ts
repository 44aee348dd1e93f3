import { describe, expect, it } from 'vitest';
import { originOf } from '../../../src/domain/first-look/origin.ts';

const config = (url: string) =>
  `[core]\n\tbare = false\n[remote "origin"]\n\turl = ${url}\n\tfetch = +refs/*\n`;

describe('the remote of a checkout', () => {
  it.each([
    ['https://github.com/octo/app.git', 'github.com'],
    ['https://github.com/octo/app', 'github.com'],
    ['https://x:token@github.com/octo/app.git', 'github.com'],
    ['http://127.0.0.1:3000/octo/app.git', '127.0.0.1:3000'],
    ['git@github.com:octo/app.git', 'github.com'],
    ['ssh://git@github.com/octo/app.git', 'github.com'],
    ['ssh://git@ssh.github.com:443/octo/app.git', 'github.com'],
    ['git://GitHub.com/octo/app.git/', 'github.com'],
  ])('of %s is octo/app on %s', (url, host) => {
    expect(originOf(config(url))).toEqual({ host, owner: 'octo', name: 'app' });
  });

  it.each([
    ['/srv/git/app.git'],
    ['../app'],
    ['https://github.com/app.git'],
    ['https://github.com/a/b/c'],
    ['https://[broken/octo/app'],
    ['file:///octo/app'],
    ['git@github.com:octo/..\u001b/app'],
  ])('of %j is none', (url) => {
    expect(originOf(config(url))).toBeUndefined();
  });

  it('is none without a remote that is called origin', () => {
    expect(originOf('[remote "fork"]\nurl = git@github.com:a/b\n')).toBeUndefined();
    expect(originOf('[remote "origin"]\n[branch "main"]\nurl = git@github.com:a/b\n')).toBeUndefined();
  });
});
