import { visible } from '../text/markdown.ts';

/** Why a program's `run_skill` is refused, after the function's name and a colon. */
export const TOO_DEEP = 'programs run skills at most 2 deep';

export function notThere(path: string): string {
  return `the package has no file ${shown(path)}`;
}

export function notInUses(name: string): string {
  return `${shown(name)} is not in uses of the SKILL.md`;
}

export function isNoSkill(name: string): string {
  return `there is no skill ${shown(name)} that a program can run`;
}

export function saysNoOutcome(name: string): string {
  return `the SKILL.md of ${shown(name)} has no outcome`;
}

export function hasGates(name: string): string {
  return `the settings put gates on ${shown(name)}, and only a step is judged by them`;
}

export function notRunByPrograms(kind: string): string {
  return `its file is of the kind ${kind}, which a program cannot run here`;
}

function shown(text: string): string {
  return visible(text).replaceAll(/\s+/g, ' ').slice(0, 100);
}
