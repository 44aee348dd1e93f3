import { readdirSync, readFileSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { CountersignError } from '../../core/errors.ts';
import { textOfFile } from '../../core/text.ts';
import { CHAIN_TESTS, FOLDER, SETTINGS_FILE } from '../../domain/chain/configuration-files.ts';
import { readChainCases } from '../../domain/chain-case/case-file.ts';
import {
  type CaseDifference,
  caseDifferences,
  NO_CHAIN_CASES,
  noCaseNamed,
  noCasesOf,
  testedChains,
} from '../../messages/cli/chain-test.ts';
import { unreadableFile } from '../../messages/cli/cli.ts';
import { courseText } from '../../messages/cli/dry-run.ts';
import { casePlayed } from '../../messages/cli/progress.ts';
import type { Context, Output } from './context.ts';

export interface ChainTestOptions {
  case?: string;
  show?: boolean;
}

/** Runs the cases in the working folder, with its chains, settings and skills as they are. */
export async function chainTest(
  { cwd, tools, status }: Context,
  only: string | undefined,
  { case: words = '', show = false }: ChainTestOptions = {},
): Promise<Output> {
  const files = filesIn(cwd);
  const read = [...files]
    .filter(([path]) => path.startsWith(`${CHAIN_TESTS}/`) && /\.ya?ml$/.test(path))
    .map(([path, text]) => ({ path, ...readChainCases(text, path) }));
  const about = read.filter(({ chain }) => only === undefined || chain === undefined || chain === only);
  // A file with mistakes may have cases of the chain, and then its mistakes say more.
  if (about.length === 0 && only !== undefined)
    throw new CountersignError('cli.no_cases', noCasesOf(only, testedIn(read)));
  if (about.length === 0) throw new CountersignError('cli.no_cases', NO_CHAIN_CASES);
  const faults = about.flatMap(({ diagnostics }) => diagnostics);
  const results: { chain: string; case: string; differences: CaseDifference[]; shown?: string }[] = [];
  const chosen = about.flatMap(({ chain = '', cases }) =>
    cases.filter(({ name }) => name.includes(words)).map((one) => ({ chain, one })),
  );
  for (const [index, { chain, one }] of chosen.entries()) {
    status(casePlayed(index + 1, chosen.length, one.name));
    const played = await tools.chainCase(chain, one, files);
    const differences = caseDifferences(one, played);
    results.push({ chain, case: one.name, differences, ...(show && { shown: courseText(played.played) }) });
  }
  if (results.length === 0 && faults.length === 0)
    throw new CountersignError('cli.no_cases', noCaseNamed(words));
  return {
    text: (screen) => testedChains(results, faults, screen),
    json: {
      cases: results.map(({ differences, shown: _, ...named }) => ({
        ...named,
        kind: differences.length === 0 ? 'passed' : 'failed',
        differences,
      })),
      faults,
    },
    failed: faults.length > 0 || results.some(({ differences }) => differences.length > 0),
  };
}

function testedIn(read: readonly { chain?: string }[]): string[] {
  return [...new Set(read.flatMap(({ chain }) => chain ?? []))];
}

/** The settings, and every file of the countersign folder. */
function filesIn(cwd: string): Map<string, string> {
  const isFile = (path: string) => statSync(join(cwd, path), { throwIfNoEntry: false })?.isFile() === true;
  const isFolder = statSync(join(cwd, FOLDER), { throwIfNoEntry: false })?.isDirectory() === true;
  const inside = isFolder ? readdirSync(join(cwd, FOLDER), { recursive: true, encoding: 'utf8' }) : [];
  const paths = [SETTINGS_FILE, ...inside.map((path) => join(FOLDER, path)).sort()].filter(isFile);
  return new Map(
    paths.map((path) => {
      try {
        return [path, textOfFile(readFileSync(join(cwd, path)))];
      } catch (error) {
        throw new CountersignError('cli.unreadable_file', unreadableFile(path), { cause: error });
      }
    }),
  );
}
