import { mergeBase } from './history.ts';
import { mergeTexts } from './lines.ts';
import { type FileEntry, type GitObjects, sorted } from './objects.ts';
import { isBinary } from './patch.ts';

type Files = ReadonlyMap<string, FileEntry>;

/** The files that result from merging `head` into `base`; `undefined` on a conflict. */
export function mergeCommits(
  git: GitObjects,
  base: string,
  head: string,
): Map<string, FileEntry> | undefined {
  const common = mergeBase(git, base, head);
  const [ours, theirs] = [git.commitAt(base).files, git.commitAt(head).files];
  return mergeTrees(git, common === undefined ? new Map() : git.commitAt(common).files, ours, theirs);
}

/** Three-way merge of whole trees, file by file and then line by line; `undefined` on a conflict. */
export function mergeTrees(
  git: GitObjects,
  base: Files,
  ours: Files,
  theirs: Files,
): Map<string, FileEntry> | undefined {
  const merged = new Map(ours);
  for (const path of new Set([...base.keys(), ...theirs.keys()])) {
    const [was, our, their] = [base.get(path), ours.get(path), theirs.get(path)];
    if (same(was, their) || same(our, their)) continue;
    if (same(was, our)) {
      if (their) merged.set(path, their);
      else merged.delete(path);
      continue;
    }
    const entry = mergeFile(git, was, our, their);
    if (!entry) return undefined;
    merged.set(path, entry);
  }
  return sorted(merged);
}

function mergeFile(
  git: GitObjects,
  was: FileEntry | undefined,
  our: FileEntry | undefined,
  their: FileEntry | undefined,
): FileEntry | undefined {
  if (!was || !our || !their || our.mode !== their.mode) return undefined;
  const [base, ours, theirs] = [was, our, their].map((entry) => git.blob(entry.sha) ?? Buffer.alloc(0));
  if (!base || !ours || !theirs || [base, ours, theirs].some(isBinary)) return undefined;
  const text = mergeTexts(base.toString(), ours.toString(), theirs.toString());
  return text === undefined ? undefined : { mode: our.mode, sha: git.writeBlob(Buffer.from(text)) };
}

function same(a: FileEntry | undefined, b: FileEntry | undefined): boolean {
  return a?.sha === b?.sha && a?.mode === b?.mode;
}
