/** What people and CI do to a pull request, one after another. */
export type Act =
  | { do: 'ci'; state: 'success' | 'failure' }
  /** Reads the approval comment for the present head, when it exists. */
  | { do: 'read_question' }
  /** On the newest approval comment. */
  | { do: 'react'; login: Person; content: 'rocket' | '+1' | '-1' | 'heart' }
  /** On the first approval comment, whatever has come since. */
  | { do: 'react_to_first'; login: Person; content: 'rocket' }
  | { do: 'push' }
  | { do: 'close' }
  | { do: 'reopen' }
  | { do: 'merge_by_hand' }
  | { do: 'nothing_for'; ms: number };

/** A maintainer, an administrator, the author (who may write), a writer and an outsider. */
export type Person = 'mia' | 'max' | 'ada' | 'will' | 'otto';

const green: Act = { do: 'ci', state: 'success' };
const red: Act = { do: 'ci', state: 'failure' };
const read: Act = { do: 'read_question' };
const react = (login: Person, content: 'rocket' | '+1' | '-1' | 'heart' = 'rocket'): Act[] => [
  read,
  { do: 'react', login, content },
];
const aWhile: Act = { do: 'nothing_for', ms: 300_000 };

export const STORIES = {
  countersigned: [green, ...react('mia')],
  'countersigned by thumb': [green, ...react('max', '+1')],
  rejected: [green, ...react('max', '-1'), aWhile, ...react('mia')],
  'liked by people who may not countersign': [
    green,
    ...react('ada'),
    ...react('otto', '+1'),
    ...react('will'),
    ...react('mia', 'heart'),
  ],
  'pushed again before anybody was asked': [{ do: 'push' }, green, ...react('mia')],
  'pushed again after the question': [green, read, { do: 'push' }, green, ...react('max')],
  'pushed again right after the countersign of the old head': [
    green,
    read,
    { do: 'push' },
    { do: 'react_to_first', login: 'mia', content: 'rocket' },
    green,
  ],
  'red, then green': [red, aWhile, green, ...react('mia')],
  red: [red],
  'closed before the question': [{ do: 'close' }],
  'closed after the question': [
    green,
    read,
    { do: 'close' },
    { do: 'react_to_first', login: 'mia', content: 'rocket' },
  ],
  'closed and opened again': [
    green,
    read,
    { do: 'close' },
    aWhile,
    { do: 'reopen' },
    aWhile,
    ...react('mia'),
  ],
  'merged by hand': [green, read, { do: 'merge_by_hand' }],
  'left alone': [green],
} as const satisfies Record<string, readonly Act[]>;

export type StoryName = keyof typeof STORIES;
