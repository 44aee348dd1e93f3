/** One package in a lock file. */
export interface Entry {
  /** Identifies it in the file, such as a path in `node_modules` or a list of ranges. */
  key: string;
  /** The package's name at its source. */
  name: string;
  version: string;
  /**
   * Where it is downloaded from. Absent if the file does not say, as for packages of the default registry.
   */
  resolved?: string | undefined;
  integrity?: string | undefined;
  /** Installing it runs a script of its own, as far as the file says. */
  installScript?: boolean | undefined;
  /** It is a folder of the repository. */
  local?: boolean | undefined;
  line: number;
  endLine: number;
}

export interface Lock {
  entries: Entry[];
  /** In files of this format, entries from a registry have an integrity hash. */
  hasIntegrity: boolean;
  /** What the manifests of the workspace request, by folder, as far as the file stores it. */
  asked: ReadonlyMap<string, ReadonlyMap<string, string>>;
}
