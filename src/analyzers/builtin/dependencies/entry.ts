/** One package as a lock file pins it. */
export interface Entry {
  /** What tells it from others in the file, such as a path in `node_modules` or a list of ranges. */
  key: string;
  /** What the package is called where it comes from. */
  name: string;
  version: string;
  /** Where it is fetched from; absent when the file does not say, as with a registry's own packages. */
  resolved?: string | undefined;
  integrity?: string | undefined;
  /** Set when installing it runs a script of its own, as far as the file says so. */
  installScript?: boolean | undefined;
  /** It is a folder of the repository. */
  local?: boolean | undefined;
  line: number;
  endLine: number;
}

export interface Lock {
  entries: Entry[];
  /** Entries from a registry have an integrity in files of this kind. */
  hasIntegrity: boolean;
  /** What the manifests of the workspace ask for, by their folder, as far as the file keeps it. */
  asked: ReadonlyMap<string, ReadonlyMap<string, string>>;
}
