import type { RuleName } from '../../domain/skill/analyzer-rules.ts';
import type { RuleWords } from './rule-words.ts';

export const DOC_LINKS: Readonly<Record<RuleName<'doc-links'>, RuleWords>> = {
  'broken-link': {
    severity: 'medium',
    category: 'correctness',
    description: 'A link leads to a file that the repository does not have ({message}).',
    suggestion: 'Correct the path, or add the file.',
  },
  'broken-anchor': {
    severity: 'low',
    category: 'correctness',
    description: 'A link leads to a heading that the document does not have ({message}).',
    suggestion: 'Correct the part after `#`.',
  },
  'other-case': {
    severity: 'medium',
    category: 'correctness',
    description:
      'A link is written in other capitals than the file it leads to ({message}), and GitHub does not find it.',
    suggestion: 'Write the path as the file is called.',
  },
};
