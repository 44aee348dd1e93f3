import { globSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { type CorpusCase, type CorpusFile, GROUPS, type Group, KINDS } from './corpus-case.ts';

const FOLDER = join(import.meta.dirname, 'samples');

/**
 * The samples of the folder `samples/`, written for this bench after published descriptions of weaknesses. The first
 * part of a file's name is its group.
 */
export function readSamples(): CorpusCase[] {
  return globSync('*.txt', { cwd: FOLDER })
    .sort()
    .flatMap((file) => {
      const group = GROUPS.find((name) => file.startsWith(name));
      if (group === undefined) throw new Error(`${file} belongs to no group`);
      return parseSamples(readFileSync(join(FOLDER, file), 'utf8'), group, file);
    });
}

/**
 * Reads samples, each of which begins with a line `== name | kind | CWE | path`. The path `workflow` stands for a workflow
 * of that name; others are put in a folder of that name. The lines are like a diff from the weak text to its corrected
 * twin. The first character says where a line belongs:
 *
 *     (space)  in both
 *     -        only in the weak text, and the place of the weakness unless another line is marked
 *     +        only in the twin
 *     *        in both, and the place of the weakness
 *     !        only in the weak text, and the place of the weakness
 *
 * A sample without a weak line is one of the look-alikes: only its twin exists.
 * @throws Error naming the line that does not follow this
 */
export function parseSamples(text: string, group: Group, source: string): CorpusCase[] {
  const cases: CorpusCase[] = [];
  let body: string[] = [];
  let open: Omit<CorpusCase, 'weak' | 'fixed'> & { path: string } = {
    name: '',
    group,
    kind: 'other',
    path: '',
  };
  const close = () => {
    if (open.name !== '') cases.push(caseOf(open, body));
    body = [];
  };
  for (const [index, line] of text.split('\n').entries()) {
    if (line.startsWith('== ')) {
      close();
      const [name = '', kind, weakness = '', path = ''] = line.slice(3).split(' | ');
      const known = KINDS.find((one) => one === kind);
      if (known === undefined || !/^(?:CWE-\d+|none)$/.test(weakness) || path === '') {
        throw new Error(`${source}:${index + 1}: not "== name | kind | CWE | path"`);
      }
      open = { name, group, kind: known, path: pathOf(name, path) };
    } else if (line === '') body.push(' ');
    else if (/^[ \-+*!]/.test(line)) body.push(line);
    else throw new Error(`${source}:${index + 1}: the line has no mark`);
  }
  close();
  return cases;
}

function pathOf(name: string, path: string): string {
  return path === 'workflow' ? `.github/workflows/${name}.yml` : `src/${name}/${path}`;
}

function caseOf(
  { name, group, kind, path }: Omit<CorpusCase, 'weak' | 'fixed'> & { path: string },
  body: readonly string[],
): CorpusCase {
  const weakLines = body.filter((line) => !line.startsWith('+'));
  const placesOf = (marks: RegExp) =>
    weakLines.flatMap((line, index) => (marks.test(line) ? [index + 1] : []));
  const marked = placesOf(/^[*!]/);
  const places = marked.length > 0 ? marked : placesOf(/^-/);
  const fixed = fileOf(
    path,
    body.filter((line) => /^[ +*]/.test(line)),
  );
  return {
    name,
    group,
    kind,
    ...(places.length > 0 && { weak: { ...fileOf(path, weakLines), places } }),
    fixed,
  };
}

function fileOf(path: string, lines: readonly string[]): CorpusFile {
  return {
    path,
    text: `${lines
      .map((line) => line.slice(1))
      .join('\n')
      .trimEnd()}\n`,
  };
}
