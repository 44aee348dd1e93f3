import { fstatSync, readSync } from 'node:fs';
import { mkdtemp, writeFile } from 'node:fs/promises';
import { createRequire } from 'node:module';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { type Analyze, ofWholeFile, type RawFinding, withoutSuppressions } from '../analyzer.ts';
import type { RuleBook } from '../rules.ts';

/**
 * The fields that we read. The version is pinned; with another format, the analyzer fails instead of passing.
 */
interface Output {
  number_of_files: number;
  diagnostics: {
    message: string;
    code?: string;
    filename: string;
    labels: { span: { line: number } }[];
  }[];
}

const MAX_OUTPUT = 16_000_000;
const STANDARD_OUTPUT = 1;
const PROGRAM = new URL(
  'dist/',
  pathToFileURL(createRequire(import.meta.url).resolve('oxlint/package.json')),
);
// Native code, which the process may not load any more once it reads texts of the pull request.
await import(new URL('bindings.js', PROGRAM).href);
let runs = 0;

/**
 * Runs oxlint on copies of the files in a folder of our own, away from any configuration, ignore file or
 * plugin of the pull request. The flags also disable these. Only a JSON configuration cannot execute code.
 */
export const analyze: Analyze<RuleBook['oxlint']> = async (files, { rules }) => {
  const folder = await mkdtemp('oxlint-');
  const configuration = `${folder}.json`;
  const byName = new Map(files.map((file) => [file.name, file]));
  await Promise.all(files.map((file) => writeFile(join(folder, file.name), withoutSuppressions(file.text))));
  const pinned = {
    plugins: ['eslint', 'typescript', 'unicorn', 'oxc'],
    jsPlugins: [],
    categories: { correctness: 'off' },
    rules: Object.fromEntries(
      Object.keys(rules)
        .filter((rule) => rule !== 'parse-error')
        .map((rule) => [rule, 'warn']),
    ),
    options: { respectEslintDisableDirectives: false },
  };
  await writeFile(configuration, JSON.stringify(pinned));
  const log = await run([
    '-c',
    configuration,
    '--disable-nested-config',
    '--no-ignore',
    '-f',
    'json',
    folder,
  ]);
  const output = JSON.parse(log) as Output;
  if (output.number_of_files !== files.length) {
    throw new Error(`oxlint looked at ${output.number_of_files} of ${files.length} files`);
  }
  const findings: RawFinding[] = [];
  for (const diagnostic of output.diagnostics) {
    const file = byName.get(diagnostic.filename.slice(diagnostic.filename.lastIndexOf('/') + 1));
    if (file === undefined) throw new Error('oxlint named a file that it was not given');
    const rule = diagnostic.code === undefined ? 'parse-error' : ruleOf(diagnostic.code);
    const line = diagnostic.labels[0]?.span.line ?? 1;
    const { message } = diagnostic;
    const extent = rule === 'parse-error' ? ofWholeFile(line, message) : { message };
    findings.push({ file: file.index, rule, line, ...extent });
  }
  return { findings, log };
};

/** `typescript-eslint(no-misused-new)` → `typescript/no-misused-new`, the name in a configuration. */
function ruleOf(code: string): string {
  const match = /^([\w-]+)\(([\w/-]+)\)$/.exec(code);
  if (!match) return 'parse-error';
  return `${match[1] === 'typescript-eslint' ? 'typescript' : match[1]}/${match[2]}`;
}

/**
 * Runs oxlint's command line in this process, because a process of its own would cost three times as much. It
 * writes to standard output, which is a file here.
 */
async function run(args: readonly string[]): Promise<string> {
  const before = fstatSync(STANDARD_OUTPUT).size;
  process.argv = [process.execPath, 'oxlint', ...args];
  // The module runs once for each address.
  await import(new URL(`cli.js?${runs++}`, PROGRAM).href);
  const bytes = fstatSync(STANDARD_OUTPUT).size - before;
  if (bytes > MAX_OUTPUT) throw new Error(`oxlint wrote ${bytes} bytes`);
  const output = Buffer.alloc(bytes);
  readSync(STANDARD_OUTPUT, output, 0, bytes, before);
  return output.toString();
}
