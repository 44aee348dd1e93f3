import type { Json } from '../../../core/canonical.ts';
import type { SkillDescription } from '../../../domain/skill/package.ts';
import { consideredPaths } from '../glob-matcher.ts';
import type { Question } from '../match.ts';

/** Per description, in UTF-16 units. What a skill does comes first in it. */
const LONGEST_DESCRIPTION = 4_000;
/** In UTF-16 units. More than matching uses, because a model that answers by itself has no other source. */
const LONGEST_QUESTION = 4_000;

interface Shown {
  outline: { description: string };
  described: SkillDescription;
  artifacts: readonly string[];
}

/**
 * The untrusted texts of a question, cut to length, and the number of further files. All paths of a large
 * pull request would not fit into a prompt.
 */
export function askedOf({ text, paths }: Question) {
  const shown = consideredPaths(paths);
  return {
    texts: { question: text.slice(0, LONGEST_QUESTION), paths: shown.join('\n') },
    morePaths: paths.length - shown.length,
  };
}

/**
 * The prompt for choosing a skill. Descriptions come from the base branch or from shipped skills, so they
 * appear as they are. The question and the paths are fenced.
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
