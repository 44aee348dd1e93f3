import { CountersignError } from '../../core/errors.ts';
import type { Answer, Context, ServeOptions } from './context.ts';

/** Returns once the app listens; the process then lives for as long as the app does. */
export async function serve({ tools }: Context, options: ServeOptions): Promise<Answer> {
  const started = await tools.serve(options);
  if (!started.ok) throw new CountersignError(started.code, started.message.trimEnd());
  return { ran: true, failed: false };
}
