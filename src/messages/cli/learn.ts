import type { Learned } from '../../domain/outcome/learn.ts';
import { plainLine } from '../../domain/run/explain.ts';
import { plural } from '../text/pretty.ts';
import { PLAIN, type Screen } from '../text/screen.ts';
import { table } from './table.ts';

const MAX_PEOPLE = 3;

/** `learn`: the rules whose findings people mostly accept, and the settings that would leave them out. */
export function learnedText(
  learned: readonly Learned[],
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
  ].join('\n\n');
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
