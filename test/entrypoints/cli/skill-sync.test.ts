import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { createTools } from '../../../src/cli-tools.ts';
import { openStorage } from '../../../src/composition/storage.ts';
import type { Storage } from '../../../src/ports/storage.ts';
import { entry, exported, startStubIndex } from '../../skills/catalogue/stub-index.ts';
import { ManualClock } from '../../support/clock.ts';
import { answered } from './support.ts';

const clock = new ManualClock('2026-03-02T09:00:00.000Z');
const folder = mkdtempSync(join(tmpdir(), 'countersign-sync-'));
const DATABASE_URL = `sqlite:${join(folder, 'test.db')}`;
let web: Awaited<ReturnType<typeof startStubIndex>>;
let storage: Storage;
let tests = 0;
/** Names for this test only, because all tests share one database. */
let mine = '';

beforeAll(async () => {
  web = await startStubIndex();
  storage = await openStorage(DATABASE_URL, { clock });
});
afterAll(async () => {
  await storage.close();
  await web.stop();
  rmSync(folder, { recursive: true });
});
beforeEach(() => {
  tests += 1;
  mine = `s${tests}`;
  web.requests();
});

async function sync(...args: string[]) {
  return answered(['skill', 'sync', ...args], {
    cwd: folder,
    clock,
    tools: createTools({ DATABASE_URL }),
  });
}

/** The status of each package, with the reasons of those that were refused. */
async function statuses(...args: string[]): Promise<Record<string, string>> {
  const { skills } = JSON.parse((await sync(...args, '--json')).out) as {
    skills: { name: string; status: string; because: string[] }[];
  };
  return Object.fromEntries(
    skills.map(({ name, status, because }) => [name, [status, ...because].join(': ')]),
  );
}

/** What the names of this test resolve to. */
async function inForce(): Promise<Record<string, string | null>> {
  const adopted = await storage.read.skills.adopted();
  const own = adopted.filter(({ name }) => name.startsWith(mine));
  return Object.fromEntries(own.map(({ name, version }) => [name, version]));
}

describe('a sync', () => {
  it('adds every package of an index, and lists them', async () => {
    const index = web.publish(mine, [
      [`${mine}-a`, '1.0.0', exported(`${mine}-a`, '1.0.0')],
      [`${mine}-b`, '0.2.0', exported(`${mine}-b`, '0.2.0')],
    ]);
    const { code, out } = await sync(index);
    expect(code).toBe(0);
    expect(out.replaceAll(web.origin, 'http://index')).toBe(
      [
        'SKILL  VERSION  IS',
        's1-a   1.0.0    new',
        's1-b   0.2.0    new',
        '',
        'Read http://index/s1/index.json: 2 skills.\n',
      ].join('\n'),
    );
    expect(await inForce()).toEqual({ 's1-a': '1.0.0', 's1-b': '0.2.0' });
    const [adopted] = await storage.read.skills.adopted();
    expect(await storage.read.skills.get(adopted?.id ?? '')).toMatchObject({
      source: 'community',
      marketplaceId: index,
      artifacts: [{ name: 'SKILL.md' }, { name: 'ask.md', content: 'Judge.\n' }],
    });
  });

  it('costs one answer without a body if nothing has changed', async () => {
    const index = web.publish(mine, [[`${mine}-a`, '1.0.0', exported(`${mine}-a`, '1.0.0')]]);
    await sync(index);
    expect(web.requests()).toEqual([`200 /${mine}/index.json`, `200 /${mine}/${mine}-a.json`]);
    const { code, out } = await sync(index);
    expect(web.requests()).toEqual([`304 /${mine}/index.json`]);
    expect({ code, end: out.split('\n').at(-2) }).toEqual({
      code: 0,
      end: `${index} has not changed: 1 skill.`,
    });
  });

  it('downloads only the packages that changed from a changed index', async () => {
    const same = exported(`${mine}-a`, '1.0.0');
    const publish = (version: string) =>
      web.publish(mine, [
        [`${mine}-a`, '1.0.0', same],
        [`${mine}-b`, version, exported(`${mine}-b`, version)],
      ]);
    await sync(publish('1.0.0'));
    web.requests();
    expect(await statuses(publish('1.0.1'))).toEqual({
      [`${mine}-a`]: 'unchanged',
      [`${mine}-b`]: 'updated',
    });
    expect(web.requests()).toEqual([`200 /${mine}/index.json`, `200 /${mine}/${mine}-b.json`]);
    expect(await inForce()).toEqual({ [`${mine}-a`]: '1.0.0', [`${mine}-b`]: '1.0.1' });
  });

  it('keeps packages that the index no longer lists, unless it is run with --prune', async () => {
    const index = web.publish(mine, [[`${mine}-a`, '1.0.0', exported(`${mine}-a`, '1.0.0')]]);
    await sync(index);
    web.publish(mine, []);
    expect(await statuses(index)).toEqual({ [`${mine}-a`]: 'not_listed' });
    expect(await inForce()).toEqual({ [`${mine}-a`]: '1.0.0' });
    expect(await statuses(index, '--prune')).toEqual({ [`${mine}-a`]: 'removed' });
    expect(await inForce()).toEqual({});
  });
});

describe('an index that cannot be used', () => {
  it.each([
    ['is gone', (response: import('node:http').ServerResponse) => response.writeHead(404).end()],
    ['is half a JSON', '{"format": "countersign-index/1", "skills": ['],
    ['is something else', '{"skills": {}}'],
    ['is far too large', ' '.repeat(1_000_001)],
    [
      'leads elsewhere',
      (response: import('node:http').ServerResponse) =>
        response.writeHead(302, { location: '/elsewhere/index.json' }).end(),
    ],
    ['breaks off', (response: import('node:http').ServerResponse) => response.destroy()],
  ])('because it %s leaves the existing packages in force, and is reported', async (_, answer) => {
    const index = web.publish(mine, [[`${mine}-a`, '1.0.0', exported(`${mine}-a`, '1.0.0')]]);
    web.publish('elsewhere', []);
    await sync(index);
    web.put(`/${mine}/index.json`, typeof answer === 'string' ? answer : (response) => void answer(response));
    const { code, out } = await sync(index);
    expect(code).toBe(1);
    expect(out).toContain(`The index ${index} cannot be used: `);
    expect(out).toContain('What is here of it stays in force: 1 skill.');
    expect(await inForce()).toEqual({ [`${mine}-a`]: '1.0.0' });
  });

  it.each(['http://skills.example.com/index.json', 'file:///etc/passwd', 'https://a:b@example.com/', 'x'])(
    'because of its address %s is not requested at all',
    async (index) => {
      expect(await sync(index)).toMatchObject({ code: 2, out: '' });
    },
  );
});

describe('a package', () => {
  const good = () => [`${mine}-good`, '1.0.0', exported(`${mine}-good`, '1.0.0')] as const;

  /** Publishes a valid package, and another one that the test makes invalid. */
  function spoiled(document: string, more: Record<string, unknown> = {}, name = `${mine}-bad`): string {
    const [goodName, version, text] = good();
    web.put(`/${mine}/${goodName}.json`, text);
    web.put(`/${mine}/${name}.json`, document);
    return web.index(mine, [entry(text, goodName, version), entry(document, name, '1.0.0', more)]);
  }

  it.each<[string, () => string, string]>([
    [
      'whose content does not match its hash',
      () => spoiled(exported(`${mine}-bad`, '1.0.0'), { sha256: '0'.repeat(64) }),
      'its SHA-256 is not the one that the index says',
    ],
    [
      'that is shorter than listed',
      () => spoiled(exported(`${mine}-bad`, '1.0.0'), { size: 3_000 }),
      'bytes, and the index says 3000',
    ],
    [
      'that is longer than listed',
      () => spoiled(exported(`${mine}-bad`, '1.0.0'), { size: 10 }),
      'it has more than 10 bytes',
    ],
    ['that is listed under another name', () => spoiled(exported('other', '1.0.0')), 'it is called "other"'],
    [
      'whose SKILL.md has another name',
      () => spoiled(exported(`${mine}-bad`, '1.0.0', 'x', 'other')),
      'a skill is called by its folder',
    ],
    [
      'whose version differs from the listed one',
      () => spoiled(exported(`${mine}-bad`, '2.0.0')),
      'its SKILL.md says version 2.0.0, and the index 1.0.0',
    ],
    ['without a version', () => spoiled(exported(`${mine}-bad`, null)), 'says version nothing'],
    ['that is not a package', () => spoiled('[]'), 'must be a mapping'],
    [
      'that does not exist',
      () => spoiled('x', { url: 'nowhere.json' }),
      'the server answered with status 404',
    ],
    [
      'at an address that is not allowed',
      () => spoiled('x', { url: 'http://192.0.2.1/a.json' }),
      'an address must be https',
    ],
    ['with an unknown key', () => spoiled('x', { run: 'rm -rf' }), 'its entry is wrong'],
  ])('%s is refused by name, and the others are added', async (_, publish, because) => {
    const index = publish();
    const found = await statuses(index);
    expect(found[`${mine}-good`]).toBe('new');
    expect(found[`${mine}-bad`]).toMatch(/^refused: /);
    expect(found[`${mine}-bad`]).toContain(because);
    expect(await inForce()).toEqual({ [`${mine}-good`]: '1.0.0' });
    expect((await sync(index)).code).toBe(1);
  });

  it('with errors is reported with all of them', async () => {
    const document = JSON.stringify({
      format: 'countersign-skill/1',
      name: `${mine}-bad`,
      files: {
        'SKILL.md': `---\nname: ${mine}-bad\nvresion: 1.0.0\noutcome: ci_result\n---\n`,
        'run.sh': 'x',
        'prompts/a.md': '',
      },
    });
    const found = await statuses(spoiled(document));
    expect(found[`${mine}-bad`]?.match(/json#/g)).toHaveLength(5);
  });

  it.each(['pr-review', 'ci', 'auto'])('cannot be called %s', async (name) => {
    const index = web.publish(mine, [[name, '1.0.0', exported(name, '1.0.0')]]);
    const found = await statuses(index, '--force');
    expect(found[name]).toContain("is Countersign's own");
    expect(web.requests()).toEqual([`200 /${mine}/index.json`]);
  });

  it('that is listed twice is refused both times', async () => {
    const document = exported(`${mine}-a`, '1.0.0');
    const index = web.index(mine, [
      entry(document, `${mine}-a`, '1.0.0'),
      entry(document, `${mine}-a`, '1.0.1'),
    ]);
    expect(await statuses(index)).toEqual({ [`${mine}-a`]: 'refused: the index names it more than once' });
  });

  it.each([
    ['of an older version', '0.9.0', 'Judge.\n', 'version 0.9.0 is older than 1.0.0'],
    ['that changed without a new version', '1.0.0', 'Approve.\n', 'another package than before'],
  ])('%s is refused unless a person forces it', async (_, version, prompt, because) => {
    const name = `${mine}-a`;
    await sync(web.publish(mine, [[name, '1.0.0', exported(name, '1.0.0')]]));
    const index = web.publish(mine, [[name, version, exported(name, version, prompt)]]);
    expect((await statuses(index))[name]).toContain(because);
    expect(await inForce()).toEqual({ [name]: '1.0.0' });
    expect(await statuses(index, '--force')).toEqual({ [name]: 'updated' });
    expect(await inForce()).toEqual({ [name]: version });
  });

  it('with a name from another index is refused unless a person forces it, and the other index is then read again', async () => {
    const name = `${mine}-a`;
    const first = web.publish(mine, [[name, '1.0.0', exported(name, '1.0.0')]]);
    const second = web.publish(`${mine}-other`, [[name, '2.0.0', exported(name, '2.0.0')]]);
    await sync(first);
    expect((await statuses(second))[name]).toContain(`the name is taken by a package of ${first}`);
    expect(await statuses(second, '--force')).toEqual({ [name]: 'updated' });
    expect(await inForce()).toEqual({ [name]: '2.0.0' });
    expect((await statuses(first))[name]).toContain(`the name is taken by a package of ${second}`);
  });

  it('that was refused is checked again next time, although the index is the same', async () => {
    const name = `${mine}-bad`;
    const document = exported(name, '1.0.0');
    const index = spoiled(document);
    web.put(`/${mine}/${name}.json`, (response) => void response.writeHead(500).end());
    expect((await statuses(index))[name]).toContain('status 500');
    web.put(`/${mine}/${name}.json`, document);
    expect((await statuses(index))[name]).toBe('new');
  });
});
