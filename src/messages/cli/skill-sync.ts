import { plainLine } from '../../domain/run/explain.ts';
import { asSentence, plural } from '../text/pretty.ts';
import { PLAIN, type Screen } from '../text/screen.ts';
import { table } from './table.ts';

const STATUS = {
  new: 'new',
  updated: 'updated',
  unchanged: 'as it was',
  refused: 'refused',
  not_listed: 'no longer listed, stays in force',
  removed: 'no longer listed, out of force',
} as const;

/** `skill sync`: the result for each package, every reason for a refusal, and a line with the totals. */
export function syncText(
  {
    index,
    state,
    because,
    skills,
  }: {
    index: string;
    state: 'read' | 'unchanged' | 'unusable';
    because: string | null;
    skills: readonly {
      name: string;
      version: string | null;
      status: keyof typeof STATUS;
      because: readonly string[];
    }[];
  },
  screen: Screen = PLAIN,
): string {
  const count = plural(skills.filter(({ status }) => status !== 'removed').length, 'skill');
  const rows = skills.map(({ name, version, status }) => [plainLine(name), version ?? '', STATUS[status]]);
  const reasons = skills.flatMap(({ name, because }) =>
    because.map((one) => `${plainLine(name)}: ${plainLine(one)}`),
  );
  const refused = skills.filter(({ status }) => status === 'refused').length;
  const end = {
    read: refused === 0 ? `Read ${index}: ${count}.` : `Read ${index}: ${refused} of ${count} refused.`,
    unchanged: `${index} has not changed: ${count}.`,
    unusable: `${asSentence(`the index ${index} cannot be used: ${plainLine(because ?? '')}`)} ${
      skills.length === 0 ? 'No skill of it is here.' : `What is here of it stays in force: ${count}.`
    }`,
  }[state];
  return [
    ...(rows.length === 0 ? [] : [table(['SKILL', 'VERSION', 'IS'], rows, { screen }), '']),
    ...reasons,
    ...(reasons.length === 0 ? [] : ['']),
    end,
  ].join('\n');
}

export function notAnIndex(because: string): string {
  return asSentence(`the index cannot be read: ${because}`);
}
