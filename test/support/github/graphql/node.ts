import type { Selection } from './parse.ts';

/** An object of GitHub's graph: the answer of each field. A query cannot use other fields. */
export interface Node {
  readonly type: string;
  readonly fields: Readonly<Record<string, (args: Selection['args'], alias: string) => Value>>;
}
type Value = string | number | boolean | null | Node | readonly (Node | null)[];

/** GitHub's GraphQL answers with the status 200 and reports errors beside the data. */
export class GraphqlError extends Error {
  readonly type: string;
  /** The field of the error. */
  readonly path: readonly (string | number)[];

  constructor(type: string, message: string, path: readonly (string | number)[] = []) {
    super(message);
    this.name = 'GraphqlError';
    this.type = type;
    this.path = path;
  }
}

/** The value of the selections. @throws GraphqlError for a field that the schema does not have. */
export function select(node: Node, selections: readonly Selection[]): Record<string, unknown> {
  return Object.fromEntries(
    selections.map(({ name, alias, args, selections: inner }) => {
      if (name === '__typename') return [alias, node.type];
      const field = node.fields[name];
      if (!field)
        throw new GraphqlError('undefinedField', `Field '${name}' doesn't exist on type '${node.type}'`);
      const value = field(args, alias);
      return [alias, isList(value) ? value.map((one) => one && select(one, inner)) : picked(value, inner)];
    }),
  );
}

function picked(value: Exclude<Value, readonly (Node | null)[]>, selections: readonly Selection[]): unknown {
  return typeof value === 'object' && value !== null ? select(value, selections) : value;
}

function isList(value: Value): value is readonly (Node | null)[] {
  return Array.isArray(value);
}

/** A page of a list. GitHub requires a number of entries, and gives at most 100. */
export function connection<T>(
  of: string,
  field: string,
  items: readonly T[],
  args: Selection['args'],
  view: (item: T) => Node,
): Node {
  const { first, last } = args;
  if (typeof last === 'number') return connection(of, field, items.slice(-last), { first: last }, view);
  if (typeof first !== 'number')
    throw new GraphqlError(
      'MISSING_PAGINATION_BOUNDARIES',
      `You must provide a \`first\` or \`last\` value to properly paginate the \`${field}\` connection.`,
    );
  if (first > 100)
    throw new GraphqlError(
      'EXCESSIVE_PAGINATION',
      `Requesting ${first} records on the \`${field}\` connection exceeds the \`first\` limit of 100 records.`,
    );
  const from = Number(args.after ?? 0);
  const end = Math.min(from + first, items.length);
  return {
    type: `${of}Connection`,
    fields: {
      totalCount: () => items.length,
      nodes: () => items.slice(from, end).map(view),
      pageInfo: () => ({
        type: 'PageInfo',
        fields: { hasNextPage: () => end < items.length, endCursor: () => (end > from ? String(end) : null) },
      }),
    },
  };
}
