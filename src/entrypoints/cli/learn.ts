import { CountersignError } from '../../core/errors.ts';
import { mostlyAccepted } from '../../domain/outcome/learn.ts';
import { unseenRepository } from '../../messages/cli/cli.ts';
import { learnedText, snippet } from '../../messages/cli/learn.ts';
import type { Context, DatabaseOption, Output } from './context.ts';

export interface LearnOptions extends DatabaseOption {
  repo?: string;
}

export function learn({ tools }: Context, { repo, database }: LearnOptions): Promise<Output> {
  return tools.withDatabase(database, 'read', async ({ read }) => {
    const id =
      repo === undefined
        ? undefined
        : (await read.runs.list({ repository: repo, limit: 1 }))[0]?.repositoryId;
    if (repo !== undefined && id === undefined)
      throw new CountersignError('cli.unknown_repository', unseenRepository(repo));
    const [found, accepted] = [await read.acceptedFindings.found(id), await read.acceptedFindings.byRule(id)];
    const learned = mostlyAccepted(found, accepted);
    return {
      text: (screen) => learnedText(learned, repo, screen),
      json: learned.map(({ rule, found, accepted, by, since }) => ({
        rule,
        found,
        accepted,
        by: [...by],
        since: since.toISOString(),
        settings: snippet([{ rule }]),
      })),
    };
  });
}
