import type { OutagePolicy } from '../../engine/jobs/outage-policy.ts';
import { failedChecks, publicNames } from '../../entrypoints/webhook/readiness.ts';
import { MERGING_IS_OFF, signInWaits } from '../../entrypoints/webhook/refusals.ts';
import type { EngineReports } from '../../entrypoints/webhook/server.ts';
import type { Platform } from '../platform.ts';

/** What the engine says about itself to whoever answers requests. */
export function engineReports(
  { config, storage, github, metrics, clock, log }: Platform,
  outagePolicy: OutagePolicy,
): Omit<EngineReports, 'silentMs'> {
  const isOff = config.merging === 'off';
  return {
    async metrics() {
      await metrics.collect({
        storage,
        clock,
        log,
        rateLimits: github.rateLimits,
        signedOut: github.signedOut,
        waitingForGitHub: outagePolicy.waiting,
      });
      return metrics.registry.metrics();
    },
    async readiness() {
      const failures = await failedChecks({ database: () => storage.check() }, log);
      return {
        failures: publicNames(failures),
        warnings: [...(isOff ? [MERGING_IS_OFF] : []), ...github.signedOut().map(signInWaits)],
      };
    },
  };
}
