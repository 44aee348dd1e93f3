import { spawnSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { existsSync, mkdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { gunzipSync } from 'node:zlib';
import { z } from 'zod';
import { type CorpusCase, KINDS } from './corpus-case.ts';

const MANIFEST = join(import.meta.dirname, 'packages.json');
/** Below a folder that is never committed or published. */
const FOLDER = join(import.meta.dirname, '../../node_modules/.cache/review-quality');

const version = z.strictObject({
  version: z.string(),
  /** Of the archive, as npm writes it. */
  integrity: z.string().startsWith('sha512-'),
  /** Where the weakness is, or was corrected, from 1. */
  lines: z.array(z.int().positive()).min(1),
});

/**
 * Published packages with a known weakness. `id` is its CVE; https://www.cve.org/CVERecord?id= and the id has the published
 * description. The lines are those that the correction changed or guards.
 */
const manifest = z
  .array(
    z.strictObject({
      package: z.string(),
      kind: z.enum(KINDS),
      id: z.string().regex(/^CVE-\d{4}-\d+$/),
      file: z.string(),
      vulnerable: version,
      fixed: version,
    }),
  )
  .max(40);

type Version = z.infer<typeof version>;

/**
 * The vulnerable and the corrected file of each published package. npm fetches the archives, from the registry that it is
 * set to, once for each checkout.
 * @returns words for why there are none, such as no network
 * @throws Error if an archive is not the one that the manifest names
 */
export function readPackages(): CorpusCase[] | string {
  const entries = manifest.parse(JSON.parse(readFileSync(MANIFEST, 'utf8')));
  const missing = entries.flatMap(({ package: name, vulnerable, fixed }) =>
    [vulnerable, fixed].filter((one) => !existsSync(archiveOf(name, one))).map((one) => specOf(name, one)),
  );
  if (missing.length > 0) {
    mkdirSync(FOLDER, { recursive: true });
    const arguments_ = ['pack', '--silent', '--ignore-scripts', '--pack-destination', FOLDER, ...missing];
    const { status } = spawnSync('npm', arguments_, { encoding: 'utf8', stdio: ['ignore', 'pipe', 'pipe'] });
    if (status !== 0) return `npm cannot fetch ${missing.length} of their archives`;
  }
  return entries.map(({ package: name, kind, file, vulnerable, fixed }) => {
    const read = (one: Version) => ({
      path: `packages/${specOf(name, one)}/${file}`,
      text: fileIn(checked(name, one), file),
      places: one.lines,
    });
    return {
      name: specOf(name, vulnerable),
      group: 'packages',
      kind,
      weak: read(vulnerable),
      fixed: read(fixed),
    };
  });
}

function specOf(name: string, { version }: Version): string {
  return `${name}@${version}`;
}

function archiveOf(name: string, { version }: Version): string {
  return join(FOLDER, `${name}-${version}.tgz`);
}

function checked(name: string, one: Version): Buffer {
  const archive = readFileSync(archiveOf(name, one));
  const integrity = `sha512-${createHash('sha512').update(archive).digest('base64')}`;
  if (integrity !== one.integrity) throw new Error(`${specOf(name, one)} is not the archive of the manifest`);
  return archive;
}

/** In bytes: each member of an archive has a header of one block, and is padded to whole blocks. */
const BLOCK = 512;

/** A file of an archive of npm. Its members are in one folder, whose name old archives choose freely. */
function fileIn(archive: Buffer, wanted: string): string {
  const data = gunzipSync(archive);
  for (let at = 0; at + BLOCK <= data.length; ) {
    const text = (from: number, to: number) =>
      data.toString('utf8', at + from, at + to).replace(/\0[\s\S]*$/, '');
    const size = Number.parseInt(text(124, 136), 8) || 0;
    if (text(0, 100).replace(/^[^/]*\//, '') === wanted)
      return data.toString('utf8', at + BLOCK, at + BLOCK + size);
    at += BLOCK + Math.ceil(size / BLOCK) * BLOCK;
  }
  throw new Error(`an archive has no file ${wanted}`);
}
