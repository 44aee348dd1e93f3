import { visible } from '../text/markdown.ts';

/** Why a file that a skill wants to leave is not kept. */
export function fileRefused(path: string, because: string): string {
  return `the file ${JSON.stringify(visible(path.slice(0, 200)))} is not kept: ${because}`;
}
