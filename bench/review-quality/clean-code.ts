import { globSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { CorpusFile } from './corpus-case.ts';

const ROOT = join(import.meta.dirname, '../..');

/** Packages of this checkout that ship their sources as people wrote them. */
const SOURCES = [
  'src/{analyzers,core,domain,engine,skills}/**/*.ts',
  'node_modules/zod/src/v4/core/*.ts',
  'node_modules/{ajv,ajv-formats}/lib/**/*.ts',
  'node_modules/@ai-sdk/provider-utils/src/**/*.ts',
  'node_modules/{commander,pino,probot,nunjucks,ws,debug}/lib/**/*.js',
  'node_modules/*/.github/workflows/*.yml',
  'node_modules/*/{*.sh,*/*.sh}',
  'deploy/**/*.{yaml,yml}',
  '{Dockerfile,compose.yaml}',
  'node_modules/*/{Dockerfile,.travis.yml}',
];
const MAX_LINE = 500;

/**
 * Code that is in use and well kept, so each remark is one that somebody would have to answer: this project, and what
 * it depends on. With a folder, all text files in it instead.
 */
export function cleanCode(folder?: string): CorpusFile[] {
  const root = folder ?? ROOT;
  const patterns =
    folder === undefined
      ? SOURCES
      : [
          '**/*.{js,mjs,cjs,jsx,ts,mts,tsx,py,go,java,rb,php,sh,tf,yml,yaml,sql}',
          '**/{Dockerfile,Dockerfile.*}',
        ];
  return globSync(patterns, {
    cwd: root,
    exclude: ['**/{test,tests,__tests__,fixtures,testdata,dist,build}/**', '**/*.test.*', '**/*_test.*'],
  })
    .sort()
    .flatMap((path) => {
      const text = read(join(root, path));
      const isReadable = text.length < 1_000_000 && !text.split('\n').some((line) => line.length > MAX_LINE);
      return isReadable ? [{ path: asIfOfOneRepository(path), text }] : [];
    });
}

/** A workflow counts as one only in the folder of workflows, and files below `node_modules` count as dependencies. */
function asIfOfOneRepository(path: string): string {
  const workflow = /^(.*?)\/?\.github\/workflows\/([^/]+)$/.exec(path);
  if (workflow === null) return path.replace(/^node_modules\//, 'packages/');
  return `.github/workflows/${workflow[1]?.replaceAll('/', '-')}-${workflow[2]}`;
}

function read(path: string): string {
  try {
    return readFileSync(path, 'utf8');
  } catch {
    // A folder whose name ends as a file's does.
    return '';
  }
}

export function linesOf(files: readonly CorpusFile[]): number {
  return files.reduce((sum, { text }) => sum + text.split('\n').length, 0);
}
