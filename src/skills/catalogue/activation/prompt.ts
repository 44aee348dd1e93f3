import type { Json } from '../../../core/canonical.ts';
import type { SkillDescription } from '../../../domain/skill/package.ts';
import { pathsLookedAt } from '../glob-matcher.ts';
import type { Question } from '../match.ts';

/** Of each description; what a skill does is said first. In UTF-16 units. */
const LONGEST_DESCRIPTION = 4_000;
/** More than a match looks at, since a model that answers by itself has nothing else to go by. In UTF-16 units. */
const LONGEST_QUESTION = 4_000;

interface Shown {
  outline: { description: string };
  described: SkillDescription;
  artifacts: readonly string[];
}

/**
 * What strangers wrote of a question, as far as it is shown, and how many more files there are: all of a large pull request would be
 * more than is sent.
 */
export function askedOf({ text, paths }: Question) {
  const shown = pathsLookedAt(paths);
  return {
    texts: { question: text.slice(0, LONGEST_QUESTION), paths: shown.join('\n') },
    morePaths: paths.length - shown.length,
  };
}

/**
 * What a model is asked that selects. Descriptions are of the base branch and of what ships, and stand as they are; the question and
 * the paths stand in fences.
 */
export function selectionPrompt(
  shown: readonly Shown[],
  { question, paths }: { [name: string]: Json },
  morePaths: number,
  mayAnswer: boolean,
): string {
  const more = morePaths === 0 ? '' : `and ${morePaths.toLocaleString('en')} more`;
  const files = `${String(paths)}${more}`;
  return [
    'Somebody asks something about a pull request. Decide how it is answered; you do not review anything yourself.',
    'decision "skill": one of the skills below is made for it. Name it, and one of its files if not its first.',
    mayAnswer
      ? 'decision "answer": you can answer it by yourself in a few sentences, without seeing the change.'
      : 'You cannot answer it by yourself.',
    'decision "question": no skill is made for it, or it is not clear what is meant. Say what you would have to know.',
    '',
    `The question: ${question === '' ? '(none: go by the files that change)' : String(question)}`,
    `Files that change: ${files === '' ? '(none)' : files}`,
    '',
    shown.length === 0 ? 'There are no skills for it.' : 'The skills:',
    ...shown.map(
      ({ outline, described, artifacts }) =>
        `\n## ${described.name}\nFiles: ${artifacts.join(', ')}\n${outline.description.slice(0, LONGEST_DESCRIPTION)}`,
    ),
  ].join('\n');
}
