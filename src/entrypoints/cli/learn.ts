import { CountersignError } from '../../core/errors.ts';
import { mostlyAccepted } from '../../domain/outcome/learn.ts';
import { hiddenRules } from '../../domain/outcome/learned.ts';
import { unseenRepository } from '../../messages/cli/cli.ts';
import { forgottenText, learnedText, nothingToForget, snippet } from '../../messages/cli/learn.ts';
import type { Storage } from '../../ports/storage.ts';
import { Visible } from '../../ports/visible.ts';
import { type Context, type DatabaseOption, type Output, UsageError } from './context.ts';

export interface LearnOptions extends DatabaseOption {
  repo?: string;
  /** A rule. */
  forget?: string;
}

const MOST_REPOSITORIES = 10_000;

export function learn(context: Context, options: LearnOptions): Promise<Output> {
  const { forget: rule, repo } = options;
  if (rule === undefined) return list(context, options);
  if (repo === undefined) throw new UsageError('--forget needs the repository: --repo <owner/name>');
  return forget(context, { ...options, rule, repo });
}

function list({ tools }: Context, { repo, database }: LearnOptions): Promise<Output> {
  return tools.withDatabase(database, 'read', async ({ read }) => {
    const id = repo === undefined ? undefined : await idOf({ read }, repo);
    const [found, accepted] = [await read.acceptedFindings.found(id), await read.acceptedFindings.byRule(id)];
    const names = new Map(
      (await read.insight.repositories(Visible.everything(), MOST_REPOSITORIES)).map((one) => [
        one.id,
        one.name,
      ]),
    );
    const hidden = hiddenRules(await read.acceptedFindings.history({ repositoryId: id })).map((one) => ({
      ...one,
      repository: (one.repositoryId === id ? repo : names.get(one.repositoryId)) ?? `#${one.repositoryId}`,
    }));
    const learned = mostlyAccepted(
      found,
      accepted,
      hidden.map(({ rule }) => rule),
    );
    return {
      text: (screen) => learnedText(learned, hidden, repo, screen),
      json: learned.map(({ rule, found, accepted, by, since }) => ({
        rule,
        found,
        accepted,
        by: [...by],
        since: since.toISOString(),
        settings: snippet([{ rule }]),
        not_shown_in: hidden
          .filter((one) => one.rule === rule)
          .map((one) => ({
            repository: one.repository,
            up_to: one.upTo,
            accepted_on: one.acceptedOn,
            found_on: one.foundOn,
          })),
      })),
    };
  });
}

/** What people accepted of the rule hides nothing any more. The next reviews show its findings. */
function forget(
  { clock, tools }: Context,
  { repo, rule, database }: { repo: string; rule: string } & DatabaseOption,
): Promise<Output> {
  return tools.withDatabase(database, 'write', async (storage) => {
    const repositoryId = await idOf(storage, repo);
    return storage.transaction(async (tx) => {
      const [history] = await tx.acceptedFindings.history({ repositoryId, rules: [rule] });
      if (!history) throw new CountersignError('cli.nothing_learned', nothingToForget(rule, repo));
      const on = new Set(history.accepted.map(({ pullRequest }) => pullRequest)).size;
      await tx.acceptedFindings.forget({ repositoryId, rule }, null, clock.now());
      await tx.audit.record({
        kind: 'rule.forgotten',
        by: { kind: 'operator' },
        repository: { id: repositoryId, name: repo },
        pull_request: null,
        head_sha: null,
        base_ref: null,
        configuration_sha: null,
        run_id: null,
        rule,
        pull_requests: on,
      });
      return { text: forgottenText(rule, repo, on), json: { repository: repo, rule, accepted_on: on } };
    });
  });
}

async function idOf({ read }: Pick<Storage, 'read'>, repository: string): Promise<number> {
  const [run] = await read.runs.list({ repository, limit: 1 });
  if (!run) throw new CountersignError('cli.unknown_repository', unseenRepository(repository));
  return run.repositoryId;
}
