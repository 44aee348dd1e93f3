import type { Json } from '../../core/canonical.ts';
import type { SkillDescription } from '../package/package.ts';

/** Of each description; what a skill does is said first. In UTF-16 units. */
const LONGEST_DESCRIPTION = 4_000;

interface Shown {
  outline: { description: string };
  described: SkillDescription;
  artifacts: readonly string[];
}

/**
 * What a model is asked that selects. Descriptions are of the base branch and of what ships, and stand as they are; the question and
 * the paths stand in fences.
 */
export function selectionPrompt(
  shown: readonly Shown[],
  { question, paths }: { [name: string]: Json },
  mayAnswer: boolean,
): string {
  const list = Array.isArray(paths) ? paths.join('') : '';
  return [
    'Somebody asks something about a pull request. Decide how it is answered; you do not review anything yourself.',
    'decision "skill": one of the skills below is made for it. Name it, and one of its files if not its first.',
    mayAnswer
      ? 'decision "answer": you can answer it by yourself in a few sentences, without seeing the change.'
      : 'You cannot answer it by yourself.',
    'decision "question": no skill is made for it, or it is not clear what is meant. Say what you would have to know.',
    '',
    `The question: ${question === '' ? '(none: go by the files that change)' : String(question)}`,
    `Files that change: ${list === '' ? '(none)' : list}`,
    '',
    shown.length === 0 ? 'There are no skills for it.' : 'The skills:',
    ...shown.map(
      ({ outline, described, artifacts }) =>
        `\n## ${described.name}\nFiles: ${artifacts.join(', ')}\n${outline.description.slice(0, LONGEST_DESCRIPTION)}`,
    ),
  ].join('\n');
}
