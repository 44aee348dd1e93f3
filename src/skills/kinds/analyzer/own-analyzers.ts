import { OWN_EXTENSION } from '../../../core/package-root.ts';
import type { OwnAnalyzer } from '../../../domain/skill/analyzer-rules.ts';
import { DEPENDENCIES } from '../../../messages/rules/dependencies.ts';
import { DOC_LINKS } from '../../../messages/rules/doc-links.ts';
import type { RuleWords } from '../../../messages/rules/rule-words.ts';
import { SQL_MIGRATIONS } from '../../../messages/rules/sql-migrations.ts';
import { WORKFLOW_SECURITY } from '../../../messages/rules/workflow-security.ts';

/** One of our own analyzers, as the app's process knows it. Only the child process loads its code. */
export interface OwnSpec {
  rules: Readonly<Record<string, RuleWords>>;
  /** Globs of the files that it can read. If a package sets globs, a file must match both. */
  reads: readonly string[];
  /** Globs of the files that it reads if a package sets none. */
  usually: readonly string[];
  /** It compares files with their versions on the base branch. */
  before: boolean;
  /** It needs the list of all files. */
  tree: boolean;
  module: URL;
}

const MANIFESTS = ['package.json', 'package-lock.json', 'npm-shrinkwrap.json', 'yarn.lock', 'pnpm-lock.yaml'];
const SETTINGS = ['.npmrc', '.yarnrc', '.yarnrc.yml'];
const INSTALLS = [...MANIFESTS, ...SETTINGS].map((name) => `**/${name}`);
const MIGRATIONS = ['migration', 'migrations', 'migrate', 'schema-migrations'].map(
  (name) => `**/${name}/**/*.sql`,
);

export const OWN_SPECS: Readonly<Record<OwnAnalyzer, OwnSpec>> = {
  'sql-migrations': {
    rules: SQL_MIGRATIONS,
    reads: ['**/*.sql'],
    usually: [...MIGRATIONS, '**/V*__*.sql', '**/*.up.sql', '**/*.down.sql'],
    before: false,
    tree: true,
    module: moduleOf('sql-migrations'),
  },
  dependencies: {
    rules: DEPENDENCIES,
    reads: INSTALLS,
    usually: INSTALLS,
    before: true,
    tree: true,
    module: moduleOf('dependencies'),
  },
  'workflow-security': {
    rules: WORKFLOW_SECURITY,
    reads: ['.github/workflows/*.yml', '.github/workflows/*.yaml', '**/action.yml', '**/action.yaml'],
    usually: ['**'],
    before: false,
    tree: false,
    module: moduleOf('workflow-security'),
  },
  'doc-links': {
    rules: DOC_LINKS,
    reads: ['**/*.md', '**/*.markdown'],
    usually: ['**'],
    before: false,
    tree: true,
    module: moduleOf('doc-links'),
  },
};

function moduleOf(name: OwnAnalyzer): URL {
  return new URL(`../../../analyzers/builtin/${name}.${OWN_EXTENSION}`, import.meta.url);
}
