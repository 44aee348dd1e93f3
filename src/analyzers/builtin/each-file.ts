import type { Analysis, Analyze, RawFinding, SourceFile } from '../analyzer.ts';

/** What one of our own analyzers knows about a file besides its text at the head. */
export interface FileFacts {
  path: string;
  /** Its text on the base branch. Absent if the file is new or the analyzer did not request it. */
  before?: string;
}

export interface OwnConfig {
  /** By the file's index. */
  files: { readonly [index: number]: FileFacts };
  /** All paths of the head's commit. Absent if the analyzer did not request it. */
  tree?: readonly string[];
}

/** A file as one of our own analyzers sees it. */
export interface OwnFile extends FileFacts {
  text: string;
}

/** A finding in one file. */
export type Found<Rule extends string> = Omit<RawFinding, 'file' | 'rule'> & { rule: Rule };

/** All files of an analyzer, because some problems involve two of them. */
export interface FileSet {
  files: readonly OwnFile[];
  tree: ReadonlySet<string>;
}

/** Makes an analyzer's module from a function that checks one file at a time. */
export function eachFile<Rule extends string>(
  check: (file: OwnFile, fileSet: FileSet) => readonly Found<Rule>[],
): Analyze<OwnConfig> {
  return async (sources, config): Promise<Analysis> => {
    const known = sources.map((source) => ({ source, file: ownFile(source, config) }));
    const fileSet = { files: known.map(({ file }) => file), tree: new Set(config.tree) };
    const findings = known.flatMap(({ source, file }) =>
      check(file, fileSet).map((found): RawFinding => ({ file: source.index, ...found })),
    );
    const log = findings.map(({ file, rule, line, message = '' }) => `${file} ${rule} ${line} ${message}`);
    return { findings, log: log.join('\n') };
  };
}

function ownFile({ index, text }: SourceFile, { files }: OwnConfig): OwnFile {
  const facts = files[index];
  if (!facts) throw new Error('a file came without its path');
  return { ...facts, text };
}
