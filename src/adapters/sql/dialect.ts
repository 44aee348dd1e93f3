import {
  type BinaryOperationNode,
  type OperationNode,
  type OperationNodeSource,
  type Operator,
  OperatorNode,
  PostgresQueryCompiler,
  PrimitiveValueListNode,
  type RawBuilder,
  RawNode,
  sql,
  ValueListNode,
} from 'kysely';

/*
 * Where the SQL of SQLite and of PostgreSQL differs, both forms stand here, and nowhere else. A query contains a fragment;
 * which of its forms is in force is the business of the connection that compiles the query. Whatever both databases understand is
 * written that way in the queries: `IS NOT DISTINCT FROM`, `CASE WHEN … THEN 1 ELSE 0 END` for a flag, a name for each subquery.
 */

/** The PostgreSQL form of a compiled SQLite form. */
const postgresForms = new WeakMap<OperationNode, RawNode>();

/** Compiles the PostgreSQL form of each fragment of this file. Any other compiler sees the SQLite form. */
export class PostgresForms extends PostgresQueryCompiler {
  protected override visitRaw(node: RawNode): void {
    super.visitRaw(postgresForms.get(node) ?? node);
  }

  /** SQLite knows `IN ()`, which finds nothing. A plugin of Kysely's does the same, but it copies nodes, so no form would be found. */
  protected override visitBinaryOperation(node: BinaryOperationNode): void {
    if (hasEmptyList(node)) this.append(isOperator(node, 'in') ? 'FALSE' : 'TRUE');
    else super.visitBinaryOperation(node);
  }
}

function hasEmptyList(node: BinaryOperationNode): boolean {
  const { rightOperand: list } = node;
  const isList = PrimitiveValueListNode.is(list) || ValueListNode.is(list);
  return isList && list.values.length === 0 && (isOperator(node, 'in') || isOperator(node, 'not in'));
}

function isOperator({ operator }: BinaryOperationNode, name: Operator): boolean {
  return OperatorNode.is(operator) && operator.operator === name;
}

function either<T>(sqlite: RawBuilder<T>, postgres: RawBuilder<T>): RawBuilder<T> {
  const source: OperationNodeSource = {
    toOperationNode() {
      const node = sqlite.toOperationNode();
      const form = postgres.toOperationNode();
      if (RawNode.is(form)) postgresForms.set(node, form);
      return node;
    },
  };
  return sql<T>`${source}`;
}

const NOTHING = sql``;

/**
 * The column, but SQLite uses no index on it. Without statistics, SQLite would prefer a status, which most rows share, over a
 * list of ids. PostgreSQL has statistics.
 */
export function unindexed(column: string): RawBuilder<unknown> {
  return either(sql`+${sql.ref(column)}`, sql`${sql.ref(column)}`);
}

/** SQLite takes the tables in the given order. PostgreSQL chooses the order by its statistics. */
export const JOIN_IN_ORDER = either(sql`CROSS JOIN`, sql`JOIN`);

/** Makes SQLite read the table by this index, of which its planner does not know that it is short. */
export function indexedBy(index: string): RawBuilder<unknown> {
  return either(sql`INDEXED BY ${sql.ref(index)}`, NOTHING);
}

/** A name without regard to its case, to be compared with another such or to be sorted by. Only ASCII has case, as in names on GitHub. */
export function caseless(name: RawBuilder<unknown>): RawBuilder<string> {
  return either(sql<string>`${name} COLLATE NOCASE`, sql<string>`lower(${name} COLLATE "C")`);
}

/** The columns of a unique index on {@link caseless} names, for ON CONFLICT. */
export function uniqueCaseless(column: string): RawBuilder<unknown> {
  return either(sql`${sql.ref(column)}`, sql`lower(${sql.ref(column)} COLLATE "C")`);
}

/** Whether the text contains the pattern of LIKE, in which a backslash escapes, without regard to case. */
export function like(text: RawBuilder<unknown>, pattern: string): RawBuilder<boolean> {
  return either(
    sql<boolean>`${text} LIKE ${pattern} ESCAPE '\\'`,
    sql<boolean>`${text} ILIKE ${pattern} ESCAPE '\\'`,
  );
}

export function contains(text: RawBuilder<unknown>, part: RawBuilder<unknown>): RawBuilder<boolean> {
  return either(sql<boolean>`instr(${text}, ${part}) > 0`, sql<boolean>`strpos(${text}, ${part}) > 0`);
}

/** Whether the number is in a list, however long that is: one parameter, and one text for the statement. */
export function isOneOf(number: RawBuilder<unknown>, list: readonly number[]): RawBuilder<boolean> {
  const json = JSON.stringify(list);
  return either(
    sql<boolean>`${number} IN (SELECT value FROM json_each(${json}))`,
    sql<boolean>`${number} IN (SELECT CAST(value AS BIGINT) FROM json_array_elements_text(CAST(${json} AS JSON)) AS one (value))`,
  );
}

/** A table `wanted` with a text and a number in each row, in one parameter. */
export function pairs(list: readonly (readonly [string, number])[]): {
  rows: RawBuilder<unknown>;
  text: RawBuilder<string>;
  number: RawBuilder<number>;
} {
  const json = JSON.stringify(list);
  return {
    rows: either(
      sql`json_each(${json}) AS wanted`,
      sql`json_array_elements(CAST(${json} AS JSON)) AS wanted (value)`,
    ),
    text: sql<string>`wanted.value ->> 0`,
    number: either(sql<number>`wanted.value ->> 1`, sql<number>`CAST(wanted.value ->> 1 AS BIGINT)`),
  };
}

/** The columns as a JSON array. */
export function jsonArray(...columns: readonly RawBuilder<unknown>[]): RawBuilder<string> {
  const list = sql.join(columns);
  return either(sql<string>`json_array(${list})`, sql<string>`CAST(json_build_array(${list}) AS TEXT)`);
}

/**
 * The JSON in a column, for PostgreSQL, which reads no JSON that contains a NUL or half of a surrogate pair: each is read as U+FFFD. These are
 * the only escapes that `JSON.stringify` writes with a `u` and these digits, and a text that only looks like one stays valid JSON.
 * https://www.postgresql.org/docs/current/datatype-json.html
 */
function postgresJson(column: string): RawBuilder<unknown> {
  return sql`CAST(regexp_replace(${sql.ref(column)}, '\\\\u(0000|d[89a-f][0-9a-f]{2})', '\\\\ufffd', 'g') AS JSON)`;
}

/** A member of the JSON in a column, as a text without quotes. NULL if the JSON is packed, or has no such member. */
export function memberText(column: string, ...path: readonly string[]): RawBuilder<string> {
  const steps = path.map((name) => sql` -> ${sql.lit(name)}`);
  return either(
    sql<string>`${sql.ref(column)} ->> ${sql.lit(`$.${path.join('.')}`)}`,
    sql<string>`${postgresJson(column)}${sql.join(steps, NOTHING)} #>> '{}'`,
  );
}

/** Whether a member of the JSON in a column is `true`. */
export function memberIsTrue(column: string, member: string): RawBuilder<boolean> {
  return either(
    sql<boolean>`${sql.ref(column)} ->> ${sql.lit(`$.${member}`)} = 1`,
    sql<boolean>`${postgresJson(column)} ->> ${sql.lit(member)} = 'true'`,
  );
}

/** A member of the JSON in a column, as JSON. */
export function memberJson(column: string, member: string): RawBuilder<string> {
  return either(
    sql<string>`${sql.ref(column)} -> ${sql.lit(`$.${member}`)}`,
    sql<string>`CAST(${postgresJson(column)} -> ${sql.lit(member)} AS TEXT)`,
  );
}

/** A member of one element of an array in the JSON in a column, as JSON. @param index a column with the number of the element */
export function memberOfElement(
  column: string,
  { array, index, member }: { array: string; index: string; member: string },
): RawBuilder<string> {
  return either(
    sql<string>`${sql.ref(column)} -> (${sql.lit(`$.${array}[`)} || ${sql.ref(index)} || ${sql.lit(`].${member}`)})`,
    sql<string>`CAST(${postgresJson(column)} -> ${sql.lit(array)} -> CAST(${sql.ref(index)} AS INTEGER) -> ${sql.lit(member)} AS TEXT)`,
  );
}

/** The order in which rows were inserted, as far as the database knows it. Ids sort by time, too. */
export const IN_ORDER_OF_INSERTION = either(sql`rowid`, sql`id`);

/**
 * Moves an updated row behind all others of its table: a further assignment, with its comma. SQLite would leave a row that became
 * smaller where it is, in a page that nothing else can use: new rows have higher numbers. So the row moves to the end, and its
 * page is merged or reused. References are to `id`. PostgreSQL writes each new version of a row where there is room.
 */
export function toTheEndOf(table: string): RawBuilder<unknown> {
  return either(sql`, rowid = (SELECT max(rowid) + 1 FROM ${sql.table(table)})`, NOTHING);
}
