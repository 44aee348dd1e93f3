import type { AuditEntry, AuditLine } from '../domain/audit/entry.ts';

/**
 * What people and this app did, for whoever has to account for it. Lines are added in the transaction of the fact that they record;
 * the database refuses to change or remove one. Secrets in them are hidden.
 */
export interface AuditLog {
  /** @param onceKey names what can happen only once: a second entry under it is left out. */
  record(entry: AuditEntry, onceKey?: string): Promise<void>;
  /** The digest of the configuration that was last recorded for a base branch. */
  lastConfiguration(repositoryId: number, baseRef: string): Promise<string | undefined>;
  /**
   * Lines in the order in which they were added, beginning after the given id (from 0). A repository is found under every name that
   * it had.
   */
  page(page: { after: number; limit: number; since?: Date; repository?: string }): Promise<AuditLine[]>;
}
