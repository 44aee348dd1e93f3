import { existsSync, readdirSync, statSync, symlinkSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { type Claim, claimToServe } from '../../src/adapters/sqlite/serving.ts';
import { claimDatabase } from '../../src/composition/serving.ts';
import { openStorage } from '../../src/composition/storage.ts';
import { systemClock } from '../../src/core/clock.ts';
import { at } from '../support/rows.ts';
import { temporaryFolders } from '../support/temp.ts';
import { useChildren } from './child.ts';

const newFolder = temporaryFolders();
const start = useChildren();
const claims: Claim[] = [];
let path: string;

beforeEach(() => {
  path = join(newFolder(), 'deep', 'countersign.db');
});
afterEach(() => {
  for (const claim of claims.splice(0)) if (claim.ok) claim.release();
});

function claim(of = path): Claim {
  const made = claimToServe(of, at(0));
  claims.push(made);
  return made;
}

describe('the claim to serve a database', () => {
  it('belongs to one process, which others can name, until it is released', { tags: 'slow' }, async () => {
    const mine = claim();
    expect(mine.ok).toBe(true);
    expect(claim()).toEqual({
      ok: false,
      holder: { pid: process.pid, host: expect.any(String), since: at(0).toISOString() },
    });
    expect(await start('claiming-process.ts', [path]).line(/./)).toBe('denied');
    if (mine.ok) mine.release();
    expect(await start('claiming-process.ts', [path]).line(/./)).toBe('claimed');
  });

  it('can be waited for, and the wait is logged once', { tags: 'slow' }, async () => {
    const first = claim();
    const told: unknown[] = [];
    const waiting = claimDatabase(`sqlite:${path}`, {
      clock: systemClock,
      timeoutMs: 60_000,
      onWait(holder) {
        told.push(holder?.pid);
        setTimeout(() => first.ok && first.release(), 250);
      },
    });
    const second = await waiting;
    claims.push(second);
    expect({ ok: second.ok, told }).toEqual({ ok: true, told: [process.pid] });
  });

  it('ends with a process that is killed, whose name is left behind', async () => {
    const other = start('claiming-process.ts', [path]);
    await other.line(/claimed/);
    expect(claim()).toMatchObject({ ok: false, holder: { pid: other.pid } });
    other.signal('SIGKILL');
    await other.ended;
    expect(existsSync(`${path}.lock.json`)).toBe(true);
    expect(claim().ok).toBe(true);
    expect(claim()).toMatchObject({ ok: false, holder: { pid: process.pid } });
  });

  it('writes nothing into its file, so that the file cannot be damaged', () => {
    claim();
    expect(readdirSync(dirname(path)).sort()).toEqual(['countersign.db.lock', 'countersign.db.lock.json']);
    expect(statSync(`${path}.lock`).size).toBe(0);
  });

  it('holds if the name of its process cannot be read', () => {
    claim();
    writeFileSync(`${path}.lock.json`, '{"pid":');
    expect(claim()).toEqual({ ok: false, holder: undefined });
  });

  it('is one for all names of the file', async () => {
    await (await openStorage(`sqlite:${path}`)).close();
    const other = join(newFolder(), 'other.db');
    symlinkSync(path, other);
    expect(claim(other).ok).toBe(true);
    expect(claim()).toMatchObject({ ok: false });
  });

  it('does not end when no code refers to it any more', async () => {
    setFlagsFromString('--expose-gc');
    const collect: () => void = runInNewContext('gc');
    claimToServe(path, at(0));
    collect();
    await new Promise((next) => setTimeout(next, 10));
    collect();
    expect(claim()).toMatchObject({ ok: false });
  });

  it('that cannot be made says what it needs', () => {
    writeFileSync(dirname(path), 'not a folder');
    expect(() => claim()).toThrow(expect.objectContaining({ code: 'storage.unavailable' }));
  });
});
