import type { RuleName } from '../../domain/skill/analyzer-rules.ts';
import { eachFile, type FileSet, type Found, type OwnFile } from './each-file.ts';
import { partsOf, type Statement, statementsOf, type Token, tokenize, wordsOf } from './sql/tokens.ts';

type Rule = RuleName<'sql-migrations'>;

/** Facts of a whole file that matter for its statements. */
interface FileFacts {
  /** False with signs of MySQL or SQLite, so that no advice for PostgreSQL appears. */
  isPostgres: boolean;
  inTransaction: boolean;
  /** Tables that the file itself creates: a lock on them blocks no other client. */
  created: ReadonlySet<string>;
}

/** Finds statements of a migration that lose data, block a running application or cannot be undone. */
export const analyze = eachFile(checkMigration);

export function checkMigration(file: OwnFile, { tree }: Pick<FileSet, 'tree'>): Found<Rule>[] {
  const { tokens, unreadable, comments } = tokenize(file.text);
  const lastLine = file.text.split('\n').length;
  const found: Found<Rule>[] =
    unreadable === undefined ? [] : [{ rule: 'unreadable', line: unreadable, endLine: lastLine }];
  // A migration's undo part is meant to drop what it created.
  if (isDown(file.path)) return found;

  const downFrom = comments.length > 0 ? downLine(file.text) : undefined;
  const statements = statementsOf(tokens).filter(({ line }) => downFrom === undefined || line < downFrom);
  const words = statements.map((statement) => wordsOf(statement.tokens));
  const facts: FileFacts = {
    isPostgres: !/`|\b(?:AUTO_?INCREMENT|ENGINE\s*=|PRAGMA)\b/i.test(file.text),
    inTransaction: words.some((text) => /^(?:BEGIN|START TRANSACTION)\b/.test(text)),
    created: new Set(statements.flatMap(({ tokens }, index) => createdTable(tokens, words[index] ?? ''))),
  };
  for (const statement of statements) found.push(...checkStatement(statement, facts));
  if (isWithoutRollback(file, downFrom, tree))
    found.push({ rule: 'no-rollback', line: 1, endLine: lastLine });
  return found;
}

function isDown(path: string): boolean {
  return /\.down\.sql$|(?:^|[/_.-])(?:rollback|revert|undo)[/_.-]|(?:^|\/)U\d[^/]*__[^/]*\.sql$|(?:^|\/)down\.sql$/i.test(
    path,
  );
}

/** The line where a file of dbmate, goose, sql-migrate or a similar tool starts to undo its changes. */
function downLine(text: string): number | undefined {
  const before = /^[ \t]*--[ \t]*(?:migrate:down|\+goose Down|\+migrate Down|!?down\b)/im.exec(text);
  return before ? text.slice(0, before.index).split('\n').length : undefined;
}

/** Only for tools whose format has a place for the undo part. */
function isWithoutRollback({ path, text }: OwnFile, downFrom: number | undefined, tree: ReadonlySet<string>) {
  if (/\.up\.sql$/i.test(path)) return !tree.has(path.replace(/\.up\.sql$/i, '.down.sql'));
  if (/(?:^|\/)up\.sql$/.test(path)) return !tree.has(path.replace(/up\.sql$/, 'down.sql'));
  return /^[ \t]*--[ \t]*(?:migrate:up|\+goose Up|\+migrate Up)\b/im.test(text) && downFrom === undefined;
}

function createdTable(tokens: readonly Token[], words: string): string[] {
  if (!/^CREATE (?:(?:GLOBAL|LOCAL|TEMP|TEMPORARY|UNLOGGED) )*TABLE\b/.test(words)) return [];
  const at = tokens.findIndex(({ value }) => value === 'TABLE') + 1;
  return [nameAt(tokens, words.includes('TABLE IF NOT EXISTS') ? at + 3 : at)];
}

/** A table's name without its schema, in lower case. */
function nameAt(tokens: readonly Token[], at: number): string {
  let name = tokens[at]?.value ?? '';
  for (let next = at + 1; tokens[next]?.value === '.'; next += 2) name = tokens[next + 1]?.value ?? '';
  return name.toLowerCase();
}

function checkStatement(statement: Statement, facts: FileFacts): Found<Rule>[] {
  const { tokens, line, endLine } = statement;
  const words = wordsOf(tokens);
  const at = (rule: Rule): Found<Rule> => ({ rule, line, endLine });
  const is = (pattern: RegExp) => pattern.test(words);
  const found: Found<Rule>[] = [];

  if (is(/^DROP (?:DATABASE|SCHEMA)\b/)) found.push(at('drop-database'));
  if (is(/^DROP TABLE\b/)) found.push(at('drop-table'));
  if (is(/^DROP\b.* CASCADE\b/) || is(/^TRUNCATE\b.* CASCADE\b/)) found.push(at('cascade'));
  if (is(/^TRUNCATE\b/)) found.push(at('truncate'));
  if (is(/^(?:WITH\b.*)?\bDELETE FROM\b/) && !is(PARTIAL_CONDITION)) found.push(at('delete-all'));
  if (is(/^(?:WITH\b.*\) )?UPDATE\b.* SET\b/) && !is(PARTIAL_CONDITION)) found.push(at('update-all'));
  if (is(/^LOCK\b/)) found.push(at('explicit-lock'));
  if (is(/^VACUUM\b.*\bFULL\b/) || is(/^CLUSTER\b/)) found.push(at('rewrites-table'));
  if (is(/^REINDEX\b/) && !is(/\bCONCURRENTLY\b/)) found.push(at('rewrites-table'));
  if (is(/^GRANT\b.* TO (?:GROUP )?PUBLIC\b/)) found.push(at('grant-to-everybody'));
  if (is(/^(?:RENAME TABLE|ALTER (?:VIEW|TYPE|SCHEMA)\b.* RENAME)\b/)) found.push(at('rename'));
  if (is(/^(?:EXECUTE (?!FUNCTION|PROCEDURE)|PREPARE\b.* FROM)/)) found.push(at('dynamic-sql'));
  found.push(...checkIndex(statement, words, facts));
  if (is(/^ALTER TABLE\b/)) found.push(...checkAlter(statement, facts));
  // The body of a DO block runs immediately; that of a function later, if at all.
  if (is(/^DO\b/)) {
    for (const body of tokens.filter(({ kind }) => kind === 'string')) {
      found.push(...checkBody(body, facts));
    }
  }
  return found;
}

function checkIndex({ tokens, line, endLine }: Statement, words: string, facts: FileFacts): Found<Rule>[] {
  if (!facts.isPostgres || !/^(?:CREATE (?:UNIQUE )?|DROP )INDEX\b/.test(words)) return [];
  if (/\bINDEX CONCURRENTLY\b/.test(words)) {
    return facts.inTransaction ? [{ rule: 'concurrently-in-transaction', line, endLine }] : [];
  }
  const on = tokens.findIndex(({ kind, value }) => kind === 'word' && value === 'ON');
  const table = nameAt(tokens, tokens[on + 1]?.value === 'ONLY' ? on + 2 : on + 1);
  return on >= 0 && facts.created.has(table) ? [] : [{ rule: 'index-locks-writes', line, endLine }];
}

function checkAlter({ tokens }: Statement, facts: FileFacts): Found<Rule>[] {
  const named = tokens.findIndex(
    ({ value }, index) => index > 1 && !['IF', 'EXISTS', 'ONLY'].includes(value),
  );
  const isNew = facts.created.has(nameAt(tokens, named));
  const from = tokens.findIndex(
    ({ kind, value }, index) => index > named && kind === 'word' && ALTERATION.has(value),
  );
  if (from < 0) return [];
  return partsOf(tokens.slice(from)).flatMap((part) => {
    const [line, endLine] = [part[0]?.line ?? 1, part.at(-1)?.line ?? 1];
    return alteration(wordsOf(part), isNew, facts).map((rule) => ({ rule, line, endLine }));
  });
}

/** A condition that excludes some rows. */
const PARTIAL_CONDITION = /\bWHERE (?!(?:TRUE|1 = 1)$)/;

const ALTERATION = new Set(['ADD', 'DROP', 'ALTER', 'RENAME', 'MODIFY', 'CHANGE', 'DISABLE', 'NO', 'SET']);
const NOT_A_COLUMN =
  /^(?:ADD|DROP) (?:CONSTRAINT|INDEX|KEY|PRIMARY|FOREIGN|UNIQUE|CHECK|PARTITION|FULLTEXT|SPATIAL)\b/;
const HAS_A_VALUE = /\b(?:DEFAULT|GENERATED|IDENTITY|SERIAL|BIGSERIAL|SMALLSERIAL|AUTO_INCREMENT)\b/;

/** The findings on one part of an ALTER TABLE. */
function alteration(words: string, isNew: boolean, { isPostgres }: FileFacts): Rule[] {
  const is = (pattern: RegExp) => pattern.test(words);
  const isColumn = !NOT_A_COLUMN.test(words);
  const rules: Rule[] = [];
  if (is(/^DROP\b/) && isColumn) rules.push('drop-column');
  if (is(/^DROP\b.* CASCADE$/)) rules.push('cascade');
  if (is(/^RENAME\b/) || is(/^CHANGE\b/)) rules.push('rename');
  if (is(/^(?:DISABLE|NO FORCE) ROW LEVEL SECURITY/)) rules.push('row-security-off');
  if (isNew) return rules;
  if (is(/^ADD\b/) && isColumn && is(/\bNOT NULL\b/) && !is(HAS_A_VALUE))
    rules.push('not-null-without-default');
  if (is(/^ALTER\b.* SET NOT NULL\b/)) rules.push('set-not-null');
  if (is(/^ALTER\b.* TYPE\b/) || is(/^(?:MODIFY|CHANGE)\b/)) rules.push('change-type');
  const isUnique = /^ADD (?:CONSTRAINT \S+ )?(?:UNIQUE|PRIMARY KEY)\b/;
  if (isPostgres && is(isUnique) && !is(/\bUSING INDEX\b/)) rules.push('unique-locks-table');
  const isChecked = /^ADD (?:CONSTRAINT \S+ )?(?:FOREIGN KEY|CHECK)\b/;
  if (isPostgres && is(isChecked) && !is(/\bNOT VALID$/)) rules.push('constraint-scans-table');
  return rules;
}

const BLOCK_WORDS = new Set(['BEGIN', 'THEN', 'ELSE', 'LOOP', 'DECLARE']);

/** The statements in a block of procedural SQL, without the keywords around them. */
function checkBody(body: Token, facts: FileFacts): Found<Rule>[] {
  const { tokens, unreadable } = tokenize(body.value, body.line);
  const inner = statementsOf(tokens).flatMap(({ tokens: all, line, endLine }) => {
    const start = all.findLastIndex(({ kind, value }) => kind === 'word' && BLOCK_WORDS.has(value)) + 1;
    const [first] = all.slice(start);
    return first ? [{ tokens: all.slice(start), line: Math.max(line, first.line), endLine }] : [];
  });
  const found = inner.flatMap((statement) => checkStatement(statement, facts));
  return unreadable === undefined ? found : [...found, { rule: 'unreadable', line: unreadable }];
}
