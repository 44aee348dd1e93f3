import { Document, isMap, isScalar, parseDocument, type YAMLMap } from 'yaml';
import { memberOf } from '../../core/mapping.ts';
import type { SettingsFile } from '../../domain/chain/settings.ts';
import type { Answers } from '../../domain/first-look/answers.ts';

// What `init` writes. Names from GitHub and from files become values of the YAML library, never a part of a comment.

const ABOUT_SETTINGS = ` Who countersigns a merge in this repository, and what else it needs. Written by countersign init.
 docs/chains.md of Countersign explains every key; countersign chain lint checks this file.`;

const BESIDE: Readonly<Record<string, string>> = {
  permission: ' The least role that may countersign: write, maintain or admin. none: only those named here.',
  count: ' How many people must countersign. Whoever contributed to a pull request cannot.',
  method: ' squash, merge or rebase.',
  by: ' app: Countersign merges once it is countersigned. queue: it adds the pull request to the merge queue.',
  required: ' Each of these checks must be there and pass. A merge waits for one that is missing.',
};

/** The text of `.github/countersign.yml`. */
export function settingsFile({ who, count, method, checks }: Answers, hasMergeQueue: boolean): string {
  const settings: SettingsFile = {
    countersign: {
      permission: who.kind === 'maintainers' ? 'maintain' : 'none',
      ...(who.kind === 'named' && who.teams.length > 0 && { teams: who.teams }),
      ...(who.kind === 'named' && who.users.length > 0 && { users: who.users }),
      count,
    },
    merge: { method, by: hasMergeQueue ? 'queue' : 'app' },
    ...(checks.length > 0 && { ci: { required: checks } }),
  };
  const document = new Document(settings);
  document.commentBefore = ABOUT_SETTINGS;
  for (const key of ['countersign', 'merge', 'ci']) {
    const part = document.get(key);
    if (isMap(part)) explain(part);
  }
  return document.toString(PLAIN);
}

function explain(part: YAMLMap): void {
  for (const { key } of part.items) {
    const comment = isScalar(key) ? memberOf(BESIDE, String(key.value)) : undefined;
    if (isScalar(key) && typeof comment === 'string') key.commentBefore = comment;
  }
}

const ABOUT_CHAIN = ` What happens to a pull request, and in which order. Written by countersign init: a copy of the chain that Countersign
 ships, which this file replaces. Without it, the shipped one runs and changes with each version of Countersign; with it,
 every change of the chain is a pull request of this repository. docs/chains.md of Countersign explains every key.`;

const ABOUT_STEPS: Readonly<Record<string, string>> = {
  review: ' Analyzers read the change, and a language model if the operator of the server has set one.',
  ci: ' Waits for the checks of CI. ci.required of .github/countersign.yml names those that must be there.',
  merge: ' Asks the people of .github/countersign.yml, and merges once they have countersigned.',
  changes: ' Says what to change if the review does not pass.',
};

/** The text of the chain file: the shipped chain, whose steps explain themselves. */
export function chainFile(shipped: string): string {
  const document = parseDocument(shipped);
  document.commentBefore = ABOUT_CHAIN;
  const steps = document.get('steps', true);
  for (const step of isSteps(steps) ? steps.items : []) {
    const comment = isMap(step) ? memberOf(ABOUT_STEPS, String(step.get('id'))) : undefined;
    if (isMap(step) && typeof comment === 'string') step.commentBefore = comment;
  }
  return document.toString(PLAIN);
}

function isSteps(node: unknown): node is { items: unknown[] } {
  return Array.isArray(memberOf(node, 'items'));
}

/** Long lines stay whole: a folded one is hard to edit. */
const PLAIN = { lineWidth: 0 } as const;
