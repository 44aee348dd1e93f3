import { z } from 'zod';
import { readReport } from '../../../engine/runs/read-report.ts';
import { reportJson, reportJsonSchema } from '../../../messages/cli/report-json.ts';
import { cursorOf, NO_QUERY, pageCursor, pageLimit, pageOf, type Route, route } from '../route.ts';

const DAY_MS = 86_400_000;
const DAYS = 30;
const MAX_DAYS = 90;

const position = z
  .tuple([z.string(), z.int()])
  .transform(([repository, repositoryId]) => ({ repository, repositoryId }));

/** How each repository fares. */
export const REPORT_ROUTES: readonly Route[] = [
  route({
    at: '/report',
    id: 'reportRepositories',
    about:
      'For each repository, by name: its rollout, the errors of its configuration, how runs ended, and how long people took to answer.',
    scope: 'read',
    path: NO_QUERY,
    query: z.strictObject({
      limit: pageLimit,
      cursor: pageCursor(position),
      days: z.coerce
        .number()
        .int()
        .min(1)
        .max(MAX_DAYS)
        .default(DAYS)
        .describe('The period: so many days, with today.'),
      organisation: z.string().optional().describe('The login of the owner.'),
      repository: z.string().optional().describe('`owner/name`.'),
    }),
    answer: pageOf(reportJsonSchema),
    async handle({ query: { limit, cursor, days, organisation, repository }, read, visible, now }) {
      const since = new Date(now.getTime() - (days - 1) * DAY_MS);
      const { reports, next } = await readReport(
        read,
        { visible, owner: organisation, repository, since },
        { after: cursor, limit },
      );
      return {
        items: reports.map(reportJson),
        next: next ? cursorOf(next.repository, next.repositoryId) : null,
      };
    },
  }),
];
