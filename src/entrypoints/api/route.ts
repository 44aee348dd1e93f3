import { z } from 'zod';
import type { ApiScope } from '../../domain/api-token/api-token.ts';
import type { Pages } from '../../messages/run/evidence.ts';
import type { BeginningOfRun, ReadTx } from '../../ports/storage.ts';
import type { Visible } from '../../ports/visible.ts';

/** What the answer to a request is made from. */
interface Asked<Path, Query> {
  path: Path;
  query: Query;
  read: ReadTx;
  visible: Visible;
  /** Also sees what concerns no repository. */
  isOperator: boolean;
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
  /** Only of what is followed by server-sent events: differs when the answer may have changed, and costs little. */
  stamp?(asked: Pick<Asked<z.infer<Path>, z.infer<Query>>, 'path' | 'read'>): Promise<string | undefined>;
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

export const pageLimit = z.coerce
  .number()
  .int()
  .min(1)
  .max(MAX_LIMIT)
  .default(LIMIT)
  .describe('How many to return.');

/** Where a list goes on, as `cursorOf` wrote it. It names only a place in an order, so a made-up one shows nothing else. */
export function pageCursor<Position>(position: z.ZodType<Position>) {
  return z
    .string()
    .max(200)
    .transform((text, context): Position => {
      const found = position.safeParse(jsonIn(Buffer.from(text, 'base64url').toString('utf8')));
      if (found.success) return found.data;
      context.addIssue({ code: 'custom', message: 'is not the `next` of a page before' });
      return z.NEVER;
    })
    .optional()
    .describe('`next` of the page before.');
}

function jsonIn(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

export function cursorOf(...position: (string | number)[]): string {
  return Buffer.from(JSON.stringify(position)).toString('base64url');
}

/** Where a list of runs goes on. */
export const runPosition = z
  .tuple([z.iso.datetime(), z.string()])
  .transform(([at, id]) => ({ createdAt: new Date(at), id }));

export function runCursorOf({ createdAt, id }: BeginningOfRun): string {
  return cursorOf(createdAt.toISOString(), id);
}

/** A page of a list. */
export function pageOf<Item extends z.ZodType>(item: Item) {
  return z.strictObject({
    items: z.array(item),
    /** The cursor of the next page; `null` on the last one. */
    next: z.string().nullable(),
  });
}
