// @module-tag slow
import { execFile } from 'node:child_process';
import { existsSync, mkdirSync, mkdtempSync, readFileSync, realpathSync, rmSync, symlinkSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { afterAll, describe, expect, it } from 'vitest';
import { callingFolder } from '../../../src/entrypoints/cli/calling-folder.ts';
import { bareEnvironment } from '../../support/app-environment.ts';

const ROOT = fileURLToPath(new URL('../../..', import.meta.url)).replace(/\/$/, '');
const folder = realpathSync(mkdtempSync(join(tmpdir(), 'countersign-elsewhere-')));
afterAll(() => rmSync(folder, { recursive: true }));

const PAGES = ['README.md', 'docs/cli.md', 'docs/skills.md'];
const aliasIn = (page: string) =>
  /^ {4}alias countersign='(.+)'$/m.exec(readFileSync(join(ROOT, page), 'utf8'))?.[1];

describe('the command that the docs give for work in your own repository', () => {
  it('is the same on every page that shows it', () => {
    expect(new Set(PAGES.map(aliasIn)).size).toBe(1);
    expect(aliasIn('README.md')).toContain('~/countersign');
  });

  it('writes there and not into Countersign’s checkout, and resolves the path of a database from there', async () => {
    const command = aliasIn('docs/skills.md')?.replace('~/countersign', ROOT);
    const repository = join(folder, 'shop');
    mkdirSync(repository);
    const inRepository = (line: string) =>
      promisify(execFile)('sh', ['-c', `${command} ${line}`], {
        cwd: repository,
        env: { ...bareEnvironment(), HOME: folder },
      });
    const [{ stdout, stderr }, missing] = await Promise.all([
      inRepository('skill new elsewhere-only --json'),
      inRepository('run list --database sqlite:own.db').catch((error: { stderr: string }) => error),
    ]);
    expect([JSON.parse(stdout).name, stderr]).toEqual(['elsewhere-only', '']);
    const file = '.github/countersign/skills/elsewhere-only/SKILL.md';
    expect([existsSync(join(repository, file)), existsSync(join(ROOT, file))]).toEqual([true, false]);
    expect(missing.stderr).toContain(join(repository, 'own.db'));
  });
});

describe('the command of a checkout', () => {
  const launcher = join(ROOT, 'scripts/countersign');
  const where = (command: string, cwd: string, env: Record<string, string> = {}) =>
    promisify(execFile)('sh', ['-c', `${command} run list --database sqlite:own.db`], {
      cwd,
      env: { ...bareEnvironment(), ...env },
    }).then(
      () => '',
      ({ stderr }: { stderr: string }) => stderr,
    );

  it('works through a link, and takes paths from the folder of the caller', async () => {
    const [link, here] = [join(folder, 'countersign'), join(folder, 'here')];
    symlinkSync(launcher, link);
    mkdirSync(here);
    expect(await where(link, here)).toContain(join(here, 'own.db'));
  });

  it('takes them from there also below the script of another package', async () => {
    const npm = { INIT_CWD: '/elsewhere', npm_package_json: join(folder, 'package.json') };
    expect(await where(launcher, folder, npm)).toContain(join(folder, 'own.db'));
  });

  it('takes them from the folder in which npm was called, for the script of this package', async () => {
    const npm = { INIT_CWD: folder, npm_package_json: join(ROOT, 'package.json') };
    expect(await where(launcher, ROOT, npm)).toContain(join(folder, 'own.db'));
  });
});

describe('the folder of the caller', () => {
  it.each<[string, Record<string, string>, boolean]>([
    [
      'is where npm was called, for one of our scripts',
      { npm_package_json: join(ROOT, 'package.json') },
      true,
    ],
    [
      'is found through a link to the checkout',
      { npm_package_json: join(folder, 'link/package.json') },
      true,
    ],
    [
      'is the process’s for a script of another package',
      { npm_package_json: join(folder, 'package.json') },
      false,
    ],
    ['is the process’s without npm', {}, false],
    [
      'is the process’s if there is no such folder',
      { npm_package_json: join(ROOT, 'package.json'), INIT_CWD: '/gone' },
      false,
    ],
  ])('%s', (_what, env, believed) => {
    if (!existsSync(join(folder, 'link'))) symlinkSync(ROOT, join(folder, 'link'));
    expect(callingFolder({ INIT_CWD: folder, ...env }, ROOT)).toBe(believed ? folder : undefined);
  });
});
