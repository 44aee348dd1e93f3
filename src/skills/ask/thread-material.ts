import { type ChangedFile, MAX_FILE_BYTES } from '../../analyzers/changed-file.ts';
import type { AnalyzerPool } from '../../analyzers/pool.ts';
import { reviewFiles } from '../../analyzers/review.ts';
import type { GitHubReader, OwnThread, Repo } from '../../ports/github.ts';
import { linesWithoutSecrets, NOT_SHOWN } from '../builtin/review/model/piece.ts';

/** What one question holds, in characters of each part. */
const MAX_REPLY = 2_000;
const MAX_HUNK = 6_000;
const MAX_CODE = 12_000;
const MAX_FINDING = 4_000;
/** The newest ones before the reply that is answered. */
const MAX_REPLIES = 20;
/** Of one line of the code. */
const MAX_LINE = 1_000;
const LINES_AROUND = 60;
/** For two files and short texts; a review has three minutes for all of its files. */
const SEARCH_TIMEOUT_MS = 60_000;
const NOT_SEARCHED = '(not shown: it was not searched for secrets)';

export interface ThreadMaterial {
  /** The values of the prompt. Everything is from the pull request or about it, so all of it is fenced. */
  values: { finding: string; hunk: string; code: string; conversation: string[]; question: string };
  /** Hides the secrets that were found. */
  mask: Mask;
}

type Mask = (text: string) => string;
type Comment = OwnThread['comments'][number];

interface Limits {
  pool: AnalyzerPool;
  signal: AbortSignal;
}

/**
 * What a model is shown of a conversation below a finding, without secrets, as in a review. The search reads whole files, as they are in
 * the head now and at the commit of the finding: nothing in the middle of a key shows that it is one. Text that was not searched is
 * not shown.
 * @param asked the reply to answer
 * @returns `undefined` if the search failed; then nothing may be shown
 * @throws GitHubError, or the signal's reason if aborted
 */
export async function threadMaterial(
  reader: Pick<GitHubReader, 'file' | 'blob'>,
  repo: Repo,
  { headSha, thread, asked }: { headSha: string; thread: OwnThread; asked: Comment },
  limits: Limits,
): Promise<ThreadMaterial | undefined> {
  const { path, line, commitSha, comments } = thread;
  const [finding, ...replies] = comments;
  const before = replies.filter(({ id }) => id < asked.id).slice(-MAX_REPLIES);
  const hunk = thread.hunk.split('\n').map((text) => ({ mark: text.slice(0, 1), text: text.slice(1) }));
  const head = await contentOf(reader, repo, path, headSha);
  const texts = new Map<string, Uint8Array | undefined>([
    ['head', head],
    ['then', commitSha === headSha ? head : await contentOf(reader, repo, path, commitSha)],
    ['hunk', Buffer.from(hunk.map(({ text }) => text).join('\n'))],
    ...[...(finding ? [finding] : []), ...before, asked].map(
      ({ id, body }) => [`comment-${id}`, Buffer.from(readable(body))] as const,
    ),
  ]);
  const found = await search(path, texts, limits);
  if (!found) return undefined;
  const { lines, mask } = found;

  const shown = ({ id }: Comment, max: number) => {
    const text = lines.get(`comment-${id}`);
    return text ? mask(text.join('\n')).slice(0, max) : NOT_SEARCHED;
  };
  const said = (comment: Comment) => `${comment.login}: ${shown(comment, MAX_REPLY)}`;
  const isHunkSearched = lines.has('then') && lines.has('hunk');
  return {
    values: {
      finding: finding ? shown(finding, MAX_FINDING) : '',
      hunk: isHunkSearched ? shownHunk(hunk, mask).slice(-MAX_HUNK) : NOT_SEARCHED,
      code: [mask(path), ...shownCode(lines.get('head'), line, mask)].join('\n'),
      conversation: before.map(said),
      question: said(asked),
    },
    mask,
  };
}

/**
 * Searches the texts as files of this name, because some patterns are for some kinds of files only. Each has a folder of its own.
 * @returns the lines of what was searched; `undefined` if the search failed
 */
async function search(
  path: string,
  texts: ReadonlyMap<string, Uint8Array | undefined>,
  { pool, signal }: Limits,
): Promise<{ lines: ReadonlyMap<string, readonly string[]>; mask: Mask } | undefined> {
  const files = [...texts].flatMap(([folder, content]): ChangedFile[] =>
    content ? [{ path: `${folder}/${path}`, status: 'added', content }] : [],
  );
  const { files: searched, mask } = await reviewFiles(files, {
    analyzers: ['secrets'],
    timeoutMs: SEARCH_TIMEOUT_MS,
    pool,
    signal,
  });
  if (!mask) return undefined;
  const lines = new Map(searched.map((file) => [file.path.slice(0, -path.length - 1), file.lines]));
  return { lines, mask };
}

/** @returns `undefined` if there is no such file, or it is too large to be reviewed */
async function contentOf(
  reader: Pick<GitHubReader, 'file' | 'blob'>,
  repo: Repo,
  path: string,
  ref: string,
): Promise<Uint8Array | undefined> {
  const entry = await reader.file(repo, path, ref);
  return entry && reader.blob(repo, entry.sha, MAX_FILE_BYTES);
}

/** Without markers and other comments in HTML, which no reader sees. */
function readable(text: string): string {
  return text.replaceAll(/<!--.*?-->/gs, '').trim();
}

function shownHunk(hunk: readonly { mark: string; text: string }[], mask: Mask): string {
  const texts = linesWithoutSecrets(
    hunk.map(({ text }) => text),
    mask,
  );
  return texts ? hunk.map(({ mark }, at) => `${mark}${texts[at]}`).join('\n') : NOT_SHOWN;
}

/** The lines around one, with their numbers. Masked as a whole, as what stands around a hunk in a review. */
function shownCode(lines: readonly string[] | undefined, line: number | null, mask: Mask): string[] {
  if (line === null) return [];
  if (!lines) return [NOT_SEARCHED];
  const texts = linesWithoutSecrets(lines, mask);
  if (!texts) return [NOT_SHOWN];
  const near = texts
    .map((text, at) => ({
      number: at + 1,
      away: Math.abs(at + 1 - line),
      shown: `${at + 1}: ${text.slice(0, MAX_LINE)}`,
    }))
    .filter(({ away }) => away <= LINES_AROUND)
    .toSorted((a, b) => a.away - b.away);
  // From the line outwards, so that long lines far from it do not push it out.
  const fitting: typeof near = [];
  let left = MAX_CODE;
  for (const one of near) {
    if (left <= 0) break;
    fitting.push(one);
    left -= one.shown.length;
  }
  return fitting.toSorted((a, b) => a.number - b.number).map(({ shown }) => shown);
}
