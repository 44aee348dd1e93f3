import type { MergeMethod } from './answers.ts';
import { type Owners, ownersOfAll } from './code-owners.ts';
import { readWorkflow, type Workflow } from './workflow.ts';

export interface FileText {
  path: string;
  text: string;
}

/** The files of a repository that say how it works, from its checkout or from GitHub. */
export interface RepositoryFiles {
  workflows: FileText[];
  codeOwners: FileText | undefined;
  /** Paths of settings and chains that are there already. */
  configured: string[];
}

/** What GitHub shows of a repository, beside its files. */
export interface OnGitHub {
  defaultBranch: string;
  /** Names of the checks that the default branch requires. */
  required: string[];
  hasMergeQueue: boolean;
  /** Names of the checks and statuses of the default branch's tip; `undefined` if GitHub does not show them for this token. */
  checks: string[] | undefined;
  /** `undefined` if GitHub does not show them for this token. */
  mergeMethods: MergeMethod[] | undefined;
}

/** What was seen of a repository. */
export interface Seen {
  repository: string | undefined;
  /** `undefined` if GitHub was not asked, or showed nothing. */
  github: OnGitHub | undefined;
  workflows: Workflow[];
  owners: (Owners & { file: string }) | undefined;
}

/** The checks that count come without those of Countersign, which would wait for themselves. */
export function seenOf(
  repository: string | undefined,
  files: RepositoryFiles,
  github: OnGitHub | undefined,
): Seen {
  const { workflows, codeOwners } = files;
  return {
    repository,
    github: github && {
      ...github,
      required: othersChecks(github.required),
      checks: github.checks && othersChecks(github.checks),
    },
    workflows: workflows.flatMap(({ path, text }) => readWorkflow(path, text, github?.defaultBranch) ?? []),
    owners: codeOwners && { file: codeOwners.path, ...ownersOfAll(codeOwners.text) },
  };
}

function othersChecks(names: readonly string[]): string[] {
  return [...new Set(names)].filter((name) => !/^countersign( \/|:) /.test(name)).sort();
}
