import type { Learned } from '../../domain/outcome/learn.ts';
import type { HiddenRule } from '../../domain/outcome/learned.ts';
import { plainLine } from '../../domain/run/explain.ts';
import { plural } from '../text/pretty.ts';
import { PLAIN, type Screen } from '../text/screen.ts';
import { table } from './table.ts';

const MAX_PEOPLE = 3;

type Hidden = HiddenRule & { repository: string };

/**
 * `learn`: the rules whose findings people mostly accept, those of which some are not shown, and the settings that would leave
 * them out.
 */
export function learnedText(
  learned: readonly Learned[],
  hidden: readonly Hidden[],
  repository: string | undefined,
  screen: Screen = PLAIN,
): string {
  const where = repository === undefined ? '' : ` in ${plainLine(repository)}`;
  if (learned.length === 0)
    return `No rule${where} is mostly accepted. A rule is listed once people accepted at least two of its findings, and half of them.`;
  const rows = learned.map(({ rule, found, accepted, by, since }) => [
    rule,
    `${found}`,
    `${accepted}`,
    since.toISOString().slice(0, 10),
    peopleInWords(by),
  ]);
  return [
    table([{ heading: 'RULE', whole: true }, 'FOUND', 'ACCEPTED', 'SINCE', 'BY'], rows, { screen }),
    `If ${plural(learned.length, 'rule')} should not count${where}, merge this into .github/countersign.yml:`,
    snippet(learned),
    ...(hidden.length === 0 ? [] : [NOT_SHOWN, hiddenTable(hidden, screen), SHOW_AGAIN]),
  ].join('\n\n');
}

const NOT_SHOWN =
  'Reviews do not show these findings, and count them, as long as people who accepted them may countersign:';
const SHOW_AGAIN = 'To show them again: countersign learn --forget <rule> --repo <owner/name>';

function hiddenTable(hidden: readonly Hidden[], screen: Screen): string {
  const rows = hidden.map(({ repository, rule, upTo, acceptedOn, foundOn, by }) => [
    plainLine(repository),
    rule,
    upTo,
    `${acceptedOn} of ${foundOn}`,
    `${by.slice(0, MAX_PEOPLE).join(', ')}${by.length > MAX_PEOPLE ? ` and ${by.length - MAX_PEOPLE} more` : ''}`,
  ]);
  return table(
    ['REPOSITORY', { heading: 'RULE', whole: true }, 'UP TO', 'PULL REQUESTS', 'ACCEPTED BY'],
    rows,
    { screen },
  );
}

/** `learn --forget`. */
export function forgottenText(rule: string, repository: string, on: number): string {
  return `Forgot that ${plainLine(rule)} was accepted on ${plural(on, 'pull request')} of ${plainLine(repository)}. The next reviews show its findings.`;
}

export function nothingToForget(rule: string, repository: string): string {
  return `Nobody in ${plainLine(repository)} has accepted a finding of ${plainLine(rule)} since it was last forgotten.`;
}

function peopleInWords(by: Learned['by']): string {
  const some = by.slice(0, MAX_PEOPLE).map(({ login, count }) => `${login} (${count})`);
  const left = by.length - some.length;
  return `${some.join(', ')}${left > 0 ? ` and ${left} more` : ''}`;
}

/** The settings that leave the rules out. */
export function snippet(learned: readonly Pick<Learned, 'rule'>[]): string {
  return ['review:', '  ignore:', ...learned.map(({ rule }) => `    - ${JSON.stringify(rule)}`)].join('\n');
}
