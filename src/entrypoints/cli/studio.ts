import type { Context, Result, StudioOptions } from './context.ts';

/** Returns once Studio listens. The process then lives until a signal. */
export async function studio({ tools }: Context, options: StudioOptions): Promise<Result> {
  await tools.studio(options);
  return { ran: true, failed: false };
}
