import { checksFacts } from '../../domain/policy/facts/checks.ts';
import {
  CODEOWNERS_PATHS,
  type Codeowners,
  MAX_CODEOWNERS_BYTES,
  parseCodeowners,
  TooManyOwners,
} from '../../domain/policy/facts/codeowners.ts';
import {
  commitsFacts,
  FACT_NAMES,
  type Fact,
  type FactName,
  type FactSource,
  type Facts,
  filesFacts,
  PR_FACTS,
  pathsOf,
  pullRequestFacts,
  unknown,
} from '../../domain/policy/facts/fact.ts';
import { type Approver, ownedPaths, ownersApprove, teamsOf } from '../../domain/policy/facts/ownership.ts';
import { approves, type Review, reviewFacts, standingReviews } from '../../domain/policy/facts/reviews.ts';
import { isAtLeast } from '../../domain/policy/role.ts';
import { governingBranch } from '../../domain/run/run.ts';
import { GitHubError } from '../../ports/github.ts';
import type { StepContext } from '../steps/step.ts';

/**
 * Reads the requested facts of the pull request: each source at most once, and only if a fact needs it. What
 * GitHub refuses is unknown. Temporary failures (`unavailable`, `rate_limited`) are thrown, so that the poll
 * is retried and no gate fails because of them.
 */
export async function readFacts(context: StepContext, names: readonly FactName[]): Promise<Facts> {
  const { pullRequest } = context.state.run;
  if (pullRequest === null) return same(names, unknown('the run is about no pull request', true));
  const reading = new Reading(context, pullRequest);
  const facts: Facts = {};
  for (const source of new Set(names.map((name) => PR_FACTS[name].from))) {
    Object.assign(facts, await orUnknown(source, () => reading.factsOf(source)));
  }
  return facts;
}

async function orUnknown(source: FactSource, read: () => Promise<Facts>): Promise<Facts> {
  try {
    return await read();
  } catch (error) {
    if (!isRefusal(error)) throw error;
    const names = FACT_NAMES.filter((name) => PR_FACTS[name].from === source);
    return same(names, unknown(`GitHub refuses to tell (${error.kind}, ${error.status})`));
  }
}

function isRefusal(error: unknown): error is GitHubError {
  return error instanceof GitHubError && error.kind !== 'unavailable' && error.kind !== 'rate_limited';
}

function same(names: readonly FactName[], fact: Fact): Facts {
  return Object.fromEntries(names.map((name) => [name, fact]));
}

/** The reads of one judgement. Several facts share the same lists, which are read once. */
class Reading {
  readonly #context: StepContext;
  readonly #number: number;
  readonly #read = new Map<string, Promise<unknown>>();

  constructor(context: StepContext, number: number) {
    this.#context = context;
    this.#number = number;
  }

  async factsOf(source: FactSource): Promise<Facts> {
    const { headSha, repository } = this.#context.state.run;
    switch (source) {
      case 'pull_request':
        return pullRequestFacts(await this.#pullRequest(), headSha, repository);
      case 'files':
        return filesFacts(await this.#files(), headSha);
      case 'commits': {
        const { reader, repo } = this.#context;
        return commitsFacts(await reader.pullRequestCommits(repo, this.#number), headSha);
      }
      case 'checks': {
        const { appId, reader, repo } = this.#context;
        const [runs, statuses] = await Promise.all([
          reader.checkRuns(repo, headSha),
          reader.statuses(repo, headSha),
        ]);
        return checksFacts(
          runs,
          statuses.filter(({ isOwn }) => !isOwn),
          appId,
        );
      }
      case 'reviews': {
        const standing = await this.#reviews();
        return standing
          ? reviewFacts(standing, headSha)
          : same(['approvals', 'changes_requested'], TOO_MANY_REVIEWS);
      }
      case 'codeowners':
        return { codeowners_approved: await this.#codeownersApproved() };
    }
  }

  async #codeownersApproved(): Promise<Fact> {
    const { headSha } = this.#context.state.run;
    const files = await this.#files();
    const facts = filesFacts(files, headSha);
    if (facts.changed_paths?.known !== true) return facts.changed_paths ?? unknown('it was not read');
    const codeowners = await this.#codeowners();
    if ('known' in codeowners) return codeowners;
    const standing = await this.#reviews();
    if (!standing) return TOO_MANY_REVIEWS;
    try {
      const owned = ownedPaths(pathsOf(files.files), codeowners);
      const approving = standing.filter((review) => approves(review, headSha));
      const approvers = await this.#approvers(approving, teamsOf(owned));
      return ownersApprove(owned, approvers, codeowners.skipped);
    } catch (error) {
      if (error instanceof TooManyOwners)
        return unknown('CODEOWNERS has too many patterns for so many files', true);
      throw error;
    }
  }

  /** From the governing branch: an attacker would change the head's own file first (I4). */
  async #codeowners(): Promise<Codeowners | Fact> {
    const { reader, repo, state } = this.#context;
    const branch = governingBranch(state.run);
    const tip = await reader.branchTip(repo, branch);
    if (tip === undefined) return unknown(`there is no branch ${branch}`);
    for (const path of CODEOWNERS_PATHS) {
      const file = await reader.file(repo, path, tip);
      if (!file) continue;
      const bytes = await reader.blob(repo, file.sha, MAX_CODEOWNERS_BYTES);
      return bytes
        ? parseCodeowners(new TextDecoder().decode(bytes))
        : unknown(`${path} on ${branch} is larger than 3 MB, so GitHub does not read it`);
    }
    // A gate for owners implies that there are some. Without the file, the gate would silently require
    // nobody.
    return unknown(`there is no CODEOWNERS file on ${branch}`);
  }

  async #approvers(approving: readonly Review[], teams: readonly string[]): Promise<Approver[]> {
    const { reader } = this.#context;
    return Promise.all(
      approving.map(async ({ person }) => {
        const memberOf = await Promise.all(
          teams.map(async (team) => {
            const [organisation = '', slug = ''] = team.split('/');
            return (await reader.isTeamMember(organisation, slug, person.login)) ? [team] : [];
          }),
        );
        return { id: person.id, login: person.login, teams: memberOf.flat() };
      }),
    );
  }

  /** The current reviews by people with write access; `undefined` if there are too many to know. */
  #reviews(): Promise<Review[] | undefined> {
    return this.#once('reviews', async () => {
      const { reader, repo } = this.#context;
      const { reviews, truncated } = await reader.pullRequestReviews(repo, this.#number);
      if (truncated) return undefined;
      const standing = standingReviews(reviews, (await this.#pullRequest()).author.id);
      const counts = await Promise.all(
        standing.map(async ({ person }) => isAtLeast(await reader.role(repo, person.login), 'write')),
      );
      return standing.filter((_, index) => counts[index]);
    });
  }

  #pullRequest() {
    const { reader, repo } = this.#context;
    return this.#once('pull_request', () => reader.pullRequest(repo, this.#number));
  }

  #files() {
    const { reader, repo } = this.#context;
    return this.#once('files', () => reader.pullRequestFiles(repo, this.#number));
  }

  #once<T>(what: string, read: () => Promise<T>): Promise<T> {
    const reading = this.#read.get(what) ?? read();
    this.#read.set(what, reading);
    return reading as Promise<T>;
  }
}

const TOO_MANY_REVIEWS = unknown('there are more reviews than are read', true);
