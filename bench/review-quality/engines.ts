import { spawnSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { stripTypeScriptTypes } from 'node:module';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { lintSource } from '@secretlint/core';
import { rules as secretRules } from '@secretlint/secretlint-rule-preset-recommend';
import { Linter } from 'eslint';
import security from 'eslint-plugin-security';
import { newActionlint } from '../../src/analyzers/actionlint.ts';
import type { ChangedFile } from '../../src/analyzers/changed-file.ts';
import { createAnalyzerPool } from '../../src/analyzers/pool.ts';
import { reviewFiles } from '../../src/analyzers/review.ts';
import { diffTexts } from '../../test/support/github/git/patch.ts';
import type { CorpusFile } from './corpus-case.ts';
import { kindOf } from './kind-of.ts';
import type { Found } from './score.ts';

/** A file, and what it was before if the change is to an existing file. */
export interface EngineFile extends CorpusFile {
  before?: string;
}

export interface Engine {
  name: string;
  /** The files that it claims to read. */
  reads(path: string): boolean;
  run(files: readonly EngineFile[]): Promise<Found[]>;
}

const BATCH = 150;
const ECMASCRIPT = /\.(?:[cm]?[jt]s|[jt]sx)$/;
const WORKFLOW = /(?:^|\/)\.github\/workflows\/[^/]+\.ya?ml$/;

/** The review as it is, in its processes. Few files at a time, because a review lists a limited number of findings. */
export function countersign(): Engine & { stop(): Promise<void> } {
  const pool = createAnalyzerPool({ spares: false });
  return {
    name: 'Countersign',
    reads: () => true,
    stop: () => pool.stop(),
    async run(files) {
      const found: Found[] = [];
      for (let from = 0; from < files.length; from += BATCH) {
        const { report } = await reviewFiles(files.slice(from, from + BATCH).map(changedFile), {
          timeoutMs: 300_000,
          signal: new AbortController().signal,
          pool,
        });
        const broken = report.analyzers.filter(({ status }) => status !== 'ok');
        if (broken.length > 0) throw new Error(`an analyzer failed: ${JSON.stringify(broken)}`);
        for (const { file, line = 1, end_line: endLine = line, rule, severity } of report.findings) {
          if (file !== null) found.push({ path: file, line, endLine, rule, kind: kindOf(rule), severity });
        }
      }
      return found;
    },
  };
}

function changedFile({ path, text, before }: EngineFile): ChangedFile {
  const content = Buffer.from(text);
  if (before === undefined) return { path, status: 'added', content };
  const { patch } = diffTexts(before, text);
  return { path, status: 'modified', content, patch };
}

const LANGUAGE = {
  ecmaVersion: 'latest',
  parserOptions: { ecmaFeatures: { jsx: true } },
} as const;

/** The stock preset, with nothing of ours. TypeScript loses its types first, at equal positions. */
export const eslintSecurity: Engine = {
  name: 'eslint-plugin-security',
  reads: (path) => ECMASCRIPT.test(path) && !path.endsWith('.tsx'),
  async run(files) {
    const linter = new Linter();
    return files.flatMap(({ path, text }) => {
      const source = withoutTypes(path, text);
      for (const sourceType of ['module', 'commonjs'] as const) {
        const messages = linter.verify(source, {
          ...security.configs.recommended,
          languageOptions: { ...LANGUAGE, sourceType },
          linterOptions: { reportUnusedDisableDirectives: 'off' },
        });
        if (messages.some(({ fatal }) => fatal)) continue;
        return messages.map(({ ruleId, line, endLine = line }) =>
          foundBy(path, ruleId ?? 'none', line, endLine),
        );
      }
      return [];
    });
  },
};

function withoutTypes(path: string, text: string): string {
  if (!/\.[cm]?ts$/.test(path)) return text;
  try {
    return stripTypeScriptTypes(text);
  } catch {
    // Syntax that has a meaning at run time, such as `enum`. Then the plugin reads what it can.
    return text;
  }
}

export const secretlint: Engine = {
  name: 'secretlint',
  reads: () => true,
  async run(files) {
    const found: Found[] = [];
    for (const { path, text } of files) {
      const result = await lintSource({
        source: {
          content: text,
          filePath: path,
          ext: path.slice(path.lastIndexOf('.')),
          contentType: 'text',
        },
        options: {
          noPhysicFilePath: true,
          config: { rules: secretRules.map((rule) => ({ id: rule.meta.id, rule })) },
        },
      });
      for (const { ruleId, loc } of result.messages) {
        found.push({
          ...foundBy(path, ruleId, loc.start.line, loc.end.line),
          kind: 'secret',
        });
      }
    }
    return found;
  },
};

export const oxlint: Engine = {
  name: 'oxlint',
  reads: (path) => ECMASCRIPT.test(path),
  async run(files) {
    const folder = mkdtempSync(join(tmpdir(), 'review-quality-'));
    try {
      const names = new Map<string, string>();
      for (const [index, { path, text }] of files.entries()) {
        const name = join('files', `${index}${path.slice(path.lastIndexOf('.'))}`);
        names.set(name, path);
        mkdirSync(dirname(join(folder, name)), { recursive: true });
        writeFileSync(join(folder, name), text);
      }
      const program = join(import.meta.dirname, '../../node_modules/oxlint/bin/oxlint');
      const { stdout } = spawnSync(process.execPath, [program, '-f', 'json', 'files'], {
        cwd: folder,
        encoding: 'utf8',
        maxBuffer: 200_000_000,
      });
      const { diagnostics } = JSON.parse(stdout) as {
        diagnostics: { code?: string; filename: string; labels: { span: { line: number } }[] }[];
      };
      return diagnostics.map(({ code = 'parse-error', filename, labels }) => {
        const line = labels[0]?.span.line ?? 1;
        return foundBy(names.get(filename) ?? filename, code, line, line);
      });
    } finally {
      rmSync(folder, { recursive: true, force: true });
    }
  },
};

export const actionlint: Engine = {
  name: 'actionlint',
  reads: (path) => WORKFLOW.test(path),
  async run(files) {
    const found: Found[] = [];
    for (const { path, text } of files) {
      const lint = await newActionlint();
      try {
        for (const { kind, line, message } of lint(text, 'workflow.yml')) {
          const rule = /potentially untrusted/.test(message) ? 'script-injection' : kind;
          found.push(foundBy(path, rule, line, line));
        }
      } catch {
        // It cannot read some invalid YAML.
      }
    }
    return found;
  },
};

function foundBy(path: string, rule: string, line: number, endLine: number): Found {
  return { path, rule, line, endLine, kind: kindOf(rule), severity: 'medium' };
}
