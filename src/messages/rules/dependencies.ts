import type { RuleName } from '../../domain/skill/analyzer-rules.ts';
import type { RuleWords } from './rule-words.ts';

export const DEPENDENCIES: Readonly<Record<RuleName<'dependencies'>, RuleWords>> = {
  unreadable: {
    severity: 'high',
    category: 'security',
    description:
      'The file is not as its package manager writes it ({message}), so what it installs could not be checked.',
    suggestion: 'Let the package manager write the file again.',
  },
  'integrity-changed': {
    severity: 'critical',
    category: 'security',
    description: 'The same version of a package is said to have another content than before ({message}).',
    suggestion: 'Find out which of the two its registry has; published versions do not change.',
  },
  'integrity-missing': {
    severity: 'high',
    category: 'security',
    description: 'A package is pinned without a hash of its content, so any content is accepted ({message}).',
    suggestion: 'Let the package manager write the file again.',
  },
  'other-package': {
    severity: 'critical',
    category: 'security',
    description: 'The address a package is fetched from is that of another package or version ({message}).',
    suggestion:
      'Let the package manager write the file again; an alias is written with the name of what it stands for.',
  },
  'insecure-source': {
    severity: 'high',
    category: 'security',
    description: 'Packages are fetched in a way that anybody on the network can change ({message}).',
    suggestion: 'Use https, and leave the check of certificates on.',
  },
  'new-host': {
    severity: 'high',
    category: 'security',
    description: 'A package is fetched from a host that none came from before ({message}).',
    suggestion: 'Find out who runs the host, or take the package from the registry.',
  },
  'direct-source': {
    severity: 'medium',
    category: 'security',
    description: 'A package is fetched from a repository or file and not from a registry ({message}).',
    suggestion: 'Take a published version, or pin a full commit of a repository you trust.',
  },
  'registry-changed': {
    severity: 'high',
    category: 'security',
    description: 'Packages are to be fetched from another registry ({message}).',
    suggestion: 'Have somebody who knows that registry confirm it.',
  },
  'near-name': {
    severity: 'medium',
    category: 'security',
    description: 'A new package is called almost like one that is used already ({message}).',
    suggestion: 'Check that it is the package that you mean.',
  },
  'install-script': {
    severity: 'medium',
    category: 'security',
    description:
      'A package that is new, or did not before, runs a script of its own when it is installed ({message}).',
    suggestion: 'Read the script, or install with scripts switched off.',
  },
  'lifecycle-script': {
    severity: 'medium',
    category: 'security',
    description: 'A command is run whenever somebody installs this repository ({message}).',
    suggestion: 'Let people run it by hand if they need it.',
  },
  'range-loosened': {
    severity: 'low',
    category: 'security',
    description: 'More versions of a package are accepted than before ({message}).',
    suggestion: 'Keep the range as narrow as it was, or say why not.',
  },
  'lock-not-updated': {
    severity: 'medium',
    category: 'correctness',
    description: 'What is asked for changes and the lock file does not ({message}).',
    suggestion: 'Let the package manager write the lock file, and commit it.',
  },
  'lock-mismatch': {
    severity: 'medium',
    category: 'correctness',
    description: 'The lock file was made for something else than what is asked for ({message}).',
    suggestion: 'Let the package manager write the lock file, and commit it.',
  },
};
