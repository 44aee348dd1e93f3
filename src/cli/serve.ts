import { CountersignError } from '../core/errors.ts';
import type { Answer, Context, DatabaseOption } from './context.ts';

/** Returns once the app listens; the process then lives for as long as the app does. */
export async function serve({ tools }: Context, { database }: DatabaseOption): Promise<Answer> {
  const started = await tools.serve(database);
  if (!started.ok) throw new CountersignError(started.code, started.message.trimEnd());
  return { ran: true, failed: false };
}
