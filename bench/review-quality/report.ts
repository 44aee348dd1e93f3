import { linesOf } from './clean-code.ts';
import { type CorpusCase, type CorpusFile, GROUPS, HALVES, halfOf, KINDS } from './corpus-case.ts';
import { alarmsOf, type Found, findsOf, type Reported, type Tallies, tally } from './score.ts';

export interface EngineResult extends Reported {
  engine: string;
  /** The cases whose files it claims to read. */
  cases: ReadonlySet<CorpusCase>;
  clean: readonly CorpusFile[];
  remarks: readonly Found[];
  /** For the weak files and their corrected versions. */
  seconds: number;
}

const LANGUAGES: readonly (readonly [name: string, path: RegExp])[] = [
  ['JavaScript, TypeScript', /\.(?:[cm]?[jt]s|[jt]sx)$/],
  ['Python', /\.py$/],
  ['Go', /\.go$/],
  ['workflows', /\.github\/workflows\//],
  ['shell', /\.sh$/],
  ['other', /(?:)/],
];

function byLanguage(files: readonly CorpusFile[]): Map<string, CorpusFile[]> {
  return Map.groupBy(
    files,
    ({ path }) => LANGUAGES.find(([, pattern]) => pattern.test(path))?.[0] ?? 'other',
  );
}

/** Everything as data, for other programs. */
export function asJson(
  cases: readonly CorpusCase[],
  clean: readonly CorpusFile[],
  results: readonly EngineResult[],
): object {
  return {
    cases: cases.length,
    cleanLines: linesOf(clean),
    engines: results.map((result) => ({
      engine: result.engine,
      seconds: result.seconds,
      groups: Object.fromEntries(
        groupsOf(cases).map((group) => [group, tallyOf(result, cases, 'group', group)]),
      ),
      kinds: Object.fromEntries(kindsOf(cases).map((kind) => [kind, tallyOf(result, cases, 'kind', kind)])),
      remarksPer1000Lines: perThousand(result.remarks, result.clean),
    })),
  };
}

const groupsOf = (cases: readonly CorpusCase[]) =>
  GROUPS.filter((group) => cases.some((one) => one.group === group));
const kindsOf = (cases: readonly CorpusCase[]) =>
  KINDS.filter((kind) => cases.some((one) => one.kind === kind));

function tallyOf(
  result: EngineResult,
  cases: readonly CorpusCase[],
  by: 'group' | 'kind',
  value: string,
): Tallies | null {
  const mine = cases.filter((one) => one[by] === value && result.cases.has(one));
  return mine.length === 0 ? null : tally(mine, result);
}

function perThousand(remarks: readonly Found[], files: readonly CorpusFile[]): number | null {
  const lines = linesOf(files);
  return lines === 0 ? null : Math.round((remarks.length / lines) * 100_000) / 100;
}

export function printTables(
  cases: readonly CorpusCase[],
  clean: readonly CorpusFile[],
  results: readonly EngineResult[],
  { list }: { list: boolean },
): void {
  console.log(
    'Weaknesses found near their place and of their kind; in brackets, alarms on corrected versions and look-alikes.',
  );
  console.log('Each figure: the half that rules are tuned on, then the control half.');
  console.table(rowsBy('group', groupsOf(cases)));
  console.table(rowsBy('kind', kindsOf(cases)));
  console.log('Weaknesses found if the change is one to an existing file:');
  console.table(
    Object.fromEntries(
      groupsOf(cases).map((group) => [
        group,
        Object.fromEntries(
          results.map((result) => [result.engine, inDiff(tallyOf(result, cases, 'group', group))]),
        ),
      ]),
    ),
  );
  if (clean.length > 0) {
    console.log('Remarks per 1,000 clean lines:');
    console.table(
      Object.fromEntries(
        [...byLanguage(clean)].map(([language, files]) => [
          `${language}, ${linesOf(files).toLocaleString('en-GB')} lines`,
          Object.fromEntries(results.map((result) => [result.engine, remarksOn(result, files)])),
        ]),
      ),
    );
  }
  console.log('Seconds for the weak files and their corrected versions:');
  console.table(Object.fromEntries(results.map(({ engine, seconds }) => [engine, seconds.toFixed(1)])));
  const [own] = results;
  if (list && own) printList(cases, own);

  function rowsBy(by: 'group' | 'kind', values: readonly string[]) {
    return Object.fromEntries(
      values.map((value) => [
        value,
        Object.fromEntries(
          results.map((result) => [result.engine, inWords(tallyOf(result, cases, by, value))]),
        ),
      ]),
    );
  }
}

function inWords(tallies: Tallies | null): string {
  if (tallies === null) return '';
  return HALVES.map((half) => {
    const { finds, weaknesses, alarms, silent } = tallies[half];
    return `${finds}/${weaknesses} (${alarms}/${silent})`;
  }).join('  ');
}

function inDiff(tallies: Tallies | null): string {
  if (tallies === null) return '';
  return HALVES.map((half) => `${tallies[half].findsInDiff}/${tallies[half].weaknesses}`).join('  ');
}

function remarksOn({ remarks, clean }: EngineResult, files: readonly CorpusFile[]): string {
  const paths = new Set(files.map(({ path }) => path));
  const read = clean.filter(({ path }) => paths.has(path));
  return (
    perThousand(
      remarks.filter(({ path }) => paths.has(path)),
      read,
    )?.toString() ?? ''
  );
}

function printList(cases: readonly CorpusCase[], own: EngineResult): void {
  const place = ({ path, line, rule }: Found) => `${path}:${line} ${rule}`;
  const tuning = cases.filter((one) => halfOf(one) === 'tuning');
  console.log('Missed in the tuning half, with what was found there:');
  for (const one of tuning) {
    const { weak } = one;
    if (weak === undefined || findsOf(one, own.weak).length > 0) continue;
    const there = own.weak
      .filter(({ path }) => path === weak.path)
      .map(({ rule, line }) => `${rule}:${line}`);
    console.log(`  ${one.name} (${one.kind}, line ${weak.places.join(', ')}) ${there.join(' ')}`);
  }
  console.log('Alarms on corrected versions and look-alikes in the tuning half:');
  for (const one of tuning) for (const alarm of alarmsOf(one, own.fixed)) console.log(`  ${place(alarm)}`);
  console.log('Remarks on clean code:');
  for (const one of own.remarks) console.log(`  ${place(one)}`);
}
