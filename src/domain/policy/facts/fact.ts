import type { Json } from '../../../core/canonical.ts';

/**
 * The facts of a pull request that criteria can read as `pr.<name>`. `from` is the source to read. `settled`
 * means that the fact cannot change while the head is the same, so waiting for another value is pointless.
 */
export const PR_FACTS = {
  changed_paths: { from: 'files', settled: true },
  changed_files: { from: 'files', settled: true },
  additions: { from: 'files', settled: true },
  deletions: { from: 'files', settled: true },
  labels: { from: 'pull_request', settled: false },
  author: { from: 'pull_request', settled: true },
  association: { from: 'pull_request', settled: true },
  head_branch: { from: 'pull_request', settled: true },
  base_branch: { from: 'pull_request', settled: true },
  draft: { from: 'pull_request', settled: false },
  mergeable: { from: 'pull_request', settled: false },
  fork: { from: 'pull_request', settled: true },
  approvals: { from: 'reviews', settled: false },
  changes_requested: { from: 'reviews', settled: false },
  signed: { from: 'commits', settled: true },
  commits: { from: 'commits', settled: true },
  passed_checks: { from: 'checks', settled: false },
  successful_checks: { from: 'checks', settled: false },
  failed_checks: { from: 'checks', settled: false },
  pending_checks: { from: 'checks', settled: false },
  codeowners_approved: { from: 'codeowners', settled: false },
} as const satisfies Record<string, { from: string; settled: boolean }>;

export type FactName = keyof typeof PR_FACTS;
/** One request, or group of requests, whose response has several facts. */
export type FactSource = (typeof PR_FACTS)[FactName]['from'];
export const FACT_NAMES = Object.keys(PR_FACTS) as readonly FactName[];

export function isFactName(name: unknown): name is FactName {
  return typeof name === 'string' && Object.hasOwn(PR_FACTS, name);
}

/** A fact as read. An unknown fact never passes, whatever a criterion says about it (I5). */
export type Fact =
  | { known: true; value: Json; evidence?: string }
  | {
      known: false;
      /** The reason, as a part of a sentence. */
      because: string;
      /** Reading it again for the same head cannot help, for example because GitHub truncates the list. */
      lasting: boolean;
    };
export type Facts = Readonly<Partial<Record<FactName, Fact>>>;

export function known(value: Json, evidence?: string): Fact {
  return { known: true, value, ...(evidence === undefined ? {} : { evidence }) };
}

export function unknown(because: string, lasting = false): Fact {
  return { known: false, because, lasting };
}

/** A fact that was never read is unknown, too. */
export function factOf(facts: Facts, name: FactName): Fact {
  return facts[name] ?? unknown('it was not read');
}

const OTHER_HEAD = 'GitHub answered for another head';

/** The facts of a list of changed files. A renamed file counts under both names. */
export function filesFacts(
  { files, truncated }: { files: readonly ListedFile[]; truncated: boolean },
  headSha: string,
): Facts {
  const same = (fact: Fact): Facts => ({
    changed_paths: fact,
    changed_files: fact,
    additions: fact,
    deletions: fact,
  });
  if (truncated)
    return same(unknown('GitHub lists at most 3,000 changed files, and there may be more', true));
  if (files.some((file) => isOfAnotherHead(file, headSha))) return same(unknown(OTHER_HEAD));
  const sum = (of: (file: ListedFile) => number) => files.reduce((total, file) => total + of(file), 0);
  return {
    changed_paths: known(pathsOf(files)),
    changed_files: known(files.length),
    additions: known(sum(({ additions }) => additions)),
    deletions: known(sum(({ deletions }) => deletions)),
  };
}

export interface ListedFile {
  path: string;
  previousPath?: string;
  status: string;
  additions: number;
  deletions: number;
  /** The head that the list was made for; `null` if GitHub does not say. */
  headSha: string | null;
}

export function pathsOf(files: readonly ListedFile[]): string[] {
  const paths = files.flatMap(({ path, previousPath }) =>
    previousPath === undefined ? [path] : [path, previousPath],
  );
  return [...new Set(paths)];
}

/** The URL of a removed file may contain the previous commit, so it is not compared. */
function isOfAnotherHead({ status, headSha }: ListedFile, wanted: string): boolean {
  return status !== 'removed' && headSha !== null && headSha !== wanted;
}

/** The facts of a list of commits. A list without the head was made for another head. */
export function commitsFacts(
  { commits, truncated }: { commits: readonly { sha: string; verified: boolean }[]; truncated: boolean },
  headSha: string,
): Facts {
  const same = (fact: Fact): Facts => ({ signed: fact, commits: fact });
  if (truncated) return same(unknown('GitHub lists at most 250 commits, and there may be more', true));
  if (!commits.some(({ sha }) => sha === headSha)) return same(unknown(OTHER_HEAD));
  const unsigned = commits.filter(({ verified }) => !verified).map(({ sha }) => sha.slice(0, 7));
  return {
    commits: known(commits.length),
    signed: known(
      unsigned.length === 0,
      unsigned.length === 0 ? undefined : `not verified: ${unsigned.slice(0, 10).join(', ')}`,
    ),
  };
}

export function pullRequestFacts(
  pull: {
    headSha: string;
    headRef: string;
    headRepository: string | null;
    baseRef: string;
    draft: boolean;
    mergeable: boolean | null;
    labels: readonly string[];
    author: { login: string };
    authorAssociation: string;
  },
  headSha: string,
  repository: string,
): Facts {
  const names = FACT_NAMES.filter((name) => PR_FACTS[name].from === 'pull_request');
  if (pull.headSha !== headSha) return Object.fromEntries(names.map((name) => [name, unknown(OTHER_HEAD)]));
  return {
    labels: known([...pull.labels]),
    author: known(pull.author.login),
    association: known(pull.authorAssociation),
    head_branch: known(pull.headRef),
    base_branch: known(pull.baseRef),
    draft: known(pull.draft),
    mergeable:
      pull.mergeable === null
        ? unknown('GitHub is still finding out whether it conflicts with its base branch')
        : known(pull.mergeable),
    // A deleted fork is not this repository either.
    fork: known(pull.headRepository?.toLowerCase() !== repository.toLowerCase()),
  };
}
