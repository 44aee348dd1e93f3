import { existsSync, statfsSync } from 'node:fs';
import { dirname, resolve } from 'node:path';
import type { BaseConfig } from '../config/config.ts';
import { artifactsFolder } from './blobs.ts';
import { localPath } from './storage.ts';

/** The room of the disk on which something is stored. */
interface DiskRoom {
  /** What the app writes there. */
  of: 'database' | 'artifacts';
  folder: string;
  freeBytes: number;
  sizeBytes: number;
}

/** The disks of the database and the artifacts, without what is in memory, on a server or in a bucket. */
export function diskRooms({
  databaseUrl,
  artifactsUrl,
}: Pick<BaseConfig, 'databaseUrl' | 'artifactsUrl'>): DiskRoom[] {
  const database = localPath(databaseUrl, 'sqlite:');
  const artifacts = artifactsFolder(artifactsUrl);
  return [
    ...(database === undefined ? [] : [roomOf('database', dirname(database))]),
    ...(artifacts === undefined ? [] : [roomOf('artifacts', artifacts)]),
  ];
}

function roomOf(of: DiskRoom['of'], path: string): DiskRoom {
  const folder = existingPart(resolve(path));
  const { bavail, blocks, bsize } = statfsSync(folder);
  return { of, folder, freeBytes: bavail * bsize, sizeBytes: blocks * bsize };
}

/** The folder, or the nearest one above it that is there: the app makes the others when it starts. */
function existingPart(folder: string): string {
  return existsSync(folder) ? folder : existingPart(dirname(folder));
}
