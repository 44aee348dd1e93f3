import { CountersignError } from '../../core/errors.ts';
import type { Context, Result, ServeOptions } from './context.ts';

/** Returns once the app listens. The process then lives as long as the app. */
export async function serve({ tools }: Context, options: ServeOptions): Promise<Result> {
  const started = await tools.serve(options);
  if (!started.ok) throw new CountersignError(started.code, started.message.trimEnd());
  return { ran: true, failed: false };
}
