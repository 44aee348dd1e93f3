import type { RuleName } from '../../domain/skill/analyzer-rules.ts';
import type { RuleWords } from './rule-words.ts';

export const WORKFLOW_SECURITY: Readonly<Record<RuleName<'workflow-security'>, RuleWords>> = {
  'unpinned-action': {
    severity: 'medium',
    category: 'workflow',
    description: 'An action is used by a name that its owner can move to other code ({message}).',
    suggestion: 'Pin it to a full commit hash, with its version in a comment.',
  },
  'unpinned-image': {
    severity: 'low',
    category: 'workflow',
    description: 'An image is used by a name that means another image tomorrow ({message}).',
    suggestion: 'Name a version, or better a digest.',
  },
  'self-hosted-for-outsiders': {
    severity: 'high',
    category: 'workflow',
    description:
      'Events that outsiders can make happen start a job on a machine of your own, which keeps what it leaves there.',
    suggestion: 'Use a runner of GitHub’s for such events, or one that is thrown away after each job.',
  },
  'secret-in-script': {
    severity: 'medium',
    category: 'workflow',
    description:
      'A secret is pasted into a script, where quotes in it are code and other processes can read it.',
    suggestion: 'Pass it through `env:` and use it as a quoted variable.',
  },
  'secrets-inherited': {
    severity: 'low',
    category: 'workflow',
    description: 'A workflow that is called gets every secret there is.',
    suggestion: 'Name the secrets that it needs.',
  },
  'pipe-to-shell': {
    severity: 'medium',
    category: 'workflow',
    description: 'A script is fetched and run at once, so whoever serves it decides what runs here.',
    suggestion: 'Fetch it at a fixed version, compare its hash, and run it then.',
  },
  'no-permissions': {
    severity: 'low',
    category: 'workflow',
    description:
      'A job does not say what its token may do, so it gets whatever is usual in the repository or organisation.',
    suggestion: 'Add `permissions: { contents: read }`, and what more a job needs to that job.',
  },
};
