import type { z } from 'zod';
import { CountersignError, messageOf } from '../../core/errors.ts';
import { unpackJson } from './packed-json.ts';

/** A time as the tables store it. */
export function toText(date: Date): string;
export function toText(date: Date | null): string | null;
export function toText(date: Date | null): string | null {
  return date === null ? null : date.toISOString();
}

/** @throws RangeError if the text is not a time */
export function toDate(text: string): Date {
  const date = new Date(text);
  if (Number.isNaN(date.getTime())) throw new RangeError(`"${text}" is not a time`);
  return date;
}

export function toDateOrNull(text: string | null): Date | null {
  return text === null ? null : toDate(text);
}

/** Does not validate JSON, for what was validated before it was stored. */
export function parseJson<T>(text: string): T {
  return JSON.parse(unpackJson(text)) as T;
}

/** Validates JSON that may contain data from outside, or from another version. */
export function fromJson<T>(schema: z.ZodType<T>, text: string): T {
  return schema.parse(parseJson(text));
}

export function fromJsonOrNull<T>(schema: z.ZodType<T>, text: string | null): T | null {
  return text === null ? null : fromJson(schema, text);
}

export function toJsonOrNull(value: unknown): string | null {
  return value === null ? null : JSON.stringify(value);
}

/**
 * Converts a row, and names the row if that fails. An unreadable row means a damaged database or one of
 * another version, and its owner needs to know which row.
 */
export function reading<T>(table: string, id: string | number, read: () => T): T {
  try {
    return read();
  } catch (error) {
    throw new CountersignError(
      'storage.unreadable_row',
      `The row ${id} of the table ${table} cannot be read: ${messageOf(error)}`,
      { cause: error },
    );
  }
}

/**
 * What can be read, for lists: one damaged row must not hide the others.
 * @param onDamaged gets the error of each that cannot; without it, the first is thrown
 */
export async function readable<T>(
  read: () => T | Promise<T>,
  onDamaged: ((error: CountersignError) => void) | undefined,
): Promise<T | undefined> {
  try {
    return await read();
  } catch (error) {
    if (!onDamaged || !(error instanceof CountersignError) || error.code !== 'storage.unreadable_row')
      throw error;
    onDamaged(error);
    return undefined;
  }
}

/** @throws CountersignError if a required row was not found */
export function mustExist(found: boolean, table: string, id: string | number): void {
  if (!found) throw new CountersignError('storage.no_such_row', `The table ${table} has no row ${id}.`);
}
