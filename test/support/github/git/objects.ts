import { createHash } from 'node:crypto';

/** What a test may put at a path: text, bytes, or a symbolic link. */
export type FileInput = string | Uint8Array | { symlink: string };

export interface TreeEntry {
  name: string;
  mode: '100644' | '120000' | '040000';
  type: 'blob' | 'tree';
  sha: string;
}

/** A file in a commit, by its full path. */
export interface FileEntry {
  mode: '100644' | '120000';
  sha: string;
}

export interface Signature {
  name: string;
  email: string;
  date: Date;
}

export interface Commit {
  sha: string;
  tree: string;
  parents: readonly string[];
  author: Signature;
  committer: Signature;
  message: string;
  /** Every file of the commit's tree by path, sorted. */
  files: ReadonlyMap<string, FileEntry>;
}

/**
 * The git objects of one fork network, in memory, with git's own object names. Real `git` in a temporary folder was rejected: a
 * process per read costs 3–5 ms, and tests read hundreds of times.
 */
export class GitObjects {
  readonly #blobs = new Map<string, Buffer>();
  readonly #trees = new Map<string, readonly TreeEntry[]>();
  readonly #commits = new Map<string, Commit>();

  blob(sha: string): Buffer | undefined {
    return this.#blobs.get(sha);
  }

  tree(sha: string): readonly TreeEntry[] | undefined {
    return this.#trees.get(sha);
  }

  commit(sha: string): Commit | undefined {
    return this.#commits.get(sha);
  }

  /** A commit that the caller knows to exist. */
  commitAt(sha: string): Commit {
    const commit = this.#commits.get(sha);
    if (!commit) throw new Error(`There is no commit ${sha}.`);
    return commit;
  }

  /** The only commit whose name starts with this (at least 7 characters), as GitHub resolves short names. */
  commitByPrefix(prefix: string): Commit | undefined {
    if (!/^[0-9a-f]{7,40}$/.test(prefix)) return undefined;
    const exact = this.#commits.get(prefix);
    if (exact) return exact;
    const found = [...this.#commits.keys()].filter((sha) => sha.startsWith(prefix));
    return found.length === 1 && found[0] ? this.#commits.get(found[0]) : undefined;
  }

  writeBlob(data: Buffer): string {
    const sha = objectName('blob', data);
    this.#blobs.set(sha, data);
    return sha;
  }

  /** Stores the files over those of `base`; `null` removes a path. */
  writeFiles(
    base: ReadonlyMap<string, FileEntry>,
    files: Record<string, FileInput | null>,
  ): Map<string, FileEntry> {
    const next = new Map(base);
    for (const [path, input] of Object.entries(files)) {
      if (input === null) next.delete(path);
      else next.set(path, this.#writeFile(input));
    }
    return sorted(next);
  }

  /**
   * Stores a commit. Git would give two commits with the same content, parents and second the same name. The sequence number
   * keeps them apart, as passing time does on GitHub, while a fixed clock still gives stable names.
   */
  writeCommit(input: Omit<Commit, 'sha' | 'tree'>): Commit {
    const tree = this.#writeTree([...input.files]);
    const text = [
      `tree ${tree}`,
      ...input.parents.map((parent) => `parent ${parent}`),
      `author ${signature(input.author)}`,
      `committer ${signature(input.committer)}`,
      `sequence ${this.#commits.size + 1}`,
      '',
      input.message,
    ].join('\n');
    const commit: Commit = { ...input, tree, sha: objectName('commit', Buffer.from(text)) };
    this.#commits.set(commit.sha, commit);
    return commit;
  }

  /** Stores the tree of these files. */
  writeTree(files: ReadonlyMap<string, FileEntry>): string {
    return this.#writeTree([...files]);
  }

  /** Every file of a tree by path, sorted; `undefined` if there is no such tree. */
  filesOf(sha: string, folder = ''): Map<string, FileEntry> | undefined {
    const entries = this.tree(sha);
    return (
      entries &&
      sorted(
        new Map(
          entries.flatMap(({ name, type, mode, sha }): (readonly [string, FileEntry])[] =>
            type === 'tree' || mode === '040000'
              ? [...(this.filesOf(sha, `${folder}${name}/`) ?? [])]
              : [[folder + name, { mode, sha }]],
          ),
        ),
      )
    );
  }

  #writeFile(input: FileInput): FileEntry {
    if (typeof input === 'string') return { mode: '100644', sha: this.writeBlob(Buffer.from(input)) };
    if (input instanceof Uint8Array) return { mode: '100644', sha: this.writeBlob(Buffer.from(input)) };
    return { mode: '120000', sha: this.writeBlob(Buffer.from(input.symlink)) };
  }

  #writeTree(files: readonly (readonly [path: string, entry: FileEntry])[]): string {
    const folders = new Map<string, [string, FileEntry][]>();
    const entries: TreeEntry[] = [];
    for (const [path, entry] of files) {
      const slash = path.indexOf('/');
      if (slash < 0) {
        entries.push({ name: path, mode: entry.mode, type: 'blob', sha: entry.sha });
        continue;
      }
      const folder = path.slice(0, slash);
      const inside = folders.get(folder) ?? [];
      inside.push([path.slice(slash + 1), entry]);
      folders.set(folder, inside);
    }
    for (const [name, inside] of folders) {
      entries.push({ name, mode: '040000', type: 'tree', sha: this.#writeTree(inside) });
    }
    entries.sort((a, b) => Buffer.compare(Buffer.from(sortKey(a)), Buffer.from(sortKey(b))));
    const data = Buffer.concat(
      entries.flatMap((entry) => [
        Buffer.from(`${entry.mode.replace(/^0/, '')} ${entry.name}\0`),
        Buffer.from(entry.sha, 'hex'),
      ]),
    );
    const sha = objectName('tree', data);
    this.#trees.set(sha, entries);
    return sha;
  }
}

export function sorted<T>(map: ReadonlyMap<string, T>): Map<string, T> {
  return new Map([...map].sort(([a], [b]) => (a < b ? -1 : a > b ? 1 : 0)));
}

/** Git sorts a folder as if its name ended in a slash. */
function sortKey(entry: TreeEntry): string {
  return entry.type === 'tree' ? `${entry.name}/` : entry.name;
}

function objectName(type: string, data: Buffer): string {
  return createHash('sha1').update(`${type} ${data.length}\0`).update(data).digest('hex');
}

function signature({ name, email, date }: Signature): string {
  return `${name} <${email}> ${Math.floor(date.getTime() / 1000)} +0000`;
}
