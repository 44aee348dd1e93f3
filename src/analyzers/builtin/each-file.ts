import type { Analysis, Analyze, RawFinding, SourceFile } from '../analyzer.ts';

/** What an analyzer of our own knows of a file beside its text at the head. */
export interface FileFacts {
  path: string;
  /** Its text on the base branch; absent when it is new, or nobody asked for it. */
  before?: string;
}

export interface OwnConfig {
  /** By the file's place among all. */
  files: { readonly [index: number]: FileFacts };
  /** Every path of the head's commit; absent when nobody asked for it. */
  tree?: readonly string[];
}

/** A file as an analyzer of our own sees it. */
export interface OwnFile extends FileFacts {
  text: string;
}

/** What was found in one file. */
export type Found<Rule extends string> = Omit<RawFinding, 'file' | 'rule'> & { rule: Rule };

/** All of the files an analyzer wants, since some mistakes are between two of them. */
export interface Sight {
  files: readonly OwnFile[];
  tree: ReadonlySet<string>;
}

/** Makes an analyzer's module of a function that looks at one file at a time. */
export function eachFile<Rule extends string>(
  look: (file: OwnFile, sight: Sight) => readonly Found<Rule>[],
): Analyze<OwnConfig> {
  return async (sources, config): Promise<Analysis> => {
    const known = sources.map((source) => ({ source, file: ownFile(source, config) }));
    const sight = { files: known.map(({ file }) => file), tree: new Set(config.tree) };
    const findings = known.flatMap(({ source, file }) =>
      look(file, sight).map((found): RawFinding => ({ file: source.index, ...found })),
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
