import type { z } from 'zod';
import { CountersignError, messageOf } from '../../core/errors.ts';

/** A time as the tables hold it. */
export function toText(date: Date): string;
export function toText(date: Date | null): string | null;
export function toText(date: Date | null): string | null {
  return date === null ? null : date.toISOString();
}

/** @throws RangeError when the text is no time. */
export function toDate(text: string): Date {
  const date = new Date(text);
  if (Number.isNaN(date.getTime())) throw new RangeError(`"${text}" is not a time`);
  return date;
}

export function toDateOrNull(text: string | null): Date | null {
  return text === null ? null : toDate(text);
}

/** JSON that an outer hand may have shaped: it is validated again when it is read. */
export function fromJson<T>(schema: z.ZodType<T>, text: string): T {
  return schema.parse(JSON.parse(text));
}

export function fromJsonOrNull<T>(schema: z.ZodType<T>, text: string | null): T | null {
  return text === null ? null : fromJson(schema, text);
}

export function toJsonOrNull(value: unknown): string | null {
  return value === null ? null : JSON.stringify(value);
}

/**
 * Turns a row into its value, and names the row when that fails: a row that cannot be read is a damaged database or
 * one written by another version, and an error without a place would leave its owner with nothing to look at.
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

/** @throws CountersignError when a row that must be there was not. */
export function mustExist(found: boolean, table: string, id: string | number): void {
  if (!found) throw new CountersignError('storage.no_such_row', `The table ${table} has no row ${id}.`);
}
