import type { RuleName } from '../../domain/skill/analyzer-rules.ts';
import type { RuleWords } from './rule-words.ts';

/**
 * Only rules about data loss block a merge. For the others, the people who know the application's tables can
 * judge better.
 */
export const SQL_MIGRATIONS: Readonly<Record<RuleName<'sql-migrations'>, RuleWords>> = {
  'drop-database': {
    severity: 'critical',
    category: 'correctness',
    description: 'A whole database or schema is dropped, with everything in it.',
    suggestion: 'Drop it by hand once nothing uses it and a backup was restored to see that it can be.',
  },
  'drop-table': {
    severity: 'high',
    category: 'correctness',
    description: 'A table is dropped, and its rows cannot be brought back by undoing the migration.',
    suggestion: 'Stop using the table in a release of its own, rename or archive it, and drop it later.',
  },
  'drop-column': {
    severity: 'high',
    category: 'correctness',
    description: 'A column is dropped: its values are lost, and code that still runs and reads it fails.',
    suggestion: 'Stop reading and writing the column in a release before the one that drops it.',
  },
  truncate: {
    severity: 'high',
    category: 'correctness',
    description: 'Every row of a table is deleted.',
    suggestion: 'Delete only the rows that are meant, by a condition.',
  },
  'delete-all': {
    severity: 'high',
    category: 'correctness',
    description: 'Rows are deleted without a condition.',
    suggestion: 'Add the condition that was meant, and delete in batches where there are many rows.',
  },
  'update-all': {
    severity: 'medium',
    category: 'correctness',
    description:
      'Every row of a table is written in one statement, which locks all of them until it is done.',
    suggestion: 'Add the condition that was meant, or write the rows in batches outside of the migration.',
  },
  cascade: {
    severity: 'medium',
    category: 'correctness',
    description:
      '`CASCADE` takes everything that depends on the object with it, whatever that is in production.',
    suggestion: 'Name each object that is to go.',
  },
  'not-null-without-default': {
    severity: 'high',
    category: 'correctness',
    description:
      'A column that must not be null is added without a default, which fails as soon as the table has a row.',
    suggestion: 'Add it with a default, or add it nullable, fill it, and forbid nulls afterwards.',
  },
  'set-not-null': {
    severity: 'medium',
    category: 'correctness',
    description: 'Forbidding nulls reads the whole table while nobody else may use it.',
    suggestion: 'Add a `CHECK (… IS NOT NULL) NOT VALID` constraint, validate it, and set `NOT NULL` then.',
  },
  'change-type': {
    severity: 'medium',
    category: 'correctness',
    description:
      'Changing the type of a column usually rewrites the table while nobody else may use it, and may lose values.',
    suggestion: 'Add a column of the new type, copy the values in batches, and switch over.',
  },
  rename: {
    severity: 'medium',
    category: 'correctness',
    description: 'Renaming breaks the code that still runs with the old name.',
    suggestion: 'Add the new name beside the old one, move the code over, and remove the old one later.',
  },
  'index-locks-writes': {
    severity: 'medium',
    category: 'correctness',
    description:
      'An index is made or dropped without `CONCURRENTLY`, so nobody can write to its table meanwhile.',
    suggestion: 'Use `CONCURRENTLY`, outside of a transaction.',
  },
  'concurrently-in-transaction': {
    severity: 'medium',
    category: 'correctness',
    description: '`CONCURRENTLY` stands in a transaction, where PostgreSQL refuses it.',
    suggestion: 'Give the index a migration of its own that runs without a transaction.',
  },
  'constraint-scans-table': {
    severity: 'medium',
    category: 'correctness',
    description:
      'A constraint is added in one step, which reads the whole table while nobody else may write to it.',
    suggestion: 'Add it as `NOT VALID`, and validate it in a statement after that.',
  },
  'unique-locks-table': {
    severity: 'medium',
    category: 'correctness',
    description: 'A unique or primary key makes its index while nobody else may use the table.',
    suggestion: 'Make a unique index `CONCURRENTLY` first, and add the constraint `USING INDEX`.',
  },
  'explicit-lock': {
    severity: 'medium',
    category: 'correctness',
    description: 'A table is locked by hand, and everybody else waits until the transaction ends.',
    suggestion: 'Leave the lock out, or set a short `lock_timeout` before it.',
  },
  'rewrites-table': {
    severity: 'medium',
    category: 'correctness',
    description: 'The table or its indexes are rewritten while nobody else may use them.',
    suggestion: 'Do it by hand in a quiet hour, or with a tool that works beside the application.',
  },
  'row-security-off': {
    severity: 'high',
    category: 'security',
    description:
      'Row level security is switched off, so everybody who may read the table reads all of its rows.',
    suggestion: 'Keep it on, and change the policies.',
  },
  'grant-to-everybody': {
    severity: 'medium',
    category: 'security',
    description: 'A right is given to every user of the database.',
    suggestion: 'Give it to the role that needs it.',
  },
  'dynamic-sql': {
    severity: 'low',
    category: 'correctness',
    description: 'A statement is put together when the migration runs, so nobody can read here what it does.',
    suggestion: 'Write the statement out where that is possible.',
  },
  'no-rollback': {
    severity: 'low',
    category: 'correctness',
    description: 'The migration does not say how it is undone.',
    suggestion: 'Add the way back, even if it only says why there is none.',
  },
  unreadable: {
    severity: 'high',
    category: 'correctness',
    description:
      'From here on, databases differ in what is code and what is text, so the rest could not be checked.',
    suggestion: 'End the quotation or comment, and double a quote instead of putting a backslash before it.',
  },
};
