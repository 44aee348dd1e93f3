import { z } from 'zod';
import type { ApiScope } from '../../domain/api-token/api-token.ts';
import type { Pages } from '../../messages/run/evidence.ts';
import type { ReadTx } from '../../ports/storage.ts';
import type { Visible } from '../../ports/visible.ts';

/** What the answer to a request is made from. */
interface Asked<Path, Query> {
  path: Path;
  query: Query;
  read: ReadTx;
  visible: Visible;
  pages: Pages;
  now: Date;
}

/** Something of the API, from which both its answers and its description are made. */
export interface Route<Path extends z.ZodObject = z.ZodObject, Query extends z.ZodObject = z.ZodObject> {
  /** As in OpenAPI: `/runs/{id}`. */
  at: string;
  /** Of the operation, for generated clients. */
  id: string;
  about: string;
  scope: ApiScope;
  path: Path;
  query: Query;
  answer: z.ZodType;
  /** `undefined`: there is none, or the caller cannot see it. */
  handle(asked: Asked<z.infer<Path>, z.infer<Query>>): Promise<unknown>;
}

/** Keeps the types of the path and the query for `handle`. */
export function route<Path extends z.ZodObject, Query extends z.ZodObject>(parts: Route<Path, Query>): Route {
  return parts as unknown as Route;
}

export const NO_QUERY = z.strictObject({});

const LIMIT = 50;
const MAX_LIMIT = 100;

/** Of a list: how much of it, and where to go on. */
export const pageQuery = {
  limit: z.coerce.number().int().min(1).max(MAX_LIMIT).default(LIMIT).describe('How many to return.'),
  cursor: z.string().max(200).optional().describe('`next` of the page before.'),
};

/** A page of a list. */
export function pageOf<Item extends z.ZodType>(item: Item) {
  return z.strictObject({
    items: z.array(item),
    /** The cursor of the next page; `null` on the last one. */
    next: z.string().nullable(),
  });
}
