import { mkdirSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { createTools } from '../../../src/cli-tools.ts';
import type { Tools } from '../../../src/entrypoints/cli/context.ts';
import { ManualClock } from '../../support/clock.ts';
import { temporaryFolders } from '../../support/temp.ts';
import { answered } from './support.ts';

export const SKILLS = '.github/countersign/skills';
export const NAMING = `---
name: naming
description: Looks at the names of things.
version: 1.2.0
tags: [names]
trigger_phrases: check the names
paths: "src/**"
outcome: gate_verdict
---

# Naming
`;

/** Folders like a repository, for the tests of one file. */
export function repositories() {
  const newFolder = temporaryFolders();

  function repository(files: Record<string, string> = {}): string {
    const folder = newFolder();
    for (const [path, text] of Object.entries(files)) {
      mkdirSync(join(folder, dirname(path)), { recursive: true });
      writeFileSync(join(folder, path), text);
    }
    return folder;
  }

  const withNaming = () =>
    repository({ [`${SKILLS}/naming/SKILL.md`]: NAMING, [`${SKILLS}/naming/prompts/ask@gpt.md`]: 'Ask.\n' });

  return { newFolder, repository, withNaming };
}

const parts = (cwd: string, skills: Partial<Tools> = {}) => ({
  cwd,
  clock: new ManualClock('2026-03-02T09:00:00.000Z'),
  tools: { ...createTools({}), ...skills },
});

/** One command in this process, which is much faster than a process of its own. */
export const skill = (cwd: string, ...args: string[]) => answered(['skill', ...args], parts(cwd));

/** The same without shipped skills, whose many cases need not run again. */
export const skillAlone = (cwd: string, ...args: string[]) =>
  answered(['skill', ...args], parts(cwd, { skills: async () => ({ builtIn: [], shipped: [] }) }));

export const json = async (cwd: string, ...args: string[]) =>
  JSON.parse((await skill(cwd, ...args, '--json')).out);
