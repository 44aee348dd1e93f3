// @module-tag security

import { spawnSync } from 'node:child_process';
import { mkdirSync, readdirSync, symlinkSync, utimesSync } from 'node:fs';
import { basename, join } from 'node:path';
import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { removeAbandonedFolders, temporaryFolder } from '../../../src/sandbox/temporary-folder.ts';
import { temporaryFolders } from '../../support/temp.ts';

const newFolder = temporaryFolders();
let root: string;
let elsewhere: string;

beforeEach(() => {
  elsewhere = newFolder();
  root = newFolder();
  vi.stubEnv('TMPDIR', root);
});
afterEach(() => vi.unstubAllEnvs());

const left = () => readdirSync(root);

/** The number of a process that is gone. */
const gone = () => spawnSync(process.execPath, ['--version']).pid;

test('folders of a process that is gone are removed, and no others', async () => {
  const ours = basename(await temporaryFolder('review'));
  const named = (pid: number, host?: string) =>
    ours.replace(/-([0-9a-f]{8})-\d+-/, (_, ourHost) => `-${host ?? ourHost}-${pid}-`);
  const kept = [named(process.ppid), named(gone(), '00000000'), 'countersign-review-AbCdEf'];
  for (const name of [...kept, named(gone()).replace('review', 'dry-run')])
    mkdirSync(join(root, name, 'deep'), { recursive: true });
  // What a link leads to is not ours to delete.
  const link = named(gone());
  symlinkSync(elsewhere, join(root, link));
  await removeAbandonedFolders();
  expect(left().toSorted()).toEqual([ours, link, ...kept].toSorted());
});

test('a folder of an earlier process with our own number is removed', async () => {
  utimesSync(await temporaryFolder('compiled'), 1, 1);
  await removeAbandonedFolders();
  expect(left()).toEqual([]);
});
