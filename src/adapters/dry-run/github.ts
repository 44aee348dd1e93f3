import { contentHash } from '../../core/canonical.ts';
import { textOfFile } from '../../core/text.ts';
import { CHAINS_FOLDER, FOLDER, MAX_CONFIGURATION_BYTES } from '../../domain/chain/configuration-files.ts';
import type { WrittenComment } from '../../domain/policy/own-comment.ts';
import {
  type CheckRunFacts,
  type CommentFacts,
  type GitHub,
  type GitHubReader,
  type GitHubWriter,
  type Prefetched,
  type PullRequest,
  type Repo,
  type TreeEntry,
  writeAlone,
} from '../../ports/github.ts';

/** What a dry run changes in the repository's configuration, on whatever branch governs. */
export interface Pretence {
  repo: Repo;
  /** The closed pull requests that count as closed, because the chain waits for their end. */
  ended: ReadonlySet<number>;
  chains: readonly {
    /** In the folder of chains. */
    path: string;
    text: string;
    /** Whether it replaces a chain file of the repository with that text. */
    replaces(text: string): boolean;
  }[];
}

/** Who does what is only played. Their review counts as one by a person with write access. */
export const SOMEBODY = 'somebody';
/** How the app's own checks are named. Those of an installed app are not CI. */
const OWN_CHECK = /^countersign( \/|: )/;
/** Far above the ids of GitHub, so that none is taken for one. */
const FIRST_ID = 2 ** 52;
const CHAINS = `${CHAINS_FOLDER.slice(FOLDER.length + 1)}/`;

/**
 * GitHub without its writes. Reads go to the real one, with three exceptions: configuration files of the dry run,
 * comments that it "wrote", and a closed pull request, which counts as open unless the chain waits for its end, because
 * nothing would run for it otherwise. Answers to writes are invented; a merge is refused, because nobody can countersign.
 */
export function withoutWriting(real: GitHub, pretence: Pretence): GitHub {
  const comments = new Map<number, CommentFacts>();
  let lastId = FIRST_ID;
  const nextId = () => {
    lastId += 1;
    return lastId;
  };

  const writer: GitHubWriter = {
    writeTogether: (repo, writes) =>
      Promise.allSettled(writes.map((write) => writeAlone(writer, repo, write))),
    createCheckRun: async () => ({ id: nextId(), nodeId: undefined, url: undefined }),
    updateCheckRun: async () => {},
    findCheckRun: async () => undefined,
    async createComment(_repo, _issue, body): Promise<WrittenComment> {
      const id = nextId();
      const author = { id: real.appId, login: 'countersign[bot]', type: 'Bot' as const };
      comments.set(id, { id, nodeId: null, body, author, viaAppId: real.appId, reactions: {} });
      return { id, authorId: author.id, nodeId: undefined };
    },
    async updateComment(_repo, id, body) {
      const known = comments.get(id);
      if (!known) return 'gone';
      comments.set(id, { ...known, body });
      return 'updated';
    },
    minimizeComment: async () => {},
    findComment: async () => undefined,
    react: async () => {},
    label: async () => {},
    createIssue: async () => nextId(),
    updateIssue: async () => 'updated',
    findIssue: async () => undefined,
    createReview: async () => nextId(),
    findReview: async () => undefined,
    updateReviewComment: async () => 'updated',
    replyInThread: async () => nextId(),
    findReviewComment: async () => undefined,
    resolveThread: async () => {},
    assign: async () => {},
    setMilestone: async () => {},
    close: async () => {},
    requestReviews: async () => {},
    deleteBranch: async () => 'kept',
    backport: async () => ({ result: 'opened' }),
    startWorkflow: async () => ({ id: nextId(), url: '' }),
    updateBranch: async () => 'updated',
    setStatus: async () => {},
    release: async () => ({ result: 'released' }),
    wasReviewRequested: async () => false,
    passGate: refuse,
    enqueue: refuse,
    dequeue: refuse,
    merge: refuse,
  };

  return {
    appId: real.appId,
    app: real.app,
    turn: () => undefined,
    changed: real.changed,
    reader: (installationId, urgency) => readerOver(real.reader(installationId, urgency), pretence, comments),
    writer: () => writer,
  };
}

async function refuse(): Promise<never> {
  throw new Error('a dry run neither merges nor opens a gate');
}

function readerOver(
  real: GitHubReader,
  pretence: Pretence,
  comments: ReadonlyMap<number, CommentFacts>,
): GitHubReader {
  return {
    ...real,
    ...configurationOver(real, pretence),
    async pullRequest(repo, number) {
      const pullRequest = await real.pullRequest(repo, number);
      return pretence.ended.has(number) ? pullRequest : asIfOpen(pullRequest);
    },
    async checkRuns(repo, sha): Promise<CheckRunFacts[]> {
      return (await real.checkRuns(repo, sha)).filter(({ name }) => !OWN_CHECK.test(name));
    },
    role: async (at, login) => (login === SOMEBODY ? 'write' : real.role(at, login)),
    // A workflow that was not started never ends.
    workflowRun: async (repo, id) =>
      id > FIRST_ID ? { conclusion: null, url: 'it was not started' } : real.workflowRun(repo, id),
    comment: async (repo, id) => comments.get(id) ?? real.comment(repo, id),
    reactions: async (repo, id) => (comments.has(id) ? [] : real.reactions(repo, id)),
    // A query would show GitHub as it is.
    async prefetched(): Promise<Prefetched> {
      return { over: (rest) => rest, pullRequest: undefined };
    },
  };
}

/** A closed pull request as it was before it was closed, as far as that is known. */
function asIfOpen(pullRequest: PullRequest): PullRequest {
  if (pullRequest.state === 'open') return pullRequest;
  return {
    ...pullRequest,
    state: 'open',
    closedAt: null,
    merged: false,
    mergeCommitSha: null,
    mergedBy: null,
    mergeable: true,
    rebaseable: true,
    mergeableState: 'clean',
  };
}

/** The methods by which the app reads configuration: a folder, its tree, and blobs. */
function configurationOver(
  real: GitHubReader,
  { repo, chains }: Pretence,
): Partial<Pick<GitHubReader, 'folder' | 'tree' | 'blob'>> {
  if (chains.length === 0) return {};
  const isHere = ({ owner, name }: Repo) => owner === repo.owner && name === repo.name;
  /** The real trees behind the names that `folder` gave to those of the countersign folder. */
  const trees = new Map<string, string | undefined>();
  const blobs = new Map<string, Uint8Array>();
  const entryOf = (path: string, text: string): TreeEntry => {
    const bytes = new TextEncoder().encode(text);
    const sha = `dry-run:${contentHash(text)}`;
    blobs.set(sha, bytes);
    return { path, type: 'file', sha, size: bytes.length };
  };
  const textOf = async ({ sha }: TreeEntry) => {
    const bytes = await real.blob(repo, sha, MAX_CONFIGURATION_BYTES);
    return bytes && textOfFile(bytes);
  };

  return {
    async folder(from, path, ref) {
      const found = await real.folder(from, path, ref);
      if (!isHere(from) || path !== '.github') return found;
      const entries = found ?? [];
      const inside = entries.find(({ path, type }) => type === 'dir' && path === FOLDER);
      const sha = `dry-run:tree:${inside?.sha ?? ''}`;
      trees.set(sha, inside?.sha);
      return [
        ...entries.filter((entry) => entry !== inside),
        { path: FOLDER, type: 'dir' as const, sha, size: 0 },
      ];
    },
    async tree(from, ref) {
      if (!isHere(from) || !trees.has(ref)) return real.tree(from, ref);
      const sha = trees.get(ref);
      const found = sha === undefined ? [] : await real.tree(from, sha);
      if (!found) return found;
      const kept = await Promise.all(
        found.map(async (entry) => {
          const isChain = entry.type === 'file' && entry.path.startsWith(CHAINS);
          const text = isChain ? ((await textOf(entry)) ?? '') : undefined;
          const isReplaced = chains.some(
            ({ path, replaces }) =>
              `${FOLDER}/${entry.path}` === path || (text !== undefined && replaces(text)),
          );
          return isReplaced ? [] : [entry];
        }),
      );
      const added = chains.map(({ path, text }) => entryOf(path.slice(FOLDER.length + 1), text));
      return [...kept.flat(), ...added];
    },
    blob: async (from, sha, maxBytes) => {
      const known = isHere(from) ? blobs.get(sha) : undefined;
      if (!known) return real.blob(from, sha, maxBytes);
      return known.length > maxBytes ? undefined : known;
    },
  };
}
