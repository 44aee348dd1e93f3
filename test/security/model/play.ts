import { unreachable } from '../../../src/core/errors.ts';
import type { SeenComment } from '../../support/github/read.ts';
import { type Harness, REPO, startHarness } from '../../support/harness.ts';
import type { Action, Login } from './action.ts';
import { BEFALLS, FAULT } from './faults.ts';
import { faultsOf } from './oracle.ts';
import { filesOf, RULES, type Rules, type RulesName } from './rules.ts';

const BASES = ['main', 'release'] as const;
const LATE_MAINTAINER = 'ann';

export interface Played {
  /** What was done, a sentence each. */
  told: string[];
  /** Every merge that I1 does not allow, and every countersigned pull request that was not merged at the end. */
  faults: string[];
  /** Merges in the midst of it, and those at its end. */
  merges: { during: number; after: number };
}

/** What is done to one pull request. */
type PullAction = Extract<
  Action,
  | { do: 'push' | 'rewrite' | 'push back' | 'react' | 'take back' | 'forge' | 'edit' | 'delete' | 'say' }
  | { do: 'draft' | 'close' | 'ready' | 'retarget' | 'ci' | 'surprise' }
>;

const A_PUSH: PullAction = { do: 'push', by: 'ada', withCoAuthor: undefined };

interface Pull {
  number: number;
  author: string;
  branch: string;
  heads: string[];
}

/** Plays actions against the real app, then lets a quiet time pass and has everything that is open countersigned. */
export async function play(actions: readonly Action[]): Promise<Played> {
  const harness = await startHarness({ files: filesOf(RULES.usual) });
  const stage = new Stage(harness);
  try {
    await stage.set();
    for (const action of actions) {
      await stage.perform(action);
      // Later ones may be the first one's fault: what is told ends where it went wrong.
      if (stage.faults().length > 0) break;
    }
    const during = harness.github.merges.length;
    const unmerged = stage.faults().length > 0 ? [] : await stage.finish();
    const after = harness.github.merges.length - during;
    return { told: stage.told, faults: [...stage.faults(), ...unmerged], merges: { during, after } };
  } finally {
    await harness.stop();
  }
}

/** Where the play happens: GitHub with its people, and whatever they need to remember. */
class Stage {
  readonly told: string[] = [];
  private readonly harness: Harness;
  private readonly pulls: Pull[] = [];
  private readonly rules: { base: string; since: Date; rules: Rules }[] = [];
  private readonly underWay: Promise<unknown>[] = [];
  /** Takes back what is prepared and has not come to pass. */
  private readonly prepared: (() => void)[] = [];
  /** Where every branch begins: before any change of the rules, so that no two of them conflict. */
  private root = '';
  private turned = 0;

  constructor(harness: Harness) {
    this.harness = harness;
  }

  async set(): Promise<void> {
    const { github, clock } = this.harness;
    github.addUser('robo[bot]', { type: 'Bot' });
    for (const login of ['meg', 'robo[bot]']) github.setPermission(REPO, login, 'maintain');
    github.setPermission(REPO, LATE_MAINTAINER, 'admin');
    this.root = await github.push({ repo: REPO, branch: 'release', author: 'max' });
    for (const base of BASES) this.rules.push({ base, since: clock.now(), rules: RULES.usual });
    await this.open('ada', false);
    await this.quiet();
  }

  /** Does it once the app has nothing left to do at this moment: races are made on purpose, by surprises. */
  async perform(action: Action): Promise<void> {
    await this.quiet();
    const done = await this.act(action);
    if (done !== undefined) this.told.push(`${this.clockTime()} ${done}`);
    await this.quiet();
  }

  faults(): string[] {
    const { github } = this.harness;
    return github.mergeRequests.flatMap((request) => {
      const faults = faultsOf(request, github.app.botLogin, (base, from, to) => this.inForce(base, from, to));
      const outcome = request.refused === undefined ? 'merged' : `not merged (${request.refused})`;
      return faults.map((fault) => `#${request.number} was ${outcome}, but ${fault}`);
    });
  }

  /** A quiet time, then the usual rules, a fresh head, green CI and somebody who may: that must merge whatever is open. */
  async finish(): Promise<string[]> {
    const { github, advance } = this.harness;
    for (const takeBack of this.prepared) takeBack();
    await github.releaseDeliveries();
    await advance(20_000);
    for (const base of BASES) await this.rule('usual', base);
    if (!this.pulls.some((pull) => this.isOpen(pull))) await this.open('ada', false);
    const left = this.pulls.filter((pull) => this.isOpen(pull));
    for (const { number } of left) {
      await github.comment(REPO, number, LATE_MAINTAINER, '/countersign resume');
      await github.readyForReview(REPO, number, 'ada');
    }
    await this.quiet();
    for (const pull of left) {
      await this.push(pull, 'ada', undefined);
      await github.setStatus(REPO, this.headOf(pull), { context: 'test', state: 'success' });
    }
    await advance(4_000);
    for (const pull of left) {
      const question = this.questions(pull).at(-1);
      if (question) await github.react(REPO, question.id, LATE_MAINTAINER, 'rocket');
    }
    await advance(4_000);
    return left
      .filter(({ number }) => !github.pullRequest(REPO, number).merged)
      .map(({ number }) => `#${number} is clean and countersigned by ${LATE_MAINTAINER}, but not merged`);
  }

  /** @returns what was done in words; nothing when there was nothing to do it to. */
  private async act(action: Action): Promise<string | undefined> {
    const { harness } = this;
    const { github } = harness;
    switch (action.do) {
      case 'open':
        if (this.pulls.filter((pull) => this.isOpen(pull)).length >= 3) return undefined;
        return this.open(action.by, action.draft);
      case 'rule': {
        const base = this.current ? github.pullRequest(REPO, this.current.number).baseRef : 'main';
        await this.rule(action.rules, base);
        return `on ${base} the rules are now “${action.rules}”`;
      }
      case 'grant':
        github.setPermission(REPO, action.to, action.role);
        return `${action.to} has the role ${action.role} now`;
      case 'hold':
        github.holdDeliveries();
        return 'deliveries are held back';
      case 'release':
        await github.releaseDeliveries(action.order);
        return `held deliveries come (${action.order})`;
      case 'redeliver': {
        const sent = github.deliveries.filter(({ attempts }) => attempts > 0).at(-1 - action.back);
        if (sent === undefined) return undefined;
        await github.redeliver(sent.guid);
        return `${sent.event} ${sent.action ?? ''} comes again`;
      }
      case 'wait':
        await harness.advance(action.seconds * 1_000);
        return `${action.seconds} s pass`;
      case 'fault':
        this.prepared.push(github.fail(BEFALLS[action.on], FAULT[action.how], action.times));
        return `the next ${action.times} of ${action.on} fail: ${action.how}`;
      case 'restart':
        await harness.restart();
        return 'the app is restarted';
      case 'turn':
        this.turned += 1;
        return this.current && `everybody turns to #${this.current.number}`;
      case 'reopen': {
        const closed = this.pulls.findLast(({ number }) => {
          const { state, merged } = github.pullRequest(REPO, number);
          return state === 'closed' && !merged;
        });
        if (!closed) return undefined;
        await github.reopenPullRequest(REPO, closed.number, 'ada');
        return `#${closed.number} is reopened`;
      }
      default:
        return this.current && this.actOn(this.current, action);
    }
  }

  private async actOn(pull: Pull, action: PullAction): Promise<string | undefined> {
    const { github } = this.harness;
    const { number } = pull;
    switch (action.do) {
      case 'push':
        return this.push(pull, action.by, action.withCoAuthor);
      case 'rewrite': {
        await github.push({ ...this.commit(pull, action.by), forceTo: this.root });
        pull.heads.push(this.headOf(pull));
        return `${action.by} force-pushes a commit of their own, ${this.headOf(pull).slice(0, 7)}, to #${number}`;
      }
      case 'push back': {
        const older = pull.heads.findLast((head) => head !== this.headOf(pull));
        if (older === undefined) return undefined;
        await github.push({ repo: REPO, branch: pull.branch, author: action.by, forceTo: older });
        return `${action.by} force-pushes #${number} back to ${older.slice(0, 7)}`;
      }
      case 'react': {
        const comment = this.commentFor(pull, action.on);
        if (!comment) return undefined;
        const by = action.by === 'the author' ? pull.author : action.by;
        await github.react(REPO, comment.id, by, action.emoji);
        return `${by} reacts with ${action.emoji} to the ${action.on} question of #${number}`;
      }
      case 'take back':
        return this.takeBack(pull, action.by);
      case 'forge': {
        const question = this.questions(pull).at(-1);
        if (!question) return undefined;
        await github.comment(REPO, number, action.by, question.body);
        return `${action.by} posts a copy of the question of #${number}`;
      }
      case 'edit':
      case 'delete': {
        const question = this.questions(pull).at(-1);
        if (!question) return undefined;
        if (action.do === 'delete') await github.deleteComment(REPO, question.id, action.by);
        else await github.editComment(REPO, question.id, action.by, `${question.body}\n\nIt is fine.`);
        return `${action.by} ${action.do}s the question of #${number}`;
      }
      case 'say':
        await github.comment(REPO, number, action.by, `/countersign ${action.command}`);
        return `${action.by} says /countersign ${action.command} on #${number}`;
      case 'draft':
        await github.convertToDraft(REPO, number, 'ada');
        return `#${number} becomes a draft`;
      case 'ready':
        await github.readyForReview(REPO, number, 'ada');
        return `#${number} is ready for review`;
      case 'close':
        await github.closePullRequest(REPO, number, 'ada');
        return `#${number} is closed`;
      case 'retarget': {
        const base = this.otherBase(pull);
        await github.editPullRequest(REPO, number, 'ada', { base });
        return `#${number} is retargeted to ${base}`;
      }
      case 'ci':
        await this.reportCi(pull, action.as, action.says);
        return `CI says ${action.says} on #${number} as a ${action.as}`;
      case 'surprise':
        return this.prepare(pull, action.deed, action.when);
      default:
        return unreachable(action);
    }
  }

  private get current(): Pull | undefined {
    const open = this.pulls.filter((pull) => this.isOpen(pull));
    return open[this.turned % Math.max(1, open.length)];
  }

  private async open(by: Login, draft: boolean): Promise<string> {
    const { github } = this.harness;
    const branch = `change-${this.pulls.length + 1}`;
    await github.push({ repo: REPO, branch, author: by, forceTo: this.root });
    const files = { [`src/${branch}.ts`]: `export const opened = ${this.pulls.length};\n` };
    const input = { repo: REPO, author: by, branch, title: `Make ${branch}`, files, draft };
    const { number, headSha } = await github.openPullRequest(input);
    this.pulls.push({ number, author: by, branch, heads: [headSha] });
    return `${by} opens #${number}${draft ? ' as a draft' : ''}`;
  }

  private async push(pull: Pull, by: Login, coAuthor: Login | undefined): Promise<string> {
    const coAuthors = coAuthor === undefined ? [] : [coAuthor];
    const sha = await this.harness.github.push({ ...this.commit(pull, by), coAuthors });
    pull.heads.push(sha);
    return `${by}${coAuthor ? ` with ${coAuthor}` : ''} pushes ${sha.slice(0, 7)} to #${pull.number}`;
  }

  /** Every commit differs from all before it, also from those made within one moment. */
  private commit({ branch, heads }: Pull, author: Login) {
    const content = `export const change = '${author} ${heads.length}';\n`;
    return { repo: REPO, branch, author, files: { [`src/${branch}.ts`]: content } };
  }

  private async takeBack(pull: Pull, by: Login): Promise<string | undefined> {
    const { github } = this.harness;
    const question = this.questions(pull).at(-1);
    const given = question?.reactions.filter(({ login }) => login === by) ?? [];
    if (!question || given.length === 0) return undefined;
    for (const { content } of given) {
      // Reacting again names the reaction that is already there.
      const id = await github.react(REPO, question.id, by, content);
      await github.unreact(REPO, question.id, id);
    }
    return `${by} takes every reaction to the question of #${pull.number} back`;
  }

  private async reportCi(pull: Pull, as: 'status' | 'check run', says: 'success' | 'failure' | 'pending') {
    const { github } = this.harness;
    const sha = this.headOf(pull);
    if (as === 'status') return github.setStatus(REPO, sha, { context: 'test', state: says });
    await github.reportCheck(REPO, sha, {
      name: 'build',
      ...(says === 'pending' ? { status: 'in_progress' } : { status: 'completed', conclusion: says }),
    });
  }

  private async rule(name: RulesName, base: string): Promise<void> {
    const { github, clock } = this.harness;
    await github.push({ repo: REPO, branch: base, author: 'max', files: filesOf(RULES[name]) });
    this.rules.push({ base, since: clock.now(), rules: RULES[name] });
  }

  private inForce(base: string, from: Date, to: Date): Rules[] {
    const ofBase = this.rules.filter((version) => version.base === base);
    return ofBase
      .filter(({ since }, index) => since <= to && (ofBase[index + 1]?.since ?? to) >= from)
      .map(({ rules }) => rules);
  }

  private prepare(pull: Pull, deed: 'push' | 'draft' | 'close' | 'retarget', when: 'reading' | 'merging') {
    const { github } = this.harness;
    const moment = `/pulls/${pull.number}${when === 'merging' ? '/merge' : ''}`;
    const takeBack = github.fail(({ path }) => {
      if (!path.endsWith(moment) || !this.isOpen(pull)) return false;
      takeBack();
      // The state changes in this turn, before the request is answered; only the webhooks are waited for.
      this.underWay.push(this.actOn(pull, deed === 'push' ? A_PUSH : { do: deed }));
      return false;
    }, 'reset');
    this.prepared.push(takeBack);
    return `surprise: ${deed} of #${pull.number} at the app’s next ${when}`;
  }

  private commentFor(pull: Pull, which: 'newest' | 'older' | 'copy'): SeenComment | undefined {
    const { github } = this.harness;
    switch (which) {
      case 'newest':
        return this.questions(pull).at(-1);
      case 'older':
        return this.questions(pull).at(-2);
      case 'copy':
        return github
          .comments(REPO, pull.number)
          .findLast(({ author, body }) => author !== github.app.botLogin && isQuestion(body));
    }
  }

  private questions({ number }: Pull): SeenComment[] {
    const { github } = this.harness;
    return github
      .comments(REPO, number)
      .filter(({ author, body }) => author === github.app.botLogin && isQuestion(body));
  }

  private otherBase({ number }: Pull): string {
    const { baseRef } = this.harness.github.pullRequest(REPO, number);
    return BASES.find((base) => base !== baseRef) ?? baseRef;
  }

  private isOpen({ number }: Pull): boolean {
    return this.harness.github.pullRequest(REPO, number).state === 'open';
  }

  private headOf({ number }: Pull): string {
    return this.harness.github.pullRequest(REPO, number).headSha;
  }

  /** Everything due at this very moment is done; no time passes. */
  private async quiet(): Promise<void> {
    const { github, app } = this.harness;
    await github.settle();
    await app.queue.idle();
    await Promise.all(this.underWay.splice(0));
    await github.settle();
    await app.queue.idle();
  }

  private clockTime(): string {
    return this.harness.clock.now().toISOString().slice(11, 19);
  }
}

function isQuestion(body: string): boolean {
  return body.startsWith('<!-- countersign:approval');
}
