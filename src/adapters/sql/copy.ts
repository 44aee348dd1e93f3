import { createHash, type Hash } from 'node:crypto';
import { setImmediate } from 'node:timers/promises';
import { CountersignError } from '../../core/errors.ts';

/** The value of a column, as both databases give it. */
type Cell = string | number | null | Uint8Array;

/** The values of a row, in the order of the table's columns. */
export type Cells = readonly Cell[];

export interface CopiedTable {
  name: string;
  /** In alphabetical order, because the two databases may have them in different ones. */
  columns: readonly string[];
}

/** A database that nobody changes meanwhile. */
export interface CopySource {
  /** Distinguishes this database from others: the copy of another one cannot be continued. */
  readonly identity: string;
  readonly tables: readonly CopiedTable[];
  countRows(table: CopiedTable): number;
  /** All rows but the first ones, always in the same order. Each is read when it is asked for. */
  rows(table: CopiedTable, skip: number): Iterable<Cells>;
}

export interface CopyTarget {
  /**
   * Makes the target ready, or finds how far a copy of the same database has come.
   * @throws CountersignError `storage.not_empty` if it has rows that are not of this copy, `storage.other_copy` if they are of
   * another database
   */
  begin(source: Pick<CopySource, 'identity' | 'tables'>): Promise<Begun>;
  /** Writes rows, and in the same transaction how many of the table there are then. */
  write(table: CopiedTable, rows: readonly Cells[], reached: number): Promise<void>;
  /** The value as the target keeps it. */
  stored(cell: Cell): Cell;
  /** All rows, some at a time, in any order. */
  rows(table: CopiedTable): AsyncIterable<readonly Cells[]>;
  /** Makes the copy one that an app can serve. */
  finish(tables: readonly CopiedTable[]): Promise<void>;
}

/** `rows`: how many were copied, by the names of tables that have any. `finishedAt` is ISO 8601. */
export type Begun = { finishedAt: string } | { rows: Readonly<Record<string, number>> };

export type CopyResult =
  | { kind: 'already'; finishedAt: string }
  | {
      kind: 'copied';
      tables: number;
      rows: number;
      /** How many of the rows an earlier, interrupted copy had written. */
      before: number;
    };

type CopyStage = 'copying' | 'comparing';

/** Both bound the memory that a copy takes. The server's protocol allows 65,535 values in a statement. */
const ROWS_AT_ONCE = 500;
const BYTES_AT_ONCE = 4 * 1_048_576;

/**
 * Copies all rows, and then reads both databases and compares them. Continues a copy that was interrupted: how far it came is
 * written with the rows.
 * @throws CountersignError `storage.copy_differs` with the tables that are not the same
 */
export async function copyTables(
  source: CopySource,
  target: CopyTarget,
  onProgress: (stage: CopyStage, done: number, of: number) => void,
): Promise<CopyResult> {
  const { tables } = source;
  const begun = await target.begin(source);
  if ('finishedAt' in begun) return { kind: 'already', finishedAt: begun.finishedAt };
  const total = tables.reduce((sum, table) => sum + source.countRows(table), 0);
  const before = Object.values(begun.rows).reduce((sum, rows) => sum + rows, 0);

  let done = before;
  for (const table of tables) {
    let reached = begun.rows[table.name] ?? 0;
    for (const batch of batches(source.rows(table, reached))) {
      reached += batch.length;
      await target.write(table, batch, reached);
      done += batch.length;
      onProgress('copying', done, total);
    }
  }

  const different: string[] = [];
  let compared = 0;
  function comparing(rows: number): void {
    compared += rows;
    onProgress('comparing', compared, 2 * total);
  }

  for (const table of tables) {
    const wanted = createContent();
    for (const batch of batches(source.rows(table, 0))) {
      for (const row of batch) wanted.add(row.map((cell) => target.stored(cell)));
      comparing(batch.length);
      // The process must say in between that it still holds both databases.
      await setImmediate();
    }
    const found = createContent();
    for await (const batch of target.rows(table)) {
      for (const row of batch) found.add(row);
      comparing(batch.length);
    }
    if (wanted.digest() !== found.digest()) different.push(table.name);
  }
  if (different.length > 0) {
    throw new CountersignError(
      'storage.copy_differs',
      `The copy is not the same in ${different.join(', ')}: the database that is copied has changed since the copy began, or ` +
        'somebody has written to the other one. Copy to another, empty database.',
    );
  }
  await target.finish(tables);
  return { kind: 'copied', tables: tables.length, rows: total, before };
}

function* batches(rows: Iterable<Cells>): Iterable<readonly Cells[]> {
  let batch: Cells[] = [];
  let bytes = 0;
  for (const row of rows) {
    batch.push(row);
    bytes += row.reduce<number>((sum, cell) => sum + sizeOf(cell), 0);
    if (batch.length < ROWS_AT_ONCE && bytes < BYTES_AT_ONCE) continue;
    yield batch;
    batch = [];
    bytes = 0;
  }
  if (batch.length > 0) yield batch;
}

function sizeOf(cell: Cell): number {
  return cell === null || typeof cell === 'number' ? 8 : cell.length;
}

const MODULUS = 1n << 256n;

/**
 * The content of a table: how many rows, and the sum of their hashes. A sum, because the two databases order texts differently; not
 * an exclusive or, in which two equal rows would cancel each other.
 */
function createContent(): { add(row: Cells): void; digest(): string } {
  let rows = 0;
  let sum = 0n;
  return {
    add(row) {
      const hash = createHash('sha256');
      for (const cell of row) update(hash, cell);
      sum = (sum + BigInt(`0x${hash.digest('hex')}`)) % MODULUS;
      rows += 1;
    },
    digest: () => `${rows} ${sum}`,
  };
}

/** With the kind and the length, so that no two rows give the same bytes. */
function update(hash: Hash, cell: Cell): void {
  if (cell === null) return void hash.update('n');
  const kind = typeof cell === 'string' ? 't' : typeof cell === 'number' ? 'i' : 'b';
  const content = typeof cell === 'number' ? String(cell) : cell;
  hash.update(`${kind}${Buffer.byteLength(content)}:`).update(content);
}
