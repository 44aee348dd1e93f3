import { spawn } from 'node:child_process';
import { mkdir, writeFile } from 'node:fs/promises';
import { createRequire } from 'node:module';
import { dirname, join } from 'node:path';
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

const FOLDER = 'oxlint';
const CONFIG = 'oxlintrc.json';
const MAX_OUTPUT = 16_000_000;

/**
 * Runs oxlint on copies of the files in a folder of our own, away from any configuration, ignore file or
 * plugin of the pull request. The flags also disable these. Only a JSON configuration cannot execute code.
 */
export const analyze: Analyze<RuleBook['oxlint']> = async (files, { rules }) => {
  await mkdir(FOLDER);
  const byName = new Map(files.map((file) => [file.name, file]));
  await Promise.all(files.map((file) => writeFile(join(FOLDER, file.name), withoutSuppressions(file.text))));
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
  await writeFile(CONFIG, JSON.stringify(pinned));
  const log = await run(['-c', CONFIG, '--disable-nested-config', '--no-ignore', '-f', 'json', FOLDER]);
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

function run(args: readonly string[]): Promise<string> {
  const entry = createRequire(import.meta.url).resolve('oxlint/package.json');
  return new Promise((resolve, reject) => {
    const child = spawn(
      process.execPath,
      ['--disable-warning=SecurityWarning', join(dirname(entry), 'bin', 'oxlint'), ...args],
      {
        env: {},
        stdio: ['ignore', 'pipe', 'pipe'],
      },
    );
    let output = '';
    let errors = '';
    child.stdout.setEncoding('utf8').on('data', (text: string) => {
      output += text;
      if (output.length > MAX_OUTPUT) child.kill('SIGKILL');
    });
    child.stderr.setEncoding('utf8').on('data', (text: string) => {
      errors = (errors + text).slice(0, 4_000);
    });
    child.on('error', reject);
    child.on('close', (code, signal) => {
      // 1 means that there are errors, which the JSON contains.
      if (code === 0 || code === 1) resolve(output);
      else reject(new Error(`oxlint ended with ${signal ?? `exit code ${code}`}: ${errors.slice(0, 500)}`));
    });
  });
}
