import type { BeginningOfRun } from '../../ports/storage.ts';

/** The run that a page of a list ends with, for the address of the next page. */
export function cursorOf({ createdAt, id }: BeginningOfRun): string {
  return `${createdAt.toISOString()}_${id}`;
}

/** It names only a place in an order, so a made-up one shows nothing else. `undefined` if it is none. */
export function positionOf(cursor: string | undefined): BeginningOfRun | undefined {
  const [, at = '', id = ''] = /^([0-9T:.Z-]{24})_(\w{1,60})$/.exec(cursor ?? '') ?? [];
  const createdAt = new Date(at);
  return Number.isNaN(createdAt.getTime()) ? undefined : { createdAt, id };
}
