import type { MergeRecord } from '../../support/github/merge-record.ts';
import type { SeenComment } from '../../support/github/read.ts';
import { type Harness, REPO } from '../../support/harness.ts';
import type { Moment, Window } from './oracle.ts';
import { filesOf, LAX_FILES, RULES, type Rules, type RulesName } from './rules.ts';

export const BASES = ['main', 'release'] as const;
/** An admin who does nothing until the end. */
export const LATE_MAINTAINER = 'ann';
/** Makes `release` a branch that governs itself without blocking anything: approves whatever is opened. */
const REVIEWER = 'rita';
/** A branch that a writer creates, with files that would let writers countersign. */
const THEIRS = 'theirs';

/** How the branches require the gate check; `tested queue`: the queue requires the status `test`, too. */
export type Guard = 'protection' | 'ruleset' | 'queue' | 'tested queue';

export interface Pull {
  number: number;
  author: string;
  branch: string;
  /** Every head that it ever had; shared by pull requests with the same branch. */
  heads: string[];
}

/** A repository with its people, and what they need to remember of it. */
export class World {
  readonly harness: Harness;
  readonly pulls: Pull[] = [];
  /** Cancels what is prepared and has not happened. */
  readonly prepared: (() => void)[] = [];
  /** Actions whose webhooks are not all answered. */
  readonly underWay: Promise<unknown>[] = [];
  /** How often everybody turned to another pull request. */
  turned = 0;
  /** Since when the branches require the gate check. */
  private guarded: { by: Guard; since: Date } | undefined;
  /** Every pull request that was open, before each action. */
  private readonly moments: Moment[] = [];
  /** When GitHub's webhooks were held; the last span may still last. */
  private readonly held: { from: Date; to?: Date }[] = [];
  /** When a request of the app failed. */
  readonly failures: Date[] = [];
  private readonly rules: { base: string; since: Date; rules: Rules }[] = [];
  /** Where every branch starts: before any change of the rules, so that no two of them conflict. */
  private root = '';

  constructor(harness: Harness) {
    this.harness = harness;
  }

  async set(): Promise<void> {
    const { github, clock } = this.harness;
    github.addUser('robo[bot]', { type: 'Bot' });
    for (const login of ['meg', 'robo[bot]']) github.setPermission(REPO, login, 'maintain');
    github.setPermission(REPO, LATE_MAINTAINER, 'admin');
    this.root = github.branch(REPO, 'main') ?? '';
    await github.push({ repo: REPO, branch: 'release', author: 'max', forceTo: this.root });
    github.setPermission(REPO, REVIEWER, 'write');
    github.addRuleset(REPO, { branches: ['release'], approvals: 1, restrict: ['creations'] });
    github.allowAutoMerge(REPO);
    for (const base of BASES) this.rules.push({ base, since: clock.now(), rules: RULES.usual });
    await this.openPull('ada', false);
    await this.quiet();
  }

  /** The one that everybody works on: the newest, until they turn to another. */
  get current(): Pull | undefined {
    const { github } = this.harness;
    const left = this.pulls.filter(({ number }) => !github.pullRequest(REPO, number).merged);
    return left.at(-1 - (this.turned % Math.max(1, left.length)));
  }

  get open(): Pull[] {
    return this.pulls.filter((pull) => this.isOpen(pull));
  }

  async openPull(by: string, draft: boolean): Promise<string> {
    const { github } = this.harness;
    const branch = `change-${this.pulls.length + 1}`;
    await github.push({ repo: REPO, branch, author: by, forceTo: this.root });
    const files = { [`src/${branch}.ts`]: `export const opened = ${this.pulls.length};\n` };
    const input = { repo: REPO, author: by, branch, title: `Make ${branch}`, files, draft };
    const { number, headSha } = await github.openPullRequest(input);
    await github.review(REPO, number, REVIEWER, 'APPROVED');
    this.pulls.push({ number, author: by, branch, heads: [headSha] });
    this.turned = 0;
    return `${by} opens #${number}${draft ? ' as a draft' : ''}`;
  }

  /** Opens a pull request with the same head against the branch of a writer. */
  async openElsewhere({ branch, heads }: Pull, by: string): Promise<string | undefined> {
    const { github } = this.harness;
    if (this.isTaken(branch, THEIRS)) return undefined;
    if (github.branch(REPO, THEIRS) === undefined)
      await github.push({ repo: REPO, branch: THEIRS, author: 'will', forceTo: this.root, files: LAX_FILES });
    const input = { repo: REPO, author: by, branch, base: THEIRS, title: `Make ${branch} elsewhere` };
    const { number } = await github.openPullRequest(input);
    await github.review(REPO, number, REVIEWER, 'APPROVED');
    this.pulls.push({ number, author: by, branch, heads });
    this.turned = 0;
    return `${by} opens #${number} with the head of ${branch} against ${THEIRS}`;
  }

  /** GitHub allows one open pull request for each branch and base. */
  isTaken(branch: string, base: string): boolean {
    return this.open.some(
      (pull) => pull.branch === branch && this.harness.github.pullRequest(REPO, pull.number).baseRef === base,
    );
  }

  get guard(): Guard | undefined {
    return this.guarded?.by;
  }

  /** Makes the branches require the gate check of this app from now on. */
  guardBy(by: Guard): void {
    const { github, clock } = this.harness;
    const app = github.app.slug;
    for (const base of BASES) {
      const gate = { context: `countersign: ${base}`, app };
      if (by === 'protection') github.requireChecks(REPO, base, [gate]);
      else if (by === 'ruleset') github.addRuleset(REPO, { branches: [base], checks: [gate] });
      else {
        const checks = by === 'queue' ? [gate] : [gate, 'test'];
        github.addRuleset(REPO, { branches: [base], checks, mergeQueue: {} });
      }
    }
    this.guarded = { by, since: clock.now() };
  }

  /** Whether GitHub's own ways to merge obey the gate check: where they do not, anybody who can write may merge. */
  isGuarded(base: string, at = this.harness.clock.now()): boolean {
    return this.guarded !== undefined && this.guarded.since <= at && BASES.some((name) => name === base);
  }

  /** The commits of the merge queue's groups, oldest first. */
  get groups(): string[] {
    return this.harness.github.deliveries
      .filter(({ event, action }) => event === 'merge_group' && action === 'checks_requested')
      .map(({ payload }) => (payload as { merge_group: { head_sha: string } }).merge_group.head_sha);
  }

  /** Records the state of everything, right before somebody changes it. */
  remember(): void {
    const { github } = this.harness;
    for (const { number } of this.open) {
      const standing = github.standing(REPO, number);
      this.moments.push({ standing, rules: this.rulesAt(standing.pullRequest.baseRef, standing.at) });
    }
  }

  get before(): readonly Moment[] {
    return this.moments;
  }

  /** What docs/security.md allows for a merge that others made. */
  windowOf({ at, via, pullRequest, comments }: MergeRecord): Window {
    const hasFailed = this.failures.some((failure) => at.getTime() - failure.getTime() <= UNREADABLE_MS);
    if (hasFailed) return { ms: UNREADABLE_MS, of: 'everything' };
    const since = new Date(at.getTime() - RECHECK_AT_MOST_MS);
    const isInTheAct = this.inForce(pullRequest.baseRef, since, at).every(({ by }) => by === 'app');
    if (via === 'queue') return { ms: JUDGED_AGAIN_MS, of: 'everything' };
    if (isInTheAct) return { ms: 0, of: 'reactions and roles' };
    const isHeld = this.held.some(({ from, to }) => from <= at && !(to && to < at));
    const asked = comments.findLast(({ body }) => isQuestion(body))?.createdAt ?? at;
    return {
      ms: recheckedEvery(at.getTime() - asked.getTime()),
      of: isHeld ? 'everything' : 'reactions and roles',
    };
  }

  async push(pull: Pull, by: string, coAuthor: string | undefined): Promise<string> {
    const coAuthors = coAuthor === undefined ? [] : [coAuthor];
    const sha = await this.harness.github.push({ ...this.commit(pull, by), coAuthors });
    pull.heads.push(sha);
    return `${by}${coAuthor ? ` with ${coAuthor}` : ''} pushes ${sha.slice(0, 7)} to #${pull.number}`;
  }

  /** Force-pushes one commit of their own instead of everything that was there. */
  async rewrite(pull: Pull, by: string): Promise<void> {
    await this.harness.github.push({ ...this.commit(pull, by), forceTo: this.root });
    pull.heads.push(this.headOf(pull));
  }

  /** Every commit differs from all before it, also from those made at the same moment. */
  private commit({ branch, heads }: Pull, author: string) {
    const content = `export const change = '${author} ${heads.length}';\n`;
    return { repo: REPO, branch, author, files: { [`src/${branch}.ts`]: content } };
  }

  async change(name: RulesName, base: string): Promise<void> {
    const { github, clock } = this.harness;
    await github.push({ repo: REPO, branch: base, author: 'max', files: filesOf(RULES[name]) });
    this.rules.push({ base, since: clock.now(), rules: RULES[name] });
  }

  /** The rules that were in force for a base at one moment. */
  rulesAt(base: string, at: Date): Rules {
    return this.inForce(base, at, at)[0] ?? RULES.usual;
  }

  /** The rules that were in force for a base at any moment of the span; a base without protection does not govern itself. */
  private inForce(base: string, from: Date, to: Date): Rules[] {
    const governing = BASES.find((name) => name === base) ?? 'main';
    const ofBase = this.rules.filter((version) => version.base === governing);
    return ofBase
      .filter(({ since }, index) => since <= to && isAfter(ofBase[index + 1]?.since, from))
      .map(({ rules }) => rules);
  }

  /** The app's approval comments, oldest first. */
  questions({ number }: Pull): SeenComment[] {
    const { github } = this.harness;
    return github
      .comments(REPO, number)
      .filter(({ author, body }) => author === github.app.botLogin && isQuestion(body));
  }

  isOpen({ number }: Pull): boolean {
    return this.harness.github.pullRequest(REPO, number).state === 'open';
  }

  headOf({ number }: Pull): string {
    return this.harness.github.pullRequest(REPO, number).headSha;
  }

  hold(): void {
    this.harness.github.holdDeliveries();
    this.held.push({ from: this.harness.clock.now() });
  }

  async release(order: 'fifo' | 'reverse'): Promise<void> {
    const now = this.harness.clock.now();
    for (const span of this.held) span.to ??= now;
    await this.harness.github.releaseDeliveries(order);
  }

  /** Everything due at this very moment is done; no time passes. */
  async quiet(): Promise<void> {
    const { github, app } = this.harness;
    await github.settle();
    await app.queue.idle();
    await Promise.all(this.underWay.splice(0));
    await github.settle();
    await app.queue.idle();
  }
}

/** How long the gate check stays green while GitHub cannot be read. */
const UNREADABLE_MS = 120_000;
/** The longest pause between two polls while the gate check is green. */
const RECHECK_AT_MOST_MS = 60_000;
/** How often a merge group is judged. */
const JUDGED_AGAIN_MS = 10_000;

/** How often an approval is polled, by how long it has been open. */
function recheckedEvery(openForMs: number): number {
  if (openForMs < 120_000) return 3_000;
  if (openForMs < 900_000) return 10_000;
  return openForMs < 7_200_000 ? 30_000 : RECHECK_AT_MOST_MS;
}

/** What has not come yet comes after everything. */
function isAfter(moment: Date | undefined, other: Date): boolean {
  return moment === undefined || moment > other;
}

export function isQuestion(body: string): boolean {
  return body.startsWith('<!-- countersign:approval');
}
