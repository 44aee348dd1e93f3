import { redactValue } from '../../core/redact/redact.ts';
import type { AuditLine } from '../../domain/audit/entry.ts';
import type { Context, DatabaseOption, Result } from './context.ts';
import type { Since } from './options.ts';

export interface AuditExportOptions extends DatabaseOption {
  since?: Since;
  repo?: string;
}

const PAGE = 1_000;

/** Writes page by page, because the log is never pruned and can be larger than the memory. */
export function auditExport(
  { clock, tools, write }: Context,
  { since, repo, database }: AuditExportOptions,
): Promise<Result> {
  const from = since && ('at' in since ? since.at : new Date(clock.now().getTime() - since.agoMs));
  const filter = {
    ...(from === undefined ? {} : { since: from }),
    ...(repo === undefined ? {} : { repository: repo }),
  };
  return tools.withDatabase(database, 'read', async ({ read }) => {
    for (let after = 0; ; ) {
      const page = await read.audit.page({ after, limit: PAGE, ...filter });
      const last = page.at(-1);
      if (!last) return { ran: true, failed: false };
      await write(page.map((line) => `${JSON.stringify(redactValue(exported(line)))}\n`).join(''));
      after = last.id;
    }
  });
}

function exported({ id, at, kind, entry }: AuditLine) {
  return { id, at: at.toISOString(), kind, ...entry };
}
