import { code } from '../../messages/text/markdown.ts';
import { COUNTERSIGNERS, PERMISSIONS, type Permission, VERBS, type Verb } from './command.ts';

/** One line of the help for each verb. The type requires a line for every verb. */
const HELP: Readonly<Record<Verb, { usage: string; does: string }>> = {
  help: { usage: 'help', does: 'shows this list' },
  status: { usage: 'status', does: 'shows where the pull request stands' },
  why: { usage: 'why', does: 'says why it is, or is not, being merged' },
  review: { usage: 'review [file]', does: 'reviews the current head again, or one file of it' },
  rerun: { usage: 'rerun [step]', does: 'runs a step again, or all that failed' },
  ci: { usage: 'ci', does: 'reads the state of CI again' },
  approve: { usage: 'approve [step]', does: 'lets a step go on that asks and merges nothing' },
  reject: { usage: 'reject [step]', does: 'stops a step that asks and merges nothing' },
  accept: {
    usage: 'accept <finding> because <reason>',
    does: 'lets a finding of the review pass, for this commit',
  },
  withdraw: { usage: 'withdraw <finding>', does: 'takes back that a finding was accepted' },
  forget: {
    usage: 'forget <rule>',
    does: 'shows findings of a rule again that are not shown, because people accepted it before',
  },
  cancel: { usage: 'cancel', does: 'cancels what is running for the pull request' },
  pause: { usage: 'pause', does: 'holds every merge of the pull request until `resume`' },
  resume: { usage: 'resume', does: 'lets it go on after `pause`' },
  fire: { usage: 'fire <chain> [key=value …]', does: 'fires a chain, with inputs' },
  ask: { usage: 'ask <question>', does: 'has the skill that fits best answer a question' },
};

/** How to write a command, such as `/countersign rerun [step]`. */
export function usageOf(verb: Verb): string {
  return `/countersign ${HELP[verb].usage}`;
}

/**
 * Who may issue a command, as the end of a sentence: `people with write access or the author of the pull
 * request`.
 */
export function whoMay(permission: Permission | typeof COUNTERSIGNERS): string {
  if (permission === COUNTERSIGNERS) return 'whoever may countersign';
  const { role, author } = permission;
  switch (role) {
    case 'read':
      return 'everybody who can read the repository';
    case 'write':
    case 'maintain': {
      const people = `people with ${role} access`;
      return author ? `${people} or the author of the pull request` : people;
    }
  }
}

/** The reply to `/countersign help`, in Markdown. */
export function helpText(): string {
  const rows = VERBS.map(
    (verb) => `| ${code(usageOf(verb))} | ${HELP[verb].does} | ${whoMay(PERMISSIONS[verb])} |`,
  );
  return [
    'Write a command at the start of a line of a new comment. Commands never approve a merge: to countersign one, react to the approval comment.',
    '',
    '| command | what it does | who may |',
    '| --- | --- | --- |',
    ...rows,
  ].join('\n');
}
