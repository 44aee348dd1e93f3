import type { Log } from '../../core/log.ts';
import { failedChecks, publicNames } from '../../entrypoints/webhook/readiness.ts';
import type { EngineReports } from '../../entrypoints/webhook/server.ts';
import type { AppHealth, EngineHealth } from '../../ports/app-health.ts';

/** What Studio shows operators of the app that it belongs to: the same checks as `/readyz`, and the engine's report. */
export async function appHealth(
  {
    check,
    engine,
    health,
  }: {
    /** Rejects if nothing can be recorded. */
    check(): Promise<void>;
    engine: Pick<EngineReports, 'readiness' | 'silentMs'>;
    health(): Promise<EngineHealth>;
  },
  log: Log,
): Promise<AppHealth> {
  const [own, readiness, report] = await Promise.all([
    failedChecks({ database: check }, log),
    engine.readiness(),
    health(),
  ]);
  return {
    failures: [...new Set([...publicNames(own), ...readiness.failures])],
    warnings: readiness.warnings,
    silentMs: engine.silentMs(),
    engine: report,
  };
}
