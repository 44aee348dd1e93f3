import type { SeenComment } from '../../support/github/read.ts';
import { type Harness, REPO } from '../../support/harness.ts';
import { filesOf, RULES, type Rules, type RulesName } from './rules.ts';

export const BASES = ['main', 'release'] as const;
/** An admin who does nothing until the end. */
export const LATE_MAINTAINER = 'ann';

export interface Pull {
  number: number;
  author: string;
  branch: string;
  /** Every head it ever had. */
  heads: string[];
}

/** A repository with its people, and what they need to remember of it. */
export class World {
  readonly harness: Harness;
  readonly pulls: Pull[] = [];
  /** Takes back what is prepared and has not come to pass. */
  readonly prepared: (() => void)[] = [];
  /** Deeds whose webhooks are not all answered. */
  readonly underWay: Promise<unknown>[] = [];
  /** How often everybody turned to another pull request. */
  turned = 0;
  private readonly rules: { base: string; since: Date; rules: Rules }[] = [];
  /** Where every branch begins: before any change of the rules, so that no two of them conflict. */
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
    for (const base of BASES) this.rules.push({ base, since: clock.now(), rules: RULES.usual });
    await this.openPull('ada', false);
    await this.quiet();
  }

  /** The one that everybody is busy with: the newest, until they turn to another. */
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
    this.pulls.push({ number, author: by, branch, heads: [headSha] });
    this.turned = 0;
    return `${by} opens #${number}${draft ? ' as a draft' : ''}`;
  }

  async push(pull: Pull, by: string, coAuthor: string | undefined): Promise<string> {
    const coAuthors = coAuthor === undefined ? [] : [coAuthor];
    const sha = await this.harness.github.push({ ...this.commit(pull, by), coAuthors });
    pull.heads.push(sha);
    return `${by}${coAuthor ? ` with ${coAuthor}` : ''} pushes ${sha.slice(0, 7)} to #${pull.number}`;
  }

  /** Force-pushes one commit of their own in the place of all that was there. */
  async rewrite(pull: Pull, by: string): Promise<void> {
    await this.harness.github.push({ ...this.commit(pull, by), forceTo: this.root });
    pull.heads.push(this.headOf(pull));
  }

  /** Every commit differs from all before it, also from those made within one moment. */
  private commit({ branch, heads }: Pull, author: string) {
    const content = `export const change = '${author} ${heads.length}';\n`;
    return { repo: REPO, branch, author, files: { [`src/${branch}.ts`]: content } };
  }

  async change(name: RulesName, base: string): Promise<void> {
    const { github, clock } = this.harness;
    await github.push({ repo: REPO, branch: base, author: 'max', files: filesOf(RULES[name]) });
    this.rules.push({ base, since: clock.now(), rules: RULES[name] });
  }

  /** The rules that held on the base at any moment of the span. */
  inForce(base: string, from: Date, to: Date): Rules[] {
    const ofBase = this.rules.filter((version) => version.base === base);
    return ofBase
      .filter(({ since }, index) => since <= to && isAfter(ofBase[index + 1]?.since, from))
      .map(({ rules }) => rules);
  }

  /** What the app asked the maintainers, oldest first. */
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

/** What has not come yet comes after everything. */
function isAfter(moment: Date | undefined, other: Date): boolean {
  return moment === undefined || moment > other;
}

export function isQuestion(body: string): boolean {
  return body.startsWith('<!-- countersign:approval');
}
