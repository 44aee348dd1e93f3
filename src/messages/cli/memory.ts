import type { CognitiveState } from '../../domain/expression/state-schema.ts';
import { SLOTS } from '../../domain/expression/state-slot.ts';
import { plainLine } from '../../domain/run/explain.ts';
import { listed, plural } from '../text/pretty.ts';
import { PLAIN, type Screen } from '../text/screen.ts';
import { table } from './table.ts';

type Write = CognitiveState['trace'][number]['wrote'][number];

/** `run show --state`: the frame of the run, its working memory, and what each step wrote. */
export function memoryShow({ frame, gaps, trace, working }: CognitiveState, screen: Screen = PLAIN): string {
  const entries = SLOTS.flatMap((slot) =>
    working[slot].map(({ step, text, ...more }) => [slot, step, membersText(more), text]),
  );
  return [
    `Goal: ${plainLine(frame.goal)}`,
    ...frame.constraints.map((text) => `Constraint: ${plainLine(text)}`),
    ...frame.success_criteria.map(({ step, text }) => `Success: ${step} ${plainLine(text)}`),
    '',
    entries.length === 0
      ? 'Nothing is remembered yet.'
      : table(['REMEMBERED', 'STEP', 'AS', 'TEXT'], entries, { screen }),
    `Not whole, so that no condition on it holds: ${listed(gaps, 'and') || 'nothing'}`,
    ...(trace.length === 0
      ? []
      : [
          '',
          table(
            ['STEP', 'READ', 'WROTE', 'FROM'],
            trace.map(({ step, read, wrote, from }) => [
              step,
              read.join(', '),
              wrote.map(amount).join(', '),
              from.slice(0, 'sha256:'.length + 12),
            ]),
            { screen },
          ),
        ]),
  ].join('\n');
}

/** The members of an entry besides its text, unless null: `medium src/cart.ts 40`, `supports: yes`. */
function membersText(more: object): string {
  return Object.entries(more)
    .filter(([, value]) => value !== null)
    .map(([key, value]) => (typeof value === 'boolean' ? `${key}: ${value ? 'yes' : 'no'}` : String(value)))
    .join(' ');
}

/** `risks 3`, `evidence 50 (150 cut)`. */
function amount({ cut, entries, shortened, slot, unfit }: Write): string {
  const less = [
    ...(cut > 0 ? [`${cut} cut`] : []),
    ...(unfit > 0 ? [`${unfit} unfit`] : []),
    ...(shortened > 0 ? [plural(shortened, 'text shortened', 'texts shortened')] : []),
  ];
  return `${slot} ${entries}${less.length === 0 ? '' : ` (${less.join(', ')})`}`;
}
