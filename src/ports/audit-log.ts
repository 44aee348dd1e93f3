import type { AuditEntry, AuditLine } from '../domain/audit/entry.ts';

/**
 * The actions of people and of this app, for accountability. An entry is added in the transaction of the fact
 * that it records. The database refuses to change or delete entries. They are redacted.
 */
export interface AuditLog {
  /**
   * @param onceKey identifies a fact that can happen only once; a second entry with the same key is ignored
   */
  record(entry: AuditEntry, onceKey?: string): Promise<void>;
  /** The configuration digest that was last recorded for a base branch. */
  lastConfiguration(repositoryId: number, baseRef: string): Promise<string | undefined>;
  /**
   * Entries in the order in which they were added, after the given id (from 0). A repository is found under
   * all its former names.
   */
  page(page: { after: number; limit: number; since?: Date; repository?: string }): Promise<AuditLine[]>;
}
