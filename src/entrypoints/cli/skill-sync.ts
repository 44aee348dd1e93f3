import { addressOf } from '../../domain/skill/index-address.ts';
import { notAnIndex, syncText } from '../../messages/cli/skill-sync.ts';
import { syncSkills } from '../../skills/catalogue/sync/sync.ts';
import { type Context, type DatabaseOption, type Output, UsageError } from './context.ts';

export interface SkillSyncOptions extends DatabaseOption {
  force?: boolean;
  prune?: boolean;
}

/** For everything, in milliseconds. What is not loaded by then is rejected. */
const TIMEOUT_MS = 300_000;

/** Works while the app runs. The app uses the result from its next event. */
export async function skillSync(
  { clock, tools }: Context,
  url: string,
  { database, force = false, prune = false }: SkillSyncOptions,
): Promise<Output> {
  const index = addressOf(url);
  if ('because' in index) throw new UsageError(notAnIndex(index.because));
  const { builtIn, shipped } = await tools.skills();
  const reserved = [...builtIn, ...shipped.map(({ name }) => name)];
  return tools.withDatabase(database, 'write', async (storage) => {
    const signal = AbortSignal.timeout(TIMEOUT_MS);
    const report = await syncSkills(index, { storage, clock, reserved }, { force, prune, signal });
    return {
      text: (screen) => syncText(report, screen),
      json: report,
      failed: report.state === 'unusable' || report.skills.some(({ status }) => status === 'refused'),
    };
  });
}
