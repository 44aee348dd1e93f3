import { lstatSync, mkdirSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { dirname, join, resolve } from 'node:path';
import { CountersignError, messageOf } from '../../core/errors.ts';
import { textOfFile } from '../../core/text.ts';
import {
  CHAINS_FOLDER,
  MAX_CONFIGURATION_BYTES,
  MISNAMED_SETTINGS,
  SETTINGS_FILE,
} from '../../domain/chain/configuration-files.ts';
import { CODE_OWNERS_FILES } from '../../domain/first-look/code-owners.ts';
import { type Origin, originOf } from '../../domain/first-look/origin.ts';
import type { FileText, RepositoryFiles } from '../../domain/first-look/seen.ts';
import { MAX_WORKFLOWS, WORKFLOWS_FOLDER } from '../../domain/first-look/workflow.ts';
import { cannotWrite, configuredAlready, notAFolder } from '../../messages/cli/init.ts';

/** A git checkout on this machine. It is read without git, and everything in it may be hostile. */
export interface Checkout {
  root: string;
  origin: Origin | undefined;
}

const MAX_CONFIG_BYTES = 1024 * 1024;

/** The checkout that the folder is in. */
export function checkoutAt(folder: string): Checkout | undefined {
  const root = resolve(folder);
  if (statSync(join(root, '.git'), { throwIfNoEntry: false }) === undefined) {
    return dirname(root) === root ? undefined : checkoutAt(dirname(root));
  }
  const config = textAt(join(gitFolder(root), 'config'), MAX_CONFIG_BYTES);
  return { root, origin: config === undefined ? undefined : originOf(config) };
}

/** In a linked worktree, `.git` is a file that names the folder: https://git-scm.com/docs/gitrepository-layout */
function gitFolder(root: string): string {
  const link = textAt(join(root, '.git'), MAX_CONFIG_BYTES);
  const named = /^gitdir: (.+)$/m.exec(link ?? '')?.[1];
  if (named === undefined) return join(root, '.git');
  const folder = resolve(root, named);
  const common = textAt(join(folder, 'commondir'), MAX_CONFIG_BYTES)?.trim();
  return common ? resolve(folder, common) : folder;
}

/** The files of a checkout that say how its repository works. */
export function filesOf({ root }: Checkout): RepositoryFiles {
  const workflows = yamlIn(root, WORKFLOWS_FOLDER).slice(0, MAX_WORKFLOWS);
  const codeOwners = CODE_OWNERS_FILES.find((path) => isThere(root, path));
  const configured = [SETTINGS_FILE, MISNAMED_SETTINGS].filter((path) => isThere(root, path));
  return {
    workflows: workflows.flatMap((path) => fileAt(root, path) ?? []),
    codeOwners: codeOwners === undefined ? undefined : fileAt(root, codeOwners),
    configured: [...configured, ...yamlIn(root, CHAINS_FOLDER)],
  };
}

/**
 * Writes all files, or none.
 * @throws CountersignError if one is there already, cannot be written, or would be outside the checkout
 */
export function writeAll({ root }: Pick<Checkout, 'root'>, files: readonly FileText[]): void {
  const written: string[] = [];
  for (const { path, text } of files) {
    try {
      makeFolder(root, dirname(path));
      writeFileSync(join(root, path), text, { flag: 'wx' });
      written.push(path);
    } catch (error) {
      for (const one of written) rmSync(join(root, one), { force: true });
      if (error instanceof CountersignError) throw error;
      if (error instanceof Error && 'code' in error && error.code === 'EEXIST')
        throw new CountersignError('cli.configured', configuredAlready([path]), { cause: error });
      throw new CountersignError('cli.cannot_write', cannotWrite(path, messageOf(error)), { cause: error });
    }
  }
}

/** A link in the checkout could lead anywhere on this machine, so none is followed. */
function makeFolder(root: string, path: string): void {
  if (path === '.') return;
  makeFolder(root, dirname(path));
  const found = lstatSync(join(root, path), { throwIfNoEntry: false });
  if (found === undefined) mkdirSync(join(root, path));
  else if (!found.isDirectory()) throw new CountersignError('cli.cannot_write', notAFolder(path));
}

function yamlIn(root: string, folder: string): string[] {
  const found = statSync(join(root, folder), { throwIfNoEntry: false });
  if (!found?.isDirectory()) return [];
  return readdirSync(join(root, folder))
    .filter((name) => /\.ya?ml$/.test(name))
    .sort()
    .map((name) => `${folder}/${name}`);
}

function fileAt(root: string, path: string): FileText | undefined {
  const text = textAt(join(root, path), MAX_CONFIGURATION_BYTES);
  return text === undefined ? undefined : { path, text };
}

/** A link counts as well, wherever it leads: it is not written over. */
function isThere(root: string, path: string): boolean {
  return lstatSync(join(root, path), { throwIfNoEntry: false }) !== undefined;
}

/** @returns `undefined` for what is no file, too large, or not readable */
function textAt(path: string, maxBytes: number): string | undefined {
  try {
    const found = statSync(path);
    return found.isFile() && found.size <= maxBytes ? textOfFile(readFileSync(path)) : undefined;
  } catch {
    return undefined;
  }
}
