import { type RawBuilder, sql } from 'kysely';
import type { Visible } from '../../ports/visible.ts';
import { isOneOf } from './dialect.ts';

/** Whether a row's repository is one of those, however many there are: one parameter, and one text for the statement. */
export function visibleIn({ ids }: Pick<Visible, 'ids'>, column: RawBuilder<unknown>): RawBuilder<boolean> {
  return ids === undefined ? sql<boolean>`TRUE` : isOneOf(column, ids);
}
