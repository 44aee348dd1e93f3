// @module-tag slow
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { createTools } from '../../src/cli-tools.ts';
import { type Log, silentLog } from '../../src/core/log.ts';
import { answered } from '../entrypoints/cli/support.ts';
import { exported, startStubIndex } from '../skills/catalogue/stub-index.ts';
import type { Harness } from '../support/harness.ts';
import { start } from './support.ts';

const HOUR = 3_600_000;
const DAY = 24 * HOUR;

let web: Awaited<ReturnType<typeof startStubIndex>>;
beforeAll(async () => {
  web = await startStubIndex();
});
afterAll(() => web.stop());
beforeEach(() => void web.requests());

/** Lists one version of the package `naming`. */
const publish = (version: string) => web.publish('x', [['naming', version, exported('naming', version)]]);

async function watching(index: string, installed = true) {
  const lines: { message: string }[] = [];
  const keep: Log['info'] = (fields, message) => void lines.push({ ...fields, message });
  const log = { ...silentLog, info: keep, warn: keep, error: keep };
  const harness = await start({ log, skillIndexes: { indexes: [new URL(index)], everyMs: DAY } });
  await harness.settle();
  if (installed) await command(harness, 'skill', 'sync', index);
  web.requests();
  const about = (text: string) => lines.filter(({ message }) => message.includes(text));
  return { harness, about };
}

function command({ config, clock }: Harness, ...args: string[]) {
  return answered(args, { cwd: '/', clock, tools: createTools({ DATABASE_URL: config.databaseUrl }) });
}

async function gauges({ app }: Harness): Promise<string[]> {
  const page = await (await fetch(`${app.metricsUrl}/metrics`)).text();
  return page.split('\n').filter((line) => /^countersign_skill_(updates|indexes_failing) /.test(line));
}

const shown = async (harness: Harness) =>
  (await command(harness, 'skill', 'list')).out.split('\n').find((line) => line.startsWith('naming'));

describe('an index that lists a newer version', () => {
  test('shows once in the log, in the metrics and in skill list, and installs nothing', async () => {
    const { harness, about } = await watching(publish('1.2.0'));
    await harness.advance(DAY);
    expect(about('newer version')).toEqual([]);
    expect(await shown(harness)).toMatch(/^naming +1\.2\.0 +community/);

    publish('1.3.0');
    web.requests();
    await harness.advance(DAY);
    await harness.advance(DAY);
    expect(web.requests()).toEqual(['200 /x/index.json', '304 /x/index.json']);
    expect(about('newer version')).toMatchObject([
      { skill: 'naming', installed: '1.2.0', available: '1.3.0' },
    ]);
    expect(await gauges(harness)).toEqual([
      'countersign_skill_updates 1',
      'countersign_skill_indexes_failing 0',
    ]);
    expect(await shown(harness)).toMatch(/^naming +1\.2\.0 \(1\.3\.0 available\) +community/);
    expect(await harness.app.storage.read.skills.adopted()).toMatchObject([{ version: '1.2.0' }]);
  });

  test('shows no more once it is installed', async () => {
    const index = publish('1.2.0');
    const { harness } = await watching(index);
    publish('1.3.0');
    await harness.advance(DAY);
    await command(harness, 'skill', 'sync', index);
    expect(await gauges(harness)).toEqual([
      'countersign_skill_updates 0',
      'countersign_skill_indexes_failing 0',
    ]);
    expect(await shown(harness)).toMatch(/^naming +1\.3\.0 +community/);
  });

  test('is neither asked nor logged again after a restart', async () => {
    const { harness, about } = await watching(publish('1.2.0'));
    publish('1.3.0');
    await harness.advance(DAY);
    web.requests();
    await harness.restart();
    await harness.advance(HOUR);
    expect(web.requests()).toEqual([]);
    expect(about('newer version')).toHaveLength(1);
    expect(await gauges(harness)).toEqual([
      'countersign_skill_updates 1',
      'countersign_skill_indexes_failing 0',
    ]);
    await harness.advance(DAY);
    expect(web.requests()).toEqual(['304 /x/index.json']);
  });
});

test('an index that fails is logged, and asked again after 15 minutes, then 30, up to the interval', async () => {
  const index = publish('1.2.0');
  const { harness, about } = await watching(index);
  web.put('/x/index.json', 'no index');
  await harness.advance(DAY);
  expect(about('cannot be checked')).toMatchObject([{ index, because: 'it is not valid JSON', failures: 1 }]);
  expect(await gauges(harness)).toEqual([
    'countersign_skill_updates 0',
    'countersign_skill_indexes_failing 1',
  ]);

  const pauses: number[] = [];
  web.requests();
  for (let minutes = 0; pauses.length < 9; minutes += 15) {
    await harness.advance(15 * 60_000);
    if (web.requests().length > 0) {
      pauses.push((minutes + 15) / 60);
      minutes = -15;
    }
  }
  expect(pauses).toEqual([0.25, 0.5, 1, 2, 4, 8, 16, 24, 24]);

  publish('1.2.0');
  await harness.advance(DAY);
  expect(await gauges(harness)).toEqual([
    'countersign_skill_updates 0',
    'countersign_skill_indexes_failing 0',
  ]);
});

test('an index that fails keeps the newer version that it listed before', async () => {
  const { harness, about } = await watching(publish('1.2.0'));
  publish('1.3.0');
  await harness.advance(DAY);
  web.put('/x/index.json', 'no index');
  await harness.advance(DAY);
  expect(about('cannot be checked')).not.toEqual([]);
  expect(await shown(harness)).toMatch(/^naming +1\.2\.0 \(1\.3\.0 available\) +community/);
  publish('1.3.0');
  await harness.advance(DAY);
  expect(about('newer version')).toHaveLength(1);
});

test('an index says nothing about packages that come from another', async () => {
  const other = web.publish('y', [['naming', '1.2.0', exported('naming', '1.2.0')]]);
  const { harness, about } = await watching(publish('1.3.0'), false);
  await command(harness, 'skill', 'sync', other);
  publish('1.4.0');
  await harness.advance(DAY);
  expect(about('newer version')).toEqual([]);
  expect(await gauges(harness)).toContain('countersign_skill_updates 0');
  expect(await shown(harness)).toMatch(/^naming +1\.2\.0 +community/);
});

test('an index is not followed to another address', async () => {
  const { harness, about } = await watching(publish('1.2.0'));
  web.put('/x/index.json', (response) => response.writeHead(302, { location: '/elsewhere.json' }).end());
  await harness.advance(DAY);
  expect(web.requests()).toEqual(['302 /x/index.json']);
  expect(about('cannot be checked')).toHaveLength(1);
});

test('an app without indexes asks none', async () => {
  const harness = await start();
  await harness.advance(2 * DAY);
  expect(web.requests()).toEqual([]);
});
