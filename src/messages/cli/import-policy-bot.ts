import { Document } from 'yaml';
import type { Diagnostic } from '../../core/diagnostic.ts';
import { unreachable } from '../../core/errors.ts';
import { CHAINS_FOLDER, SETTINGS_FILE } from '../../domain/chain/configuration-files.ts';
import type { FileText } from '../../domain/first-look/seen.ts';
import type { AskingStep, Criterion, Difference, Translation } from '../../domain/policy-bot/translate.ts';
import { plainLine } from '../../domain/run/explain.ts';
import { asSentence, clip, listed, plural } from '../text/pretty.ts';
import { diagnosticLines, firstDiagnostics } from './diagnostics.ts';

const CHAIN = 'policy';
/** As a gate may have. */
const MAX_CRITERIA = 20;
/** As a question may be long. */
const MAX_QUESTION = 200;

export function notAPolicy(diagnostics: readonly Diagnostic[]): string {
  return ['The policy cannot be imported:', ...diagnosticLines(diagnostics).map((line) => `  ${line}`)].join(
    '\n',
  );
}

/** What was written would not be valid, so that nothing is. */
export function invalidImport(diagnostics: readonly Diagnostic[]): string {
  return `This policy cannot be said in settings and a chain, so nothing was written: ${firstDiagnostics(diagnostics, 5)}`;
}

const ABOUT_SETTINGS = ` Imported from a policy of policy-bot by countersign import policy-bot. Whatever merges under these settings, the policy
 would have approved. docs/chains.md of Countersign explains every key; countersign chain lint checks this file.`;

const ABOUT_CHAIN = ` Imported from a policy of policy-bot by countersign import policy-bot: one step for each group of people whom the policy asks.
 docs/chains.md of Countersign explains every key. Steps such as the review (skill: pr-review) can be added before these.`;

/** The files of a translation. Names from the policy become values of the YAML library, never a part of a comment. */
export function importedFiles(translation: Translation): FileText[] {
  return [
    { path: SETTINGS_FILE, text: documentOf(settingsOf(translation), ABOUT_SETTINGS) },
    { path: `${CHAINS_FOLDER}/${CHAIN}.yaml`, text: documentOf(chainOf(translation), ABOUT_CHAIN) },
  ];
}

function settingsOf({ people, requestsReview, criteria }: Translation): object {
  const { teams, users, permission } = people;
  const isNamed = teams.length > 0 || users.length > 0;
  return {
    chains: [CHAIN],
    countersign: {
      permission: permission ?? (isNamed ? 'none' : 'maintain'),
      ...(teams.length > 0 && { teams }),
      ...(users.length > 0 && { users }),
    },
    // policy-bot is a check, and people merge.
    merge: { by: 'people' },
    ...(requestsReview && { notify: { request_review: true } }),
    ...(criteria.length > 0 && { gates: [{ uses: 'gh-merge', pre: gatesOf(criteria, 'policy') }] }),
  };
}

function chainOf({ steps }: Translation): object {
  return {
    name: CHAIN,
    description: 'Who must approve a pull request, as the policy of policy-bot says',
    trigger: { event: 'pr.opened', filter: { draft: false } },
    steps: steps.map(stepOf),
  };
}

function stepOf({ id, merges, condition, dependsOn, approval, criteria }: AskingStep): object {
  const question = approval && clip(`Approve? (${plainLine(approval.rules.join(' / '))})`, MAX_QUESTION);
  return {
    id,
    action: merges ? 'gh-merge' : 'wait',
    depends_on: dependsOn,
    ...(condition !== undefined && { condition: braced(condition) }),
    requires_approval: approval
      ? {
          ...(approval.teams.length > 0 && { teams: approval.teams }),
          ...(approval.users.length > 0 && { users: approval.users }),
          ...(approval.permission !== undefined && { permission: approval.permission }),
          count: approval.count,
          question,
        }
      : true,
    ...(criteria.length > 0 && { gates: { pre: gatesOf(criteria, 'asked') } }),
    with: merges ? { pr: '{{ trigger.pr_number }}' } : { for: '1s' },
  };
}

function gatesOf(criteria: readonly Criterion[], id: string): object[] {
  const gates: object[] = [];
  for (let at = 0; at < criteria.length; at += MAX_CRITERIA) {
    const part = criteria.slice(at, at + MAX_CRITERIA);
    gates.push({
      id: at === 0 ? id : `${id}-${at / MAX_CRITERIA + 1}`,
      criteria: part.map((one) => ({ id: one.id, if: braced(one.if), because: plainLine(one.because) })),
    });
  }
  return gates;
}

function braced(expression: string): string {
  return `{{ ${expression} }}`;
}

function documentOf(value: object, about: string): string {
  const document = new Document(value, { aliasDuplicateObjects: false });
  document.commentBefore = about;
  return document.toString({ lineWidth: 0 });
}

/** A difference with its place in the policy file. */
export interface PlacedDifference {
  difference: Difference;
  line: number;
  column: number;
  /** The rule that it is about, if it is about one. */
  rule: string | undefined;
}

export interface ImportReport {
  file: string;
  rules: readonly { name: string; line: number; result: RuleResult }[];
  differences: readonly PlacedDifference[];
}

type RuleResult = 'same' | 'stricter' | 'blocked' | 'unused';

const RESULTS: Readonly<Record<RuleResult, string>> = {
  same: 'the same',
  stricter: 'stricter',
  blocked: 'blocked',
  unused: 'not used',
};

/** Whether nothing can merge until somebody has decided about it. */
export function isBlocking({ kind }: Difference): boolean {
  switch (kind) {
    case 'nobody':
    case 'count':
    case 'disapprovers':
    case 'disapproval':
    case 'too_long':
      return true;
    case 'condition':
    case 'people':
    case 'option':
    case 'method':
    case 'free':
    case 'first':
    case 'unknown':
      return false;
    default:
      return unreachable(kind);
  }
}

/** What became of the rules, and each difference with its line. */
export function importText(
  { file, rules, differences }: ImportReport,
  files: readonly FileText[],
  out: string | undefined,
): string {
  const count = (result: RuleResult) => rules.filter((rule) => rule.result === result).length;
  const results = (['same', 'stricter', 'blocked', 'unused'] as const).filter((result) => count(result) > 0);
  const counts = results.map((result) => `${count(result)} ${RESULTS[result]}`).join(', ');
  const [blocking, others] = [
    differences.filter((one) => isBlocking(one.difference)),
    differences.filter((one) => !isBlocking(one.difference)),
  ];
  return [
    ...(out === undefined ? files.flatMap(({ path, text }) => [`# ${path}`, text.trimEnd(), '']) : []),
    `${plainLine(file)}: ${plural(rules.length, 'rule')}${counts === '' ? '' : ` (${counts})`}.`,
    ...section('Nothing merges that meets one of these, until you decide about it', blocking, file),
    ...section('No counterpart, and so stricter than the policy', others, file),
    '',
    out === undefined
      ? 'Nothing was written; --out <folder> writes both files.'
      : asSentence(
          `wrote ${listed(
            files.map(({ path }) => path),
            'and',
          )} in ${plainLine(out)}`,
        ),
  ].join('\n');
}

function section(title: string, differences: readonly PlacedDifference[], file: string): string[] {
  if (differences.length === 0) return [];
  return [
    '',
    `${title}:`,
    ...differences.map(({ difference, line, column }) => {
      const { what, todo } = wordsOf(difference);
      return `  ${plainLine(`${file}:${line}:${column}: ${what}. ${todo}`)}`;
    }),
  ];
}

/** What differs, and what to do. */
function wordsOf(difference: Difference): { what: string; todo: string } {
  switch (difference.kind) {
    case 'condition':
      return conditionWords(difference);
    case 'people':
      return {
        what: `${difference.key} ${listed(difference.names.slice(0, 5), 'and')}: ${PEOPLE[difference.because]}`,
        todo: 'They are left out; name a team instead.',
      };
    case 'nobody':
      return {
        what: 'nobody whom Countersign can name may approve this rule',
        todo: `Name a team, people or a permission in a step, and remove the criterion ${difference.criterion} of the settings.`,
      };
    case 'count':
      return {
        what: 'more than 10 people must approve this rule',
        todo: `Ask for at most 10 in a step, and remove the criterion ${difference.criterion} of the settings.`,
      };
    case 'option':
      return {
        what: `${difference.key} has no counterpart: whoever contributed a commit never countersigns it`,
        todo: 'Nothing is to do.',
      };
    case 'method':
      return {
        what: 'methods have no counterpart: people react to the approval comment',
        todo: 'countersign.approve and countersign.reject of the settings choose the reactions.',
      };
    case 'disapprovers':
      return {
        what: `some who may disapprove may be unable to: ${listed(difference.names.slice(0, 5), 'and')}`,
        todo: `Whoever has write access can request changes in a review, which blocks the merge. If that is enough, remove the criterion ${difference.criterion} of the settings.`,
      };
    case 'disapproval':
      return {
        what: `the disapproval by ${difference.key} cannot be judged`,
        todo: `Replace the criterion ${difference.criterion} of the settings by a gate of your own, or remove it.`,
      };
    case 'free':
      return {
        what: 'this rule needs no approval, and each merge of Countersign needs one',
        todo: 'Nothing is to do.',
      };
    case 'first':
      return {
        what: 'of these alternatives, the first that applies is asked, unless they apply at the same time and need one approval each',
        todo: 'Put the alternative first that you want to be asked.',
      };
    case 'too_long':
      return {
        what: 'this is too long for one expression',
        todo: `Make the policy shorter, or replace the criterion ${difference.criterion} of the settings by gates of your own.`,
      };
    case 'unknown':
      return { what: `the key ${difference.key} is not known`, todo: 'It is left out.' };
    default:
      return unreachable(difference);
  }
}

const PEOPLE = {
  organisations: 'members of an organisation cannot be named',
  read_access: 'only people with write access can countersign',
  app: 'an app cannot countersign',
  name: 'Countersign does not know this form of a name',
  too_many: 'a step names at most 20 teams and 50 people',
  unknown_key: 'this key is not known',
} as const;

function conditionWords({ key, because }: Difference & { kind: 'condition' }): {
  what: string;
  todo: string;
} {
  const todo = 'It counts as what is stricter; a gate or a chain of your own may say it.';
  switch (because) {
    case 'predicate':
      return { what: `${key} has no counterpart`, todo };
    case 'pattern':
      return { what: `a pattern of ${key} has no glob that matches exactly the same`, todo };
    case 'people':
      return { what: `the teams and organisations of ${key} have no counterpart`, todo };
    case 'conclusions':
      return { what: `these conclusions of ${key} have no counterpart`, todo };
    case 'value':
      return {
        what: key === '' ? 'this is no mapping of conditions' : `this value of ${key} is not known`,
        todo,
      };
    default:
      return unreachable(because);
  }
}

export function importJson(
  { file, rules, differences }: ImportReport,
  files: readonly FileText[],
  out: string | undefined,
) {
  return {
    file,
    rules,
    differences: differences.map(({ difference, line, column, rule }) => {
      const { what, todo } = wordsOf(difference);
      return {
        kind: difference.kind,
        line,
        column,
        rule: rule ?? null,
        blocks: isBlocking(difference),
        what,
        todo,
      };
    }),
    written: out !== undefined,
    files: files.map(({ path, text }) => (out === undefined ? { path, text } : { path })),
  };
}
